"""What holds for every data set."""

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.data.lending import Lending
from jali.data.tables import files, frames
from jali.data.tables.catalogue import catalogue

NAMES = [entry.name for entry in catalogue()]
GENERATED = ("lending", "hypercube", "linear_gaussian")  # centre and spread belong to the design
PICTURES = ("cifar10", "cifar100", "fashion_mnist", "gtsrb", "svhn")  # and here to the scale of bytes


def column_names(data):
    return [c.name for c in data.schema.columns]


@pytest.mark.parametrize("name", NAMES)
def test_declares_where_it_comes_from(name):
    source = registry.build("data", name)
    assert source.origin
    assert "\n" not in source.origin
    assert source.licence
    for remote in source.files:
        assert isinstance(remote, files.Remote)
        assert len(remote.sha256) == 64
        assert remote.url.startswith("https://") != bool(remote.how)
        assert not remote.url or remote.path.split("/")[0] == name


@pytest.mark.parametrize("name", NAMES)
def test_specification_comes_back(name):
    source = registry.build("data", name)
    assert registry.build("data", registry.spec(source, every=True)) == source


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_legal_and_encode(real, name):
    data = real(name)
    for j, column in enumerate(data.schema.columns):
        values = data.X[:, j]
        if column.kind == "category":
            assert set(np.unique(values)) <= set(range(len(column.categories)))
        else:
            assert np.isfinite([column.low, column.high, column.centre]).all()
            assert column.low <= values.min()
            assert values.max() <= column.high
            assert column.spread > 0
        if column.kind == "integer":
            assert (values == np.rint(values)).all()
    some = data.X[:: max(1, len(data) // 500)]
    encoding = Encoding(data.schema)
    Z = encoding.encode(some)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(encoding.decode(Z), some, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_frame_and_back(real, name):
    data = real(name)
    some = data.rows(np.arange(0, len(data), max(1, len(data) // 500)))
    table = frames.frame(some.X, some.schema)
    assert list(table.columns) == column_names(data)
    for column in data.schema.columns:
        kind = {"number": "float64", "integer": "int64"}.get(column.kind)
        assert kind is None or table[column.name].dtype == kind
        assert kind or set(table[column.name]) <= set(column.categories)


@pytest.mark.parametrize("name", [n for n in NAMES if n not in GENERATED + PICTURES])
def test_public_statistics(real, name):
    data = real(name)
    for j, column in enumerate(data.schema.columns):
        if column.kind != "category":
            mean = data.X[:, j].sum() / len(data)
            assert column.centre == pytest.approx(mean, rel=1e-9, abs=1e-9)
            spread = (((data.X[:, j] - mean) ** 2).sum() / len(data)) ** 0.5
            assert column.spread == pytest.approx(spread if spread > 1e-12 else 1.0, rel=1e-6)


@pytest.mark.parametrize("name", ["adult", "cmc", "german", "heart", "breast_cancer"])
def test_what_is_read_off_the_rows_is_not_called_declared(real, name):
    schema = real(name).schema
    assert {c.known for c in schema.columns} == {"observed"}
    assert schema.outcome == "observed"


def test_the_embedded_table_is_declared_as_a_whole():
    schema = Lending(n=50).load().schema
    assert {c.known for c in schema.columns} == {"declared"}
    assert schema.outcome == "declared"
