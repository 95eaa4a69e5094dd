"""Who fits an answer, alone and together with other answers."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual, Regions
from jali.core.query import Oracle
from jali.core.values import Column, Dataset, Schema
from jali.knowledge.register import Register
from jali.query_attacks.intersection import Intersection
from jali.query_attacks.linkage import Linkage

SCHEMA = Schema(
    (
        Column("age", role="quasi"),
        Column("sex", "category", categories=("f", "m"), role="quasi"),
        Column("income"),
        Column("status", "category", categories=("single", "married")),
    )
)
PEOPLE = np.array([[24.0, 0, 60, 0], [27, 0, 80, 1], [26, 0, 60, 0], [47, 1, 100, 1], [47, 1, 90, 1]])
ASKED = Dataset(np.array([[21.0, 0, 50, 0]] * 3), [0, 0, 0], SCHEMA)


def known(rng=None):
    return Register().know(Dataset(PEOPLE, np.zeros(5, dtype=int), SCHEMA), rng or np.random.default_rng(0))


def claims(query_attack, counterfactuals, seed=0):
    oracle = Oracle(SCHEMA, np.asarray, lambda X: counterfactuals)
    return query_attack.run(oracle, known(), ASKED, np.random.default_rng(seed))


def regions(ages, incomes):
    """Women of these ages with exactly these incomes, single."""
    low = np.array([[a, 0, i, 0] for (a, _), i in zip(ages, incomes, strict=True)], dtype=float)
    high = np.array([[b, 0, i, 0] for (_, b), i in zip(ages, incomes, strict=True)], dtype=float)
    allowed = np.zeros((len(ages), 4, 2), dtype=bool)
    allowed[:, 1, 0] = allowed[:, 3, 0] = True
    return Counterfactual(low, np.ones(len(ages), dtype=bool), Regions(low, high, allowed, SCHEMA))


def test_a_real_row_names_who_has_its_quasi_identifiers():
    counterfactuals = Counterfactual(np.array([PEOPLE[0], PEOPLE[3], [30.0, 0, 60, 0]]), np.array([True, True, True]))
    found = claims(Linkage(), counterfactuals)
    assert found.candidates.tolist() == [1, 2, 0]  # two men of 47; nobody is 30
    assert found.person[0] == 0
    assert found.person[1] in (3, 4)
    assert found.person[2] == -1
    assert found.score.tolist() == [1, 0.5, 0]
    assert found.values[0].tolist() == [24, 0, 60, 0]


def test_everybody_who_fits_is_named_equally_often():
    counterfactuals = regions([(24, 27)] * 3, [60, 60, 60])
    named = [int(p) for seed in range(200) for p in claims(Linkage(), counterfactuals, seed).person]
    share = np.bincount(named, minlength=5) / len(named)
    assert share[3:].tolist() == [0, 0]
    np.testing.assert_allclose(share[:3], 1 / 3, atol=0.06)  # 600 draws: .019 a standard deviation


def test_no_answer_names_nobody():
    counterfactuals = Counterfactual(PEOPLE[:3], np.array([False, True, False]))
    assert (claims(Linkage(), counterfactuals).person >= 0).tolist() == [False, True, False]


def test_what_two_answers_have_in_common_may_be_one_person():
    """24 to 26 and 26 to 27, the same income: each fits two women, both together one; another income stays apart."""
    counterfactuals = regions([(24, 26), (26, 27), (24, 27)], [60, 60, 80])
    alone, together = claims(Linkage(), counterfactuals), claims(Intersection(), counterfactuals)
    assert alone.candidates.tolist() == [2, 2, 3]
    assert together.candidates.tolist() == [1, 1, 3]
    assert together.person[:2].tolist() == [2, 2]


def test_answers_that_nobody_fits_together_are_judged_alone():
    """Two women with one income: no one is 24 to 24 and 27 to 27."""
    counterfactuals = regions([(24, 24), (27, 27), (24, 27)], [60, 60, 80])
    assert claims(Intersection(), counterfactuals).candidates.tolist() == [1, 1, 3]
    assert claims(Intersection(), counterfactuals).person[:2].tolist() == [0, 1]


def test_a_person_with_several_rows_is_counted_once():
    people = Register().know(Dataset(PEOPLE, np.zeros(5, dtype=int), SCHEMA, groups=np.array([7, 3, 7, 1, 3])), None)
    counterfactuals = regions([(24, 27), (24, 26), (25, 27)], [60, 60, 60])
    oracle = Oracle(SCHEMA, np.asarray, lambda X: counterfactuals)
    found = [Linkage().run(oracle, people, ASKED, np.random.default_rng(seed)) for seed in range(60)]
    assert found[0].candidates.tolist() == [2, 1, 2]
    assert {tuple(f.person[1:2]) for f in found} == {(0,)}
    assert {int(f.person[0]) for f in found} == {0, 1}
    assert {int(f.person[2]) for f in found} == {1, 2}  # the row of a person that fits


def test_a_register_knows_quasi_identifiers_only():
    table = known()
    assert table.X[:, :2].tolist() == PEOPLE[:, :2].tolist()
    assert not table.X[:, 2:].any()
    plain = Schema((Column("a"),))
    with pytest.raises(JaliError, match="mark those that link a row to a person"):
        Register().know(Dataset(np.zeros((2, 1)), [0, 1], plain), np.random.default_rng(0))


@pytest.mark.parametrize("query_attack", [Linkage(), Intersection()])
def test_other_explanations_are_refused(query_attack):
    oracle = Oracle(SCHEMA, np.asarray, lambda X: Attribution(np.zeros((3, 4))))
    with pytest.raises(JaliError, match="reads counterfactuals, not attributions"):
        query_attack.run(oracle, known(), ASKED, np.random.default_rng(0))
