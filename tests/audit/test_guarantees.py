from __future__ import annotations

import numpy as np
import pytest

from jali.audit.guarantees import (
    cap_of,
    capped,
    contradicted,
    guarantee_of,
    guarantees,
    stamped,
    stated,
    voided,
)
from jali.core import registry
from jali.core.guarantee import Guarantee
from jali.core.values import Column, Dataset, Schema
from jali.models.committee import Committee
from jali.privacy.overlap import shared
from jali.results import Row

DP = registry.build("model", "dp_logistic(epsilon=1.0, bound=1.0)")
PLAIN, GIVEN = registry.build("explain", "linear_recourse"), registry.build("explain", "laplace_recourse(epsilon=0.5)")
READS = registry.build("explain", "cchvae")


def row(low, metric="auc", explainer="linear_recourse", channel="explanation"):
    place = {"explainer": explainer, "channel": channel, "signal": "counterfactual_distance", "attack": "threshold"}
    return Row(kind="attack", metric=metric, value=low + 0.01, low=low, high=low + 0.02, **place)


def test_a_private_model_covers_what_is_computed_from_it_alone():
    given = guarantees(DP, [PLAIN, READS])
    assert given["", "decision"].epsilon == 1.0
    assert given["linear_recourse", "score+explanation"].epsilon == 1.0
    assert ("cchvae", "explanation") not in given  # it reads the training rows again


def test_an_explainer_covers_its_answers_and_nothing_beside_them():
    given = guarantees(registry.build("model", "logistic"), [GIVEN, PLAIN])
    assert list(given) == [(registry.spec(GIVEN), "explanation")]


def test_a_wrapper_of_nothing_private_promises_nothing():
    assert guarantee_of(Committee()) is None
    assert guarantee_of(Committee(trainer=DP)).epsilon == 1.0
    assert guarantees(Committee(), [PLAIN]) == {}


def test_only_an_interval_wholly_above_its_cap_is_a_contradiction():
    given = guarantees(DP, [PLAIN])  # AUC cap e / (1 + e) = .7311
    assert contradicted([row(0.72)], given) == []
    (said,) = contradicted([row(0.74)], given)
    assert "no attack can exceed 0.731" in said
    assert contradicted([row(0.9, explainer="scfe")], given) == []
    assert contradicted([row(0.03, "tpr@0.01")], given)
    assert contradicted([row(0.027, "tpr@0.01")], given) == []


def test_rows_say_what_covers_them():
    given = guarantees(DP, [PLAIN])
    there, nowhere = stamped([row(0.6), row(0.6, explainer="scfe")], given)
    assert there.guarantee.startswith("epsilon = 1 in total")
    assert nowhere.guarantee == ""


def test_adding_or_removing_counts_twice_in_the_cap():
    half = Guarantee("m", 0.5, "add-remove", ("decisions",))
    assert cap_of("auc", half) == pytest.approx(0.7311, abs=1e-4)
    assert cap_of("validity", half) is None


def test_the_cap_of_an_add_remove_claim_counts_delta_for_both_steps():
    """A true (1, .1) mechanism can reach e^2 a + (1 + e) .1, which a cap with delta = .1 would call a contradiction."""
    claim = Guarantee("m", 1.0, "add-remove", ("decisions",), delta=0.1)
    assert cap_of("tpr@0.01", claim) == pytest.approx(np.e**2 * 0.01 + (1 + np.e) * 0.1)
    delta = (1 + np.e) * 0.1
    assert cap_of("balanced_accuracy", claim) == pytest.approx((np.e**2 + delta) / (1 + np.e**2))


def test_results_stand_beside_their_cap_and_the_looser_one():
    given = guarantees(registry.build("model", "logistic"), [GIVEN])
    name = registry.spec(GIVEN)
    shown = capped([row(0.7, m, name) for m in ("auc", "balanced_accuracy", "validity")], given)
    assert [c.metric for c in shown] == ["auc", "balanced_accuracy"]
    # e^.5 / (1 + e^.5) = .6225, and 1/2 + (1 - e^-.5) / 2 = .6967.
    assert [round(c.cap, 4) for c in shown] == [0.6225, 0.6225]
    assert [c.looser and round(c.looser, 4) for c in shown] == [None, 0.6967]
    assert all(c.refuted and c.exceeds for c in shown)


def test_a_claim_for_explanations_alone_does_not_cover_signals_that_read_the_decision():
    given = guarantees(registry.build("model", "logistic"), [GIVEN])
    name = registry.spec(GIVEN)
    shown = {"explainer": name, "channel": "explanation", "attack": "threshold", "kind": "attack", "metric": "auc"}
    rows = [
        Row(signal=signal, value=0.9, low=0.89, high=0.91, **shown)
        for signal in ("counterfactual_distance", "signed_distance", "counterfactual_distance + signed_distance")
    ]
    assert [bool(r.guarantee) for r in stamped(rows, given)] == [True, False, False]
    assert len(contradicted(rows, given)) == 1


