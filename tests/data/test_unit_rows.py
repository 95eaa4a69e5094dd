import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.data.german import German
from jali.data.lending import Lending
from jali.data.unit_rows import UnitRows


class _Given:
    def __init__(self, data):
        self.data = data

    def load(self):
        return self.data


def test_by_hand():
    columns = (Column("a", centre=1.0, spread=2.0), Column("b", "category", categories=("x", "y")))
    data = Dataset([[7.0, 0.0], [1.0, 1.0]], [0, 1], Schema(columns, favourable=1), [4, 4])
    out = UnitRows(_Given(data), correlated=1.0).load()
    np.testing.assert_allclose(out.X, [[3 / 10**0.5, 1 / 10**0.5, 0], [0, 0, 1]])
    assert [c.name for c in out.schema.columns] == ["a", "b=x", "b=y"]
    assert (out.y.tolist(), out.groups.tolist(), out.schema.favourable) == ([0, 1], [4, 4], 1)


def test_model_space_is_the_table_itself():
    out = UnitRows(Lending(n=200)).load()
    np.testing.assert_array_equal(Encoding(out.schema).encode(out.X), out.X)
    np.testing.assert_allclose(np.linalg.norm(out.X, axis=1), 1.0)
    assert {(c.kind, c.low, c.high, c.mutable) for c in out.schema.columns} == {("number", -1.0, 1.0, True)}
    assert out.schema.sensitive is None


def test_later_columns_that_repeat_earlier_ones_go():
    """Against numpy's correlations; a constant column repeats nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    X[:, 3], X[:, 4], X[:, 5] = X[:, 0] + 0.1 * X[:, 3], -X[:, 1] + 0.5 * X[:, 4], 2.0
    data = Dataset(X, X[:, 0] > 0, Schema(tuple(Column(f"x{j}") for j in range(6))))
    found = [c.name for c in UnitRows(_Given(data)).load().schema.columns]
    size = np.abs(np.corrcoef(X[:, :5].T))
    assert size[0, 3] > 0.95 > size[1, 4]
    assert found == ["x0", "x1", "x2", "x4", "x5"]
    assert len(UnitRows(_Given(data), correlated=1.0).load().schema.columns) == 6
    assert "x4" not in [c.name for c in UnitRows(_Given(data), correlated=0.8).load().schema.columns]


def test_a_row_at_the_centre_stays_there():
    data = Dataset([[1.0], [2.0]], [0, 1], Schema((Column("a", centre=1.0),)))
    assert UnitRows(_Given(data)).load().X.tolist() == [[0.0], [1.0]]


def test_heloc_as_in_the_paper(real):
    """22 columns, of which one repeats another."""
    data = real('unit_rows(heloc(target="ExternalRiskEstimate"))')
    assert data.X.shape == (9871, 21)
    assert data.schema.classes[data.schema.favourable] == ">=median"


@pytest.mark.parametrize("most", [0.0, 1.1, -0.5])
def test_bad_fields(most):
    with pytest.raises(JaliError, match="above 0 and at most 1"):
        UnitRows(Lending(), correlated=most)


def test_specification_origin_and_files():
    source = registry.build("data", "sample(unit_rows(german), n=90)")
    assert registry.spec(source) == "sample(source=unit_rows(source=german), n=90)"
    assert source.source.origin.startswith(German.origin)
    assert (source.source.licence, source.source.files) == (German.licence, German.files)


def test_where_nothing_comes_from_the_rows_it_says_so():
    """Without a choice of columns by correlation, rows of a declared table owe nothing to one another."""
    known = lambda data: {c.known for c in data.schema.columns}  # noqa: E731
    assert known(UnitRows(Lending(n=50)).load()) == {"observed"}
    assert known(UnitRows(Lending(n=50), correlated=1.0).load()) == {"declared"}
    assert known(UnitRows(UnitRows(Lending(n=50)), correlated=1.0).load()) == {"observed"}
