from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from pydantic import ValidationError

from jali.audit.attack_run_rows import overall_estimate
from jali.core.guesses import Guesses
from jali.reproduce.figures import drawings
from jali.reproduce.findings import OLDER, findings, judged_again
from jali.reproduce.numbers import Ran
from jali.reproduce.schema import Paper
from jali.results import Row
from jali.results.reproduction import Reproduction, Study, published

LOSS = {"signal": "loss", "attack": "threshold"}
SETUP = {"data": "lending", "model": "logistic", "game": "thirds", "methods": ["strong", "weak"]}


def guesses(shift, seed, units=6, each=400):
    rng = np.random.default_rng(seed)
    truth = np.tile(np.arange(each) % 2 == 0, units)
    score = rng.normal(size=len(truth)) + shift * truth
    return Guesses(score, truth, np.repeat(np.arange(units), each), np.arange(len(truth)))


@pytest.fixture
def ran():
    measure = Row(kind="measure", metric="test_accuracy", value=0.7, low=0.69, high=0.71, units=6)
    study = Study(name="a", parts={}, measures=[measure])
    made = Ran(study, {"strong": guesses(1.0, 0), "weak": guesses(0.0, 1)})
    other = Ran(Study(name="b", parts={}), {"strong": guesses(0.3, 2)}, {"weak": "weak failed here"})
    return {"a": made, "b": other}


def paper(methods=None, **more):
    both = methods or {"strong": LOSS, "weak": LOSS}
    return Paper(title="t", citation="c", methods=both, studies={"a": SETUP, "b": SETUP}, **more)


def sentence(**fields):
    return {"says": "it does", "source": "Section 1", "metric": "auc", **fields}


def only(claims, ran, scale="standard"):
    (found,) = findings(claims, ran, scale)
    return found


def table(published, study="a", **fields):
    return {
        "source": "Table 1",
        "published": {study: published},
        "tolerance": {"auc": 0.05, "test_accuracy": 0.02},
        **fields,
    }


def test_a_number_is_compared_with_its_estimate(ran):
    # Two normal distributions one standard deviation apart: AUC = Phi(1 / sqrt 2) = .7602.
    found = only(paper(tables=[table(published={"strong": {"auc": 0.7602}})]), ran)
    assert found.verdict == "matches"
    assert found.low <= 0.7602 <= found.high
    assert found.quantity == "AUC, strong"
    assert found.units == 6
    far = only(paper(tables=[table(published={"strong": {"auc": 0.5}})]), ran)
    assert far.verdict == "deviates"


def test_a_measure_of_the_model_is_read_from_the_rows(ran):
    found = only(paper(tables=[table(published={"model": {"test_accuracy": 0.7}})]), ran)
    assert (found.value, found.verdict, found.quantity) == (0.7, "matches", "test accuracy, a")


def test_what_could_not_be_run_says_why(ran):
    found = only(paper(tables=[table({"weak": {"auc": 0.5}}, "b")]), ran)
    assert (found.verdict, found.reason, found.value) == ("not resolvable", "weak failed here", None)


def test_a_claim_for_a_larger_scale_is_shown_but_not_judged(ran):
    found = only(paper(tables=[table(published={"strong": {"auc": 0.7602}}, scale="paper")]), ran)
    assert found.verdict == "not resolvable"
    assert "--scale paper" in found.reason
    assert found.value is not None


def test_an_order_within_a_study_is_paired(ran):
    found = only(paper(sentences=[sentence(more="a / strong", less="a / weak")]), ran)
    assert found.verdict == "matches"
    assert found.value == pytest.approx(0.26, abs=0.03)
    back = only(paper(sentences=[sentence(more="a / weak", less="a / strong")]), ran)
    assert back.verdict == "deviates"


def test_an_order_between_studies_uses_both_intervals(ran):
    found = only(paper(sentences=[sentence(more="a / strong", less="b / strong")]), ran)
    assert found.verdict == "matches"
    assert found.low < found.value < found.high


def test_an_order_against_chance_goes_either_way(ran):
    assert only(paper(sentences=[sentence(more="a / strong")]), ran).verdict == "matches"
    assert only(paper(sentences=[sentence(more="chance", less="a / strong")]), ran).verdict == "deviates"
    assert only(paper(sentences=[sentence(more="a / weak")]), ran).verdict == "not resolvable"


