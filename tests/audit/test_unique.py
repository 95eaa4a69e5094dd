from __future__ import annotations

import dataclasses

import numpy as np

from jali.audit.summary import groups, sensitive
from jali.audit.unique import one_of_a_kind
from jali.core.values import Column, Dataset, Schema


def table(roles: tuple[str | None, ...] = ("quasi", "quasi", None), **schema) -> Dataset:
    """200 people: 30 have a job of their own; ages are 0 to 9 for the others, in one of two jobs."""
    n = 200
    job = np.where(np.arange(n) < 30, 2 + np.arange(n), np.arange(n) % 2)
    age = np.where(np.arange(n) < 30, 5, np.arange(n) % 10)
    noise = np.random.default_rng(0).normal(size=n)
    kinds = (
        {"kind": "category", "categories": tuple(f"job {k}" for k in range(32))},
        {"kind": "number"},
        {"kind": "number"},
    )
    names = ("job", "age", "noise")
    columns = [Column(name, role=r, **k) for name, r, k in zip(names, roles, kinds, strict=True)]
    return Dataset(np.stack([job, age, noise], axis=1), np.arange(n) % 2, Schema(tuple(columns), **schema))


def test_people_with_a_combination_of_their_own():
    [(label, alone)] = one_of_a_kind(table()).items()
    assert label == "one of a kind on job, age"
    np.testing.assert_array_equal(alone, np.arange(200) < 30)
    assert next(iter(groups(table()))) == label


def test_several_rows_of_one_person_are_one_of_a_kind_together():
    data = table()
    twice = dataclasses.replace(data, X=np.repeat(data.X, 2, axis=0), y=np.repeat(data.y, 2))
    assert not next(iter(one_of_a_kind(twice).values())).any()
    people = dataclasses.replace(twice, groups=np.repeat(np.arange(200), 2))
    assert next(iter(one_of_a_kind(people).values())).sum() == 60


def test_numbers_count_by_their_deciles():
    """A measured number is different for everybody; its decile is shared by twenty."""
    [(_, alone)] = one_of_a_kind(table((None, None, "quasi"))).items()
    assert not alone.any()


def test_numbers_with_few_values_count_as_they_are():
    """Deciles would put a rare code together with the common one beside it."""
    data = table((None, "quasi", None))
    codes = np.where(np.arange(200) == 0, 1.0, np.where(np.arange(200) == 1, 2.0, 3.0))
    X = np.stack([data.X[:, 0], codes, data.X[:, 2]], axis=1)
    [(_, alone)] = one_of_a_kind(dataclasses.replace(data, X=X)).items()
    assert np.flatnonzero(alone).tolist() == [0, 1]


def test_without_quasi_identifiers_all_columns_count_unless_nearly_everybody_is_unique():
    [(label, alone)] = one_of_a_kind(table((None, None, None))).items()
    assert label == "one of a kind on all 3 columns"
    assert 30 <= alone.sum() <= 180
    rng = np.random.default_rng(0)
    wide = Dataset(rng.normal(size=(200, 8)), np.arange(200) % 2, Schema(tuple(Column(f"x{j}") for j in range(8))))
    assert one_of_a_kind(wide) == {}
    pictures = Schema(tuple(Column(f"x{j}") for j in range(4)), image=(1, 2, 2))
    few = Dataset(rng.integers(0, 3, (200, 4)).astype(float), np.arange(200) % 2, pictures)
    assert one_of_a_kind(few) == {}


def test_they_are_no_group_of_a_sensitive_attribute():
    data = table(sensitive="age")
    assert sensitive(data)
    assert not any(label.startswith("one of a kind") for label in sensitive(data))
