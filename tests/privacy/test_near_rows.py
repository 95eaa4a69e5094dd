"""Public rows that are rows of the data, rounded, in other units or of one length; other people, who are not."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.values import Column, Dataset, Schema
from jali.privacy.near_rows import near_rows
from jali.privacy.overlap import shared

D = 8
SCHEMA = Schema(tuple(Column(f"x{j}") for j in range(D)))


def people(n, seed):
    """Correlated columns of different units, one of them whole numbers."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) @ rng.normal(size=(D, D)) * 10.0 ** np.arange(-3, D - 3)
    X[:, 4] = np.round(X[:, 4])
    return X


def table(X, y=0):
    return Dataset(X, np.full(len(X), y), SCHEMA)


DATA = table(people(900, 0)[:600])
OTHERS = people(900, 0)[600:]
SPREAD = DATA.X.std(axis=0)
COPIES = {
    "single precision": lambda X: X.astype(np.float32).astype(np.float64),
    "rounded": lambda X: np.round(X / SPREAD, 2) * SPREAD,
    "other units": lambda X: X * np.arange(1, D + 1) + 3,
    "noised a little": lambda X: X + 0.01 * SPREAD * np.random.default_rng(1).normal(size=X.shape),
    "length one": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
}


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_noticed(how):
    words = shared(table(COPIES[how](DATA.X)), DATA)
    assert "rows of the data that the claim is about, up to rounding or scale" in words


def test_rounded_copies_are_noticed_among_other_people():
    mixed = np.concatenate([OTHERS, COPIES["rounded"](DATA.X[:100])])
    found = near_rows(table(mixed), DATA)
    assert found is not None
    assert 90 <= found.same <= 110


def test_the_same_rows_with_other_labels_are_noticed():
    assert shared(table(DATA.X[:50], y=1), DATA).startswith("50 of the 50 rows of its public data are also in the data")


@pytest.mark.parametrize("seed", range(20))
def test_other_people_are_no_copies(seed):
    """Also where columns are coarse, so that many people are equal, and where the public rows are of one kind only."""
    rng = np.random.default_rng(seed)
    X = people(900, seed)
    X = X[rng.permutation(900)]
    assert near_rows(table(X[600:]), table(X[:600])) is None
    coarse = np.round(X / X.std(axis=0))
    assert near_rows(table(coarse[600:]), table(coarse[:600])) is None
    common = rng.random(900) < 0.1  # one tenth differs in one column only
    X[common, 1:] = 1.0
    here = np.flatnonzero(common)
    rest = np.r_[np.flatnonzero(~common), here[: len(here) // 2]]
    assert near_rows(table(X[here[len(here) // 2 :]]), table(X[rest])) is None


def test_few_rows_say_nothing():
    assert near_rows(table(DATA.X[:10]), table(DATA.X[:10])) is None