def test_sameness(ran):
    same = sentence(kind="same", more="a / weak", less="chance", tolerance=0.05)
    assert only(paper(sentences=[same]), ran).verdict == "matches"


def test_a_count_has_the_range_its_intervals_leave(ran):
    among = ["a / strong", "b / strong", "a / weak"]
    found = only(paper(sentences=[sentence(kind="count", among=among, published=2)]), ran)
    assert found.low == 2
    assert found.high in (2, 3)
    missing = only(paper(sentences=[sentence(kind="count", among=["b / weak"], published=1)]), ran)
    assert (missing.verdict, missing.reason) == ("not resolvable", "weak failed here")


def test_claims_about_studies_that_were_not_run_are_left_out(ran):
    del ran["b"]
    assert findings(paper(sentences=[sentence(more="a / strong", less="b / strong")]), ran, "standard") == []


def panel(kind):
    return {"figure": "Figure 1", "kind": kind, "methods": ["strong", "weak"], "panels": {"a": "panel"}}


def test_distances_are_densities_over_common_edges(ran):
    (drawn,) = drawings(paper(figures=[panel("distances")]), ran)
    assert [s.label for s in drawn.series][:2] == ["strong: members", "strong: non-members"]
    for line in drawn.series:
        assert len(line.x) == len(line.y) + 1
        assert np.diff(line.x) @ np.array(line.y) == pytest.approx(1.0)


def test_accuracy_by_threshold_is_a_half_at_both_ends(ran):
    (drawn,) = drawings(paper(figures=[panel("thresholds")]), ran)
    strong, weak = drawn.series
    assert strong.y[0] == pytest.approx(0.5, abs=0.01)
    assert strong.y[-1] == pytest.approx(0.5, abs=0.01)
    # The best threshold between two normals one apart is half-way: Phi(1/2) = .6915.
    assert max(strong.y) == pytest.approx(0.6915, abs=0.03)
    assert max(weak.y) < 0.55


def test_a_panel_without_guesses_is_left_out(ran):
    assert list(drawings(paper(figures=[panel("roc") | {"panels": {"b": ""}, "methods": ["weak"]}]), ran)) == []


def test_chance_of_a_rate_counts_the_non_members(ran):
    # 200 non-members a target: two may pass at 1 %, so 3/201 of the members do by chance.
    says = sentence(more="a / weak", less="chance", metric="tpr@0.05")
    found = only(paper(sentences=[says]), ran)
    direct = only(paper(tables=[table({"weak": {"tpr@0.05": 0.05}}, tolerance={"tpr@0.05": 0.5})]), ran)
    assert direct.value - found.value == pytest.approx(11 / 201)


def test_one_bad_claim_is_one_unresolved_finding(ran):
    found = only(paper(sentences=[sentence(more="a / weak", less="a / strong", metric="answered")]), ran)
    assert found.verdict == "not resolvable"
    assert "no metric" in found.reason


def test_measures_of_one_study_are_compared_as_independent_numbers(ran):
    explained = {"strong": LOSS | {"explain": "scfe"}, "weak": LOSS | {"explain": "growing_spheres"}}
    rows = [
        Row(kind="measure", metric="cost_l2", explainer=name, value=v, low=v - 0.1, high=v + 0.1, units=6)
        for name, v in (("scfe", 1.0), ("growing_spheres", 2.0))
    ]
    ran["a"] = dataclasses.replace(ran["a"], study=ran["a"].study.model_copy(update={"measures": rows}))
    claims = paper(sentences=[sentence(more="a / weak", less="a / strong", metric="cost_l2")])
    found = only(claims.model_copy(update={"methods": paper(methods=explained).methods}), ran)
    assert (found.value, found.verdict) == (1.0, "matches")


