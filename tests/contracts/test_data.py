"""What every data set must declare: a complete schema, and where it comes from under which licence."""

from __future__ import annotations

import re

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Dataset
from jali.data.tables import files
from jali.data.tables.catalogue import catalogue

from .citations import citations

NAMES = [entry.name for entry in catalogue()]
NO_OUTCOME_IS_BETTER = {
    "cifar10",
    "cifar100",
    "digits",
    "fashion_mnist",
    "gaussian_mixture",
    "gtsrb",
    "hypercube",
    "linear_gaussian",
    "mnist",
    "svhn",
}
UNPUBLISHED = {
    "lending",
    "give_me_some_credit",
    "heloc",
    "hospital",
    "hypercube",
    "informs",
}  # contests, releases, ours
every = pytest.mark.parametrize("name", NAMES)
_loaded: dict[str, Dataset] = {}


@pytest.fixture
def data(name, real_data, monkeypatch) -> Dataset:
    """The data set, read once for all contracts."""
    monkeypatch.setenv("JALI_DATA", str(real_data))
    if name not in _loaded:
        source = registry.build("data", name)
        if not files.present(source):
            pytest.skip(f"the files of {name} are not here: jali data fetch {name}")
        _loaded[name] = source.load()
    return _loaded[name]


@every
def test_every_column_has_a_name_a_kind_and_its_legal_values(name, data):
    for j, column in enumerate(data.schema.columns):
        assert column.name == column.name.strip() != ""
        assert column.kind in ("number", "integer", "category")
        if column.kind == "category":
            assert len(column.categories) == len(set(column.categories)) > 0
            assert set(np.unique(data.X[:, j])) <= set(range(len(column.categories)))
        else:
            assert not column.categories
            assert np.isfinite([column.low, column.high, column.centre, column.spread]).all()
            assert column.low <= data.X[:, j].min() <= data.X[:, j].max() <= column.high


@every
def test_every_column_has_a_role_and_says_how_its_bounds_are_known(name, data):
    for column in data.schema.columns:
        assert column.role in ("quasi", "private")
        assert column.known in ("declared", "bounds", "observed")
    assert data.schema.outcome in ("declared", "observed")


@every
def test_what_is_called_observed_was_taken_from_the_rows(name, data):
    """Bounds that are read off the rows touch them at both ends."""
    for j, column in enumerate(data.schema.columns):
        if column.known == "observed" and column.kind != "category":
            assert (data.X[:, j].min(), data.X[:, j].max()) == (column.low, column.high)
        if column.known == "observed" and column.kind == "category":
            assert len(np.unique(data.X[:, j])) == len(column.categories)


@every
def test_classes_and_the_favourable_one_are_named(name, data):
    schema = data.schema
    assert len(schema.classes) == len(set(schema.classes)) >= 2
    assert set(np.unique(data.y)) == set(range(len(schema.classes)))
    assert (schema.favourable is None) == (name in NO_OUTCOME_IS_BETTER)
    assert schema.favourable in (None, *range(len(schema.classes)))
    assert schema.target
    assert schema.target not in {c.name for c in schema.columns}


@every
def test_the_sensitive_column_and_pictures_fit_the_columns(name, data):
    assert data.schema.sensitive in (None, *(c.name for c in data.schema.columns))
    assert data.schema.image is None or np.prod(data.schema.image) == data.X.shape[1]


@every
def test_origin_and_licence_are_one_line_each_and_a_publication_is_cited(name):
    source = registry.build("data", name)
    for text in (source.origin, source.licence):
        assert re.fullmatch(r"\S.*\S", text)
        assert not text.endswith(".")
    assert bool(citations(source.origin)) != (name in UNPUBLISHED)


@every
def test_loading_twice_gives_the_same_bits(name, data, real_data, monkeypatch):
    monkeypatch.setenv("JALI_DATA", str(real_data))
    again = registry.build("data", name).load()
    np.testing.assert_array_equal(again.X, data.X)
    np.testing.assert_array_equal(again.y, data.y)
    assert again.schema == data.schema


@every
def test_a_file_that_is_missing_is_named_with_what_to_do(name, tmp_path, monkeypatch):
    source = registry.build("data", name)
    monkeypatch.setenv("JALI_DATA", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if not source.files or files.find(source.files[0]):
        assert len(source.load())
        return
    with pytest.raises(JaliError, match=rf"The file {re.escape(source.files[0].path)} is not in .* set JALI_DATA"):
        source.load()
