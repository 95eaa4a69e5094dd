from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import entropy, wasserstein_distance

from jali.anonymity.disclosure import closeness, diversity, homogeneity, together
from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.values import Column, Dataset, Schema
from tests.anonymity.tables import toy

AGES = Schema((Column("age", role="quasi"), Column("ill", "category", categories=("no", "yes")), Column("pay")))
TABLE = Dataset(np.array([[20.0, 1, 3], [21, 1, 3], [22, 0, 5], [30, 0, 9], [31, 1, 9]]), [0] * 5, AGES)


def ages(*bounds: tuple[float, float], row: int = 0) -> Regions:
    """Answers that show one person's private values for some ranges of ages."""
    plain = Regions.of(np.repeat(TABLE.X[[row]], len(bounds), axis=0), AGES)
    low, high = plain.low.copy(), plain.high.copy()
    low[:, 0], high[:, 0] = np.array(bounds).T
    return Regions(low, high, plain.allowed, AGES)


def test_a_class_of_one_value_is_not_diverse():
    found = diversity(ages((20, 21), (20, 22), (20, 31)), TABLE, "ill")
    assert found.distinct.tolist() == [1, 2, 2]
    np.testing.assert_allclose(found.effective, [1, np.exp(entropy([2, 1])), np.exp(entropy([3, 2]))])


def test_closeness_is_an_earth_movers_distance():
    some = ages((20, 21), (20, 22), (20, 31))
    np.testing.assert_allclose(closeness(some, TABLE, "ill"), [0.4, 2 / 3 - 0.6, 0], atol=1e-12)
    ranks = {3.0: 0, 5.0: 1, 9.0: 2}
    pay = [ranks[x] for x in TABLE.X[:, 2]]
    want = [wasserstein_distance(pay[:n], pay) / 2 for n in (2, 3, 5)]
    np.testing.assert_allclose(closeness(some, TABLE, "pay"), want, atol=1e-12)


def test_two_answers_about_one_person_single_her_out():
    """20 to 22 and 22 to 31, three people each: one is in both."""
    both = ages((20, 22), (22, 31), row=2)
    assert together(both, TABLE).tolist() == [1, 1]
    apart = Regions(
        *(np.r_[a, b] for a, b in zip(_arrays(ages((20, 22))), _arrays(ages((22, 31), row=3)), strict=True)), AGES
    )
    assert together(apart, TABLE).tolist() == [3, 3]


def _arrays(regions: Regions):
    return regions.low, regions.high, regions.allowed


def test_nobody_and_nothing():
    none = ages((20, 21)).pick(np.zeros(1, dtype=bool))
    assert together(none, TABLE).shape == (0,)
    assert diversity(none, TABLE, "ill").distinct.shape == (0,)
    with pytest.raises(JaliError, match="no column 'wealth'"):
        closeness(ages((20, 21)), TABLE, "wealth")


def test_the_published_example_shows_what_k_does_not_hide():
    """Fiona's answer matches three people, of whom two earn what it shows."""
    train = toy()
    plain = Regions.of(train.X[[5]], train.schema)
    low, high = plain.low.copy(), plain.high.copy()
    low[0, 0], high[0, 0] = 24, 27
    told = Regions(low, high, plain.allowed, train.schema)
    assert diversity(told, train, "salary").distinct.tolist() == [2]
    assert diversity(told, train, "salary").effective[0] == pytest.approx(np.exp(entropy([2, 1])))


def test_all_private_columns_at_once():
    """What each column says by itself: the share in which all agree, and the farthest."""
    some = ages((20, 21), (20, 30), (20, 21))
    private = [c.name for c in TABLE.schema.columns if c.role != "quasi"]
    one, far = homogeneity(some, TABLE)
    alone = [diversity(some, TABLE, name).distinct == 1 for name in private]
    np.testing.assert_allclose(one, np.mean(alone, axis=0))
    np.testing.assert_allclose(far, np.max([closeness(some, TABLE, name) for name in private], axis=0))