def test_a_trade_joins_the_points_of_a_defence_and_leaves_out_what_cannot_be_told(ran):
    lines = {"strong": {"1": "a / strong", "2": "b / strong"}, "weak": {"": "b / weak"}}
    trade = {"figure": "Trade", "across": "auc", "upwards": ["test_accuracy"], "lines": lines}
    (drawn,) = drawings(paper(trade_offs=[trade]), ran)
    strong, weak = drawn.series
    assert (drawn.kind, drawn.axes) == ("trade-off", ("AUC", "test accuracy"))
    assert drawn.title == "Test accuracy against AUC"
    assert strong.notes == [n for n in ("1", "2") if n in strong.notes]
    assert len(strong.x) == len(strong.y) == len(strong.spread) >= 1
    assert all(min(halves) >= 0 for halves in strong.spread)
    # Two normals one apart have AUC Phi(1 / sqrt 2) = .760.
    assert strong.x[0] == pytest.approx(0.760, abs=0.03)
    assert weak.x == []


def test_a_trade_about_an_unknown_attempt_is_refused():
    trade = {"figure": "Trade", "across": "auc", "upwards": ["auc"], "lines": {"x": {"": "a / nobody"}}}
    with pytest.raises(ValidationError, match="nobody"):
        paper(trade_offs=[trade])


def test_a_test_is_an_order_with_its_statistic(ran):
    claims = paper(sentences=[sentence(kind="test", more="a / strong", less="a / weak")])
    found = only(claims, ran)
    assert (found.kind, found.verdict) == ("order", "matches")
    assert found.reason.startswith("t(10) = ")


def test_a_test_of_what_could_not_be_run_says_why(ran):
    claims = paper(sentences=[sentence(kind="test", more="a / strong", less="b / weak")])
    assert only(claims, ran).reason == "weak failed here"


def test_a_test_against_chance_is_refused():
    with pytest.raises(ValidationError, match="both places"):
        paper(sentences=[sentence(kind="test", more="a / strong")])


def test_released_conventions_are_metrics_of_their_own(ran):
    # Exchanged axes leave the area as it is.
    both = {"auc": 0.76, "released auc": 0.76}
    claims = paper(
        tables=[{"source": "T", "published": {"a": {"strong": both}}, "tolerance": dict.fromkeys(both, 0.1)}]
    )
    plain, released = findings(claims, ran, "standard")
    assert released.value == pytest.approx(plain.value)
    assert released.quantity == "AUC as released by the authors, strong"


def test_curves_of_several_studies_share_a_panel(ran):
    panels = {"one": {"first": "a / strong", "second": "b / strong"}, "none": {"failed": "b / weak"}}
    (drawn,) = drawings(paper(comparisons=[{"figure": "Figure 3", "panels": panels}]), ran)
    assert [c.label for c in drawn.curves] == ["first", "second"]


def test_numbers_of_the_very_models_are_compared_without_an_interval(ran):
    near = only(paper(tables=[table(published={"strong": {"auc": 0.76}}, same=True, tolerance={"auc": 0.012})]), ran)
    wide = only(paper(tables=[table(published={"strong": {"auc": 0.76}}, tolerance={"auc": 0.012})]), ran)
    assert (near.verdict, wide.verdict) == ("matches", "not resolvable")
    assert (near.low, near.high) == (wide.low, wide.high)


def test_differences_from_another_attempt_are_metrics_too(ran):
    methods = {"strong": {**LOSS, "against": "weak"}, "weak": LOSS}
    tables = [{"source": "T", "published": {"a": {"strong": {"Δ auc": 0.26}}}, "tolerance": {"Δ auc": 0.1}}]
    found = only(paper(methods, tables=tables), ran)
    assert found.quantity == "Δ AUC, strong"
    assert (found.verdict, found.units) == ("matches", 6)


def test_a_difference_from_nothing_says_so(ran):
    tables = [{"source": "T", "published": {"a": {"strong": {"Δ auc": 0.26}}}, "tolerance": {"Δ auc": 0.1}}]
    assert only(paper(tables=tables), ran).reason == "'strong' is held against no other method."


def test_facts_of_an_attack_are_numbers_over_targets(ran):
    told = dataclasses.replace(ran["a"], overall={"strong": {"rules": np.array([3.0, 5.0])}})
    tables = [{"source": "T", "published": {"a": {"strong": {"rules": 4.0}}}, "tolerance": {"rules": 20.0}}]
    found = only(paper(tables=tables), {**ran, "a": told})
    assert (found.value, found.verdict, found.units) == (4.0, "matches", 2)


