import numpy as np
import pandas as pd
import pytest

from jali.core.errors import JaliError
from jali.data.tables import in_memory
from jali.data.tables.in_memory import OwnTables

ROWS = pd.DataFrame({"who": ["a", "b", "a"], "age": [30, 40, 50], 7: ["x", "y", "x"]})
BOTH = ((ROWS, [0, 1, 0]), (ROWS, [1, 1, 0]))


def test_marked_columns_and_people():
    own = OwnTables(*BOTH, None, quasi=("age",), groups="who", sensitive="7")
    data = own.load()
    assert [(c.name, c.role) for c in data.schema.columns] == [("age", "quasi"), ("7", "private")]
    assert data.groups.tolist() == [0, 1, 0, 0, 1, 0]
    assert data.schema.sensitive == "7"
    assert [column.name for column in own.like().columns] == ["age", 7]  # what the model was fitted on


def test_arrays_are_marked_by_number():
    X = np.array([[1.0, 2.0], [3.0, 4.0]])
    data = OwnTables((X, [0, 1]), (X, [1, 0]), None, quasi=("x1",)).load()
    assert [c.role for c in data.schema.columns] == ["private", "quasi"]


def test_a_column_that_is_not_there():
    with pytest.raises(JaliError, match="no column 'agee' among its inputs; did you mean 'age'"):
        OwnTables(*BOTH, None, quasi=("agee",)).load()


def test_labels_with_the_index_of_the_rows_in_another_order_are_refused():
    rows = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
    labels = pd.Series([0, 1, 0], index=["b", "a", "c"])
    with pytest.raises(JaliError, match="y has the index of X in another order"):
        in_memory.pair((rows, labels), "train")
    assert in_memory.pair((rows, labels.loc[rows.index]), "train")[1].tolist() == [1, 0, 0]
    assert in_memory.pair((rows, labels.reset_index(drop=True)), "train")[1].tolist() == [0, 1, 0]


@pytest.mark.parametrize("theirs", [pd.Series(["z", "x", "q"], dtype="category"), pd.Series(["z", "x", "q"])])
def test_a_pandas_category_stays_one_where_the_population_has_values_of_its_own(theirs):
    mine = pd.DataFrame({7: pd.Series(["x", "y", "x"], dtype="category"), "age": [30, 40, 50]})
    others = pd.DataFrame({7: theirs, "age": [20, 30, 40]})
    own = OwnTables((mine, [0, 1, 0]), (others, [1, 1, 0]), None)
    assert own.like().columns[0].dtype == pd.CategoricalDtype(["x", "y", "z", "q"])  # those of the model come first
    assert set(own.load().schema.columns[0].categories) == {"x", "y", "z", "q"}