def test_what_is_promised_is_told_with_what_it_rests_on_and_why_it_is_false():
    (promise,) = stated(guarantees(registry.build("model", "logistic"), [GIVEN]))
    assert promise.what == registry.spec(GIVEN)
    assert promise.assumes == list(GIVEN.guarantee().conditions)
    assert "seed stay secret" in promise.assumes[-1]
    assert "not what is released" in promise.refuted


def data_of(*columns, n=4, groups=None):
    return Dataset(np.zeros((n, len(columns))), np.arange(n) % 2, Schema(columns), groups)


PUBLIC = data_of(Column("age", low=0, high=99))
TAKEN = data_of(Column("age", low=0, high=99, known="observed"), Column("sex", "category", categories=("f", "m")))


def test_constants_taken_from_the_rows_void_a_guarantee():
    assert voided(guarantees(DP, [PLAIN], PUBLIC)) == []
    assert voided(guarantees(registry.build("model", "logistic"), [PLAIN], TAKEN)) == []
    (said,) = voided(guarantees(DP, [PLAIN], TAKEN))
    assert said.startswith(
        "VOID: the privacy claim of predictions and of linear_recourse: "
        "bounds and scale of 1 column (age) were taken from the rows; declare them"
    )


def test_categories_taken_from_the_rows_void_it_too():
    sex = Column("sex", "category", categories=("f", "m"), known="observed")
    taken = data_of(Column("age", low=0, high=99), sex)
    assert "categories of 1 column (sex)" in voided(guarantees(DP, [], taken))[0]


def test_a_void_claim_is_no_cap_and_is_contradicted_by_nothing():
    given = guarantees(DP, [PLAIN], TAKEN)
    assert contradicted([row(0.9)], guarantees(DP, [PLAIN], PUBLIC))
    assert contradicted([row(0.9)], given) == []
    (beside,) = capped([row(0.9)], given)
    assert beside.void
    assert beside.exceeds  # what it would be, for studies that compare
    (there,) = stamped([row(0.9)], given)
    assert there.guarantee == "VOID: bounds and scale of 1 column (age) were taken from the rows"
    assert there.value == pytest.approx(0.91)


def test_a_void_claim_is_told_as_void():
    for promise in stated(guarantees(DP, [PLAIN], TAKEN)):
        assert promise.claim.startswith("VOID: bounds and scale of 1 column (age)")
        assert "columns.toml" in promise.void
    assert not any(promise.void for promise in stated(guarantees(DP, [PLAIN], PUBLIC)))


def test_where_bounds_alone_are_declared_decisions_are_covered_and_explanations_are_not():
    """Rows scaled by bounds owe nothing to centre and spread, but recourse and attributions are computed with them."""
    given = guarantees(DP, [PLAIN], data_of(Column("age", low=0, high=99, known="bounds")))
    assert given["", "decision"].covers == ("decisions",)
    assert not given["", "decision"].void
    assert "scale of 1 column (age)" in given["linear_recourse", "explanation"].void
    assert "scale of 1 column (age)" in given["linear_recourse", "score+explanation"].void
    assert [bool(promise.void) for promise in stated(given)] == [False, True]


def test_recourse_without_a_key_is_shown_as_void():
    part = registry.build("explain", "dp_weights_recourse(dp_logistic(1.0, 1.0))")
    given = guarantees(registry.build("model", "logistic"), [part], PUBLIC)
    (promise,) = stated(given)
    assert promise.claim.startswith("VOID: no key was given")
    assert contradicted([row(0.99, explainer=registry.spec(part))], given) == []
    assert "head -c 32 /dev/urandom" in voided(given)[0]


def test_recourse_with_a_key_that_everybody_can_read_is_shown_as_void(tmp_path):
    """Also where the evidence comes from a store, so that nobody asked the part to explain."""
    path = tmp_path / "recourse.key"
    path.write_bytes(bytes(range(32)))
    path.chmod(0o644)
    part = registry.build("explain", f'dp_weights_recourse(dp_logistic(1.0, 1.0), key="{path}")')
    (promise,) = stated(guarantees(registry.build("model", "logistic"), [part], PUBLIC))
    assert "other users of this machine may read" in promise.void
    path.chmod(0o600)
    (promise,) = stated(guarantees(registry.build("model", "logistic"), [part], PUBLIC))
    assert not promise.void


def test_a_refuted_claim_about_one_score_needs_no_constants_and_stays_refuted():
    given = guarantees(registry.build("model", "logistic"), [GIVEN], TAKEN)
    assert len(contradicted([row(0.9, explainer=registry.spec(GIVEN))], given)) == 1


# --- people and public data ----------------------------------------------------------------------------------------