def test_a_contest_ranks_methods_over_the_settings_that_all_have(ran):
    methods = {"first": ["a / strong", "b / strong", "a / strong"], "second": ["a / weak", "b / weak", "a / weak"]}
    (drawn,) = drawings(paper(critical_differences=[{"figure": "Figure 2", "metric": "auc", "methods": methods}]), ran)
    assert (drawn.kind, drawn.ranked.names, drawn.ranked.rank) == ("ranks", ("first", "second"), (1.0, 2.0))
    assert drawn.ranked.settings == 2


def test_a_contest_needs_the_same_settings_for_all():
    methods = {"first": ["a / strong"], "second": []}
    with pytest.raises(ValidationError, match="one place per setting"):
        paper(critical_differences=[{"figure": "Figure 2", "metric": "auc", "methods": methods}])


def test_a_share_told_of_targets_stays_one():
    assert overall_estimate("fidelity", np.array([0.97, 0.99, 1.0])).high == 1.0
    assert overall_estimate("rules", np.array([1.0, 9.0])).high > 9


def test_precision_is_that_of_targets_in_which_somebody_is_flagged_if_these_are_half(ran):
    none = guesses(0.0, 3)
    silent = dataclasses.replace(none, score=np.where(none.unit == 2, -1.0, none.score))
    tables = [{"source": "T", "published": {"a": {"strong": {"precision": 0.5}}}, "tolerance": {"precision": 0.1}}]
    found = only(paper(tables=tables), {"a": dataclasses.replace(ran["a"], guesses={"strong": silent})})
    assert found.reason == "over the 5 of 6 targets in which a record is flagged"
    others = none.pick(none.unit != 2)
    assert found.units == 5
    assert found.value == pytest.approx((others.truth & (others.score > 0)).sum() / (others.score > 0).sum(), abs=0.01)
    mute = dataclasses.replace(none, score=np.where(none.unit > 1, -1.0, none.score))
    found = only(paper(tables=tables), {"a": dataclasses.replace(ran["a"], guesses={"strong": mute})})
    assert found.reason == "No record is flagged as a member in 4 of 6 targets: no precision."


def test_precision_of_some_targets_counts_where_the_measures_of_the_study_have_none(ran):
    none = guesses(0.0, 3)
    silent = dataclasses.replace(none, score=np.where(none.unit == 2, -1.0, none.score))
    empty = Row(kind="query attack", metric="precision", value=None, attack="aloa", knowledge="noise", reason="none")
    study = ran["a"].study.model_copy(update={"measures": [empty]})
    tables = [{"source": "T", "published": {"a": {"strong": {"precision": 0.5}}}, "tolerance": {"precision": 0.1}}]
    claims = paper({"strong": {"query_attack": "aloa", "knowledge": "noise"}, "weak": LOSS}, tables=tables)
    found = only(claims, {"a": Ran(study, {"strong": silent})})
    assert (found.units, found.reason) == (5, "over the 5 of 6 targets in which a record is flagged")
    assert only(claims, {"a": Ran(study)}).reason == "none"


# --- judged again without a run ------------------------------------------------------------------------------------


def kept(claims, ran, scale="standard"):
    studies = [found.study for found in ran.values()]
    made = findings(claims, ran, scale)
    return Reproduction(paper="p", title="t", citation="c", scale=scale, command="", findings=made, studies=studies)


EVERY_KIND = {
    "tables": [table(published={"strong": {"auc": 0.76}, "model": {"test_accuracy": 0.7}})],
    "sentences": [
        sentence(more="a / strong", less="a / weak"),
        sentence(more="a / strong", less="b / strong", kind="same", tolerance=0.1, note="a note"),
        sentence(more="a / strong", less="a / weak", kind="test"),
        sentence(kind="count", among=["a / strong", "a / weak"], published=1),
        sentence(more="b / weak"),
    ],
}


@pytest.mark.parametrize("scale", ["smoke", "standard"])
def test_judged_again_by_the_same_claims_nothing_changes(ran, scale):
    claims = paper(**EVERY_KIND)
    run = kept(claims, ran, scale)
    assert judged_again(claims, run) == run.findings


def test_judged_again_by_other_claims_the_numbers_stay(ran):
    """Another tolerance, scale, source and side: what was estimated is judged as if it had been claimed before."""
    run = kept(paper(**EVERY_KIND), ran)
    corrected = {
        "tables": [table(published={"strong": {"auc": 0.6}}, note="now noted")],
        "sentences": [
            sentence(more="a / strong", less="a / weak", source="ours: we say so", scale="paper"),
            sentence(more="a / strong", less="a / weak", kind="same", tolerance=0.9),
        ],
    }
    number, held, same = judged_again(paper(**corrected), run)
    assert (number.verdict, number.value, number.reason) == ("deviates", run.findings[0].value, "now noted")
    assert (held.verdict, held.reason) == ("not resolvable", "judged from --scale paper on")
    assert held.section == "Sentences of ours"
    assert same.verdict == "matches"
    assert findings(paper(**corrected), ran, "standard") == [number, held, same]


def test_judged_again_a_claim_that_no_number_is_left_for_says_that_a_run_is_due(ran):
    """Numbers of different studies, and one beside nothing, can be subtracted; methods of one study are paired."""
    told = [table(published={"strong": {"auc": 0.7}}), table(published={"strong": {"auc": 0.7}}, study="b")]
    run = kept(paper(tables=told), ran)
    wanted = [
        sentence(more="a / strong", less="b / strong"),
        sentence(more="a / strong", less="a / weak"),
        sentence(more="a / model", less="nothing", metric="test_accuracy"),
    ]
    across, within, alone = judged_again(paper(sentences=wanted), run)
    assert across == only(paper(sentences=wanted[:1]), ran)
    assert alone == only(paper(sentences=wanted[2:]), ran)
    assert (within.verdict, within.value) == ("not resolvable", None)
    assert "a new run is due" in within.reason
    measured = [table(published={"model": {"test_accuracy": 0.7}})]
    assert judged_again(paper(tables=measured), run)[0].value == 0.7


@pytest.mark.parametrize("source", ["ours", "ours: reading of Table 2", "our reading of Table 2", "Ours"])
def test_what_we_added_is_never_counted_as_published(ran, source):
    claims = [sentence(more="a / strong", source=source), sentence(more="a / strong")]
    own, theirs = findings(paper(sentences=claims), ran, "standard")
    assert (own.ours, own.section) == (True, "Sentences of ours")
    assert (theirs.ours, theirs.section) == (False, "Sentences")
    assert published([own, theirs]) == [theirs]


def test_the_cause_that_is_nearest_to_a_number_counts(ran):
    causes = {"auc": "ours: less data", "a: auc": "ours: one study", "a / weak: auc": "their error: a misprint"}
    told = {"differs": "set-up unknown: all of it", "tolerance": {"auc": 0.001, "test_accuracy": 0.001}}
    far = {"strong": {"auc": 0.1}, "weak": {"auc": 0.1}}
    for number, wanted in ((0, told["differs"]), (1, causes["auc"]), (2, causes["a: auc"])):
        given = dict(list(causes.items())[:number])
        assert findings(paper(tables=[table(far, **told, causes=given)]), ran, "standard")[0].differs == wanted
    both = findings(paper(tables=[table(far, **told, causes=causes)]), ran, "standard")
    assert [f.differs for f in both] == [causes["a: auc"], causes["a / weak: auc"]]


def test_a_cause_of_a_number_that_was_not_published_is_refused():
    with pytest.raises(ValidationError, match="Table 1 has a cause for 'b: auc', of which it has no number"):
        paper(tables=[table({"strong": {"auc": 0.1}}, causes={"b: auc": "ours: less data"})])


def test_a_deviation_in_a_study_whose_run_is_due_is_ours(ran):
    claims = paper(
        tables=[table({"strong": {"auc": 0.1}}, differs="their error: a misprint")],
        sentences=[sentence(more="a / weak", less="a / strong", differs="their error: a misprint")],
    )
    assert {f.differs for f in findings(claims, ran, "standard")} == {"their error: a misprint"}
    older = dataclasses.replace(ran["a"], study=ran["a"].study.model_copy(update={"due": "another game"}))
    assert {f.differs for f in findings(claims, {**ran, "a": older}, "standard")} == {OLDER}