def test_a_claim_about_rows_is_weaker_for_people_with_several():
    """Games keep the rows of one person together, so caps must count all of them."""
    given = guarantees(DP, [PLAIN], data_of(Column("age"), groups=[7, 7, 7, 2]))
    assert given["", "decision"].epsilon == 3.0
    assert "for people with up to 3 rows" in str(given["linear_recourse", "explanation"])
    assert contradicted([row(0.9)], given) == []  # e^3 / (1 + e^3) = .953
    assert contradicted([row(0.96)], given)
    alone = guarantees(DP, [PLAIN], data_of(Column("age"), groups=[7, 3, 5, 2]))
    assert alone["", "decision"] == DP.guarantee()


def test_a_delta_that_many_rows_use_up_leaves_nothing():
    few = Guarantee("m", 1.0, "add-remove", ("decisions",), delta=1e-5)
    assert few.of_people(2).delta == pytest.approx(1e-5 * (1 + np.e))
    assert few.of_people(30).void.startswith("one person has up to 30 rows")


DIRECTION = "public_direction(epsilon=1.0, public={})"
STABLE = registry.build("model", "clipped_logistic(bound=1.0, C=0.01)")


@pytest.mark.parametrize("part", [DIRECTION, "above_threshold(epsilon=1.0, public={})"])
@pytest.mark.parametrize(
    "public", ["lending(n=300)", "sample(lending(n=300), n=40)", "sample(lending(n=300), n=200, seed=5)"]
)
def test_public_data_that_hold_the_people_themselves_void_the_claim(part, public):
    data = registry.build("data", "lending(n=300)").load()
    (claim,) = guarantees(STABLE, [registry.build("explain", part.format(public))], data).values()
    assert "rows of its public data are also in the data" in claim.void


@pytest.mark.parametrize("public", ["lending(n=300, seed=1)", "sample(lending(n=600), n=300, seed=3)"])
def test_public_data_of_other_people_leave_the_claim(public):
    data = registry.build("data", "sample(lending(n=600), n=300, skip=300, seed=3)").load()
    (claim,) = guarantees(STABLE, [registry.build("explain", DIRECTION.format(public))], data).values()
    assert not claim.void


def test_equal_rows_of_different_people_are_no_overlap():
    """A coarse table, where most rows have a twin: two draws of the same population share many."""
    rng = np.random.default_rng(0)
    schema = Schema((Column("a", low=0, high=9), Column("b", low=0, high=9)))
    here, there = (Dataset(rng.integers(0, 10, (300, 2)), rng.integers(0, 2, 300), schema) for _ in range(2))
    assert shared(there, here) == ""
    assert shared(here, here)


def test_one_shared_row_is_enough_where_nobody_is_like_another():
    rng = np.random.default_rng(0)
    schema = Schema(tuple(Column(f"x{j}") for j in range(4)))
    here, there = (rng.normal(size=(200, 4)) for _ in range(2))
    data = Dataset(here, np.zeros(200), schema)
    assert shared(Dataset(there, np.zeros(200), schema), data) == ""
    there[17] = here[3]
    assert shared(Dataset(there, np.zeros(200), schema), data).startswith("1 of the 200 rows of its public data")


def test_public_data_inside_a_private_trainer_are_looked_at_too():
    pytest.importorskip("torch")
    spec = "dp_sgd(fine_tuned(convnet, public={}), epsilon=8.0)"
    data = registry.build("data", "digits").load()
    declared = Dataset(
        data.X, data.y, Schema(tuple(Column(c.name, low=0, high=16) for c in data.schema.columns), data.schema.classes)
    )
    inside = guarantees(registry.build("model", spec.format("digits")), [], declared)
    assert "public data" in inside["", "decision"].void
    apart = guarantees(registry.build("model", spec.format("linear_gaussian(n=50, d=64)")), [], declared)
    assert not apart["", "decision"].void


@pytest.mark.parametrize(
    "data", ["linear_gaussian(n=50, d=20)", "hypercube(n=50, d=4)", "gaussian_mixture(n=90, d=3, classes=2)"]
)
def test_a_generated_table_that_was_standardised_by_its_own_rows_has_not_declared_its_scale(data):
    rows = registry.build("data", data).load()
    scaled = registry.build("model", 'dp_logistic(epsilon=1.0, bound=1.0, scaling="declared")')
    assert "scale of" in voided(guarantees(scaled, [], rows))[0]
    assert voided(guarantees(DP, [], rows)) == []  # its bounds are part of the design


def test_one_that_is_left_as_drawn_has():
    rows = registry.build("data", 'linear_gaussian(n=50, d=20, scale="population")').load()
    assert voided(guarantees(registry.build("model", 'dp_logistic(1.0, 1.0, scaling="declared")'), [PLAIN], rows)) == []


def test_how_exact_the_minimiser_is_stands_among_the_conditions():
    for part in (DP, registry.build("explain", DIRECTION.format("lending(n=50)"))):
        assert any("up to a gradient of 1e-12" in condition for condition in part.guarantee().conditions)
