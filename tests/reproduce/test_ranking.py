"""Sentences about the ranks of methods, and about differences that grow."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from jali.reproduce.findings import findings, judged_again
from jali.reproduce.keeping import TO_COME, joined, with_studies_to_come
from jali.reproduce.numbers import Ran
from jali.results import Row
from jali.results.reproduction import Drawing, Reproduction, Series, Study
from jali.stats.ranks import critical_distance
from tests.reproduce.test_findings import only, paper, sentence

METHODS = {"first": ["a / strong", "b / strong"], "second": ["a / weak", "b / weak"]}
DIAGRAM = {"figure": "Figure 2", "metric": "auc", "methods": METHODS}


def measured(name: str, **values: float) -> Ran:
    """A study whose methods have these values, as metrics of query attacks over 4 targets that agree."""
    overall = {method: {"auc": np.full(4, value)} for method, value in values.items()}
    return Ran(Study(name=name, parts={}), overall=overall)


def ranked(**fields):
    return sentence(diagram="Figure 2", **fields)


def settings(*pairs: tuple[float, float]) -> dict[str, Ran]:
    return {name: measured(name, strong=s, weak=w) for name, (s, w) in zip("ab", pairs, strict=True)}


def of(*sentences, diagrams=(DIAGRAM,), **fields):
    return paper(critical_differences=list(diagrams), sentences=list(sentences), **fields)


def test_a_method_that_is_always_better_ranks_above_the_other():
    claims = of(ranked(kind="rank", more="first", less="second"))
    found = only(claims, settings((0.7, 0.6), (0.8, 0.5)))
    assert (found.kind, found.verdict, found.value, found.units) == ("order", "matches", 1.0, 2)
    assert only(claims, settings((0.5, 0.6), (0.5, 0.8))).verdict == "deviates"
    # Better once and worse once: the mean of +1 and -1 over two settings, with an interval that is very wide.
    open_ = only(claims, settings((0.7, 0.6), (0.5, 0.8)))
    assert (open_.verdict, open_.value) == ("not resolvable", 0.0)


def test_alike_is_the_widest_difference_in_critical_distances():
    claims = of(ranked(kind="alike"))
    found = only(claims, settings((0.7, 0.6), (0.8, 0.5)))
    # Two methods, two settings: q = 2.772 for two, distance = 2.772 sqrt(2 * 3 / 24) = 1.386; ranks 1 and 2.
    assert critical_distance(2, 2) == pytest.approx(1.386, abs=1e-3)
    assert found.value == pytest.approx(1 / 1.386, abs=1e-3)
    assert (found.kind, found.verdict, found.tolerance) == ("same", "matches", 1.0)
    many = {"first": ["a / strong"] * 12, "second": ["a / weak"] * 12}
    wide = only(of(ranked(kind="alike"), diagrams=[{**DIAGRAM, "methods": many}]), settings((0.7, 0.6), (0.8, 0.5)))
    assert wide.verdict == "deviates"  # 12 settings: the critical distance is .57, and the ranks are 1 apart


def test_ranks_need_two_settings_and_every_study_of_the_diagram():
    claims = of(ranked(kind="alike"))
    both = settings((0.7, 0.6), (0.8, 0.5))
    del both["b"].overall["weak"]
    assert "in 1 settings; ranks need 2" in only(claims, both).reason
    assert findings(claims, {"a": both["a"]}, "standard") == []


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "rank", "more": "first", "less": "third", "diagram": "Figure 2"}, "does not rank 'third'"),
        ({"kind": "alike", "diagram": "Figure 9"}, "no such diagram"),
        ({"kind": "alike"}, "name a `diagram`"),
        ({"more": "a / strong", "diagram": "Figure 2"}, "name a `diagram`"),
        ({"kind": "growth", "more": "a / strong", "less": "a / weak"}, "more_before"),
    ],
)
def test_a_claim_about_nothing_is_refused(fields, says):
    with pytest.raises(ValidationError, match=says):
        of(sentence(**fields))


def test_growth_is_a_difference_of_differences():
    """.30 - .10 now against .15 - .10 before, four independent measures with a half-width of .01 each."""

    def row(group: str, value: float) -> Row:
        return Row(kind="measure", metric="auc", group=group, value=value, low=value - 0.01, high=value + 0.01, units=5)

    rows = [row("few", 0.30), row("many", 0.10)]
    before = [row("few", 0.15), row("many", 0.10)]
    ran = {"a": Ran(Study(name="a", parts={}, measures=rows)), "b": Ran(Study(name="b", parts={}, measures=before))}
    places = {"more": "a / strong @ few", "less": "a / strong @ many"}
    since = {"more_before": "b / strong @ few", "less_before": "b / strong @ many"}
    found = only(paper(sentences=[sentence(kind="growth", **places, **since)]), ran)
    assert found.value == pytest.approx(0.15)
    assert found.high - found.value == pytest.approx(0.02)  # sqrt of four times .01 squared
    assert (found.verdict, found.kind) == ("matches", "order")


def test_ranks_of_an_earlier_run_stay_until_any_study_is_run_again(tmp_path, monkeypatch):
    claims = of(ranked(kind="alike"), ranked(kind="rank", more="first", less="second"))
    ran = settings((0.7, 0.6), (0.8, 0.5))
    made = findings(claims, ran, "standard")
    studies = [r.study for r in ran.values()]
    kept = Reproduction(
        paper="p", title="t", citation="c", scale="standard", command="", findings=made, studies=studies
    )
    assert [f.value for f in judged_again(claims, kept)] == [f.value for f in made]
    now = kept.model_copy(update={"studies": studies[:1], "findings": []})
    monkeypatch.setattr("jali.reproduce.keeping.read", lambda *_: kept)
    assert [f.value for f in joined(claims, tmp_path / "p.json", now).findings] == [None, None]


def attacked(name: str, **values: float) -> Study:
    """A study with an AUC of each of its attacks among its measures, each known to .01."""
    return Study(name=name, parts={}, measures=[row(a, v) for a, v in values.items()])


def row(attack: str, value: float, half: float = 0.01) -> Row:
    ends = {"value": value, "low": value - half, "high": value + half}
    return Row(kind="query attack", metric="auc", attack=attack, knowledge="noise", **ends)


def test_ranks_and_their_diagram_are_made_anew_from_the_measures_of_all_studies(tmp_path, monkeypatch):
    methods = {
        "strong": {"query_attack": "aloa", "knowledge": "noise"},
        "weak": {"query_attack": "label_only", "knowledge": "noise"},
    }
    claims = of(ranked(kind="rank", more="first", less="second"), methods=methods)
    kept = Reproduction(
        paper="p",
        title="t",
        citation="c",
        scale="standard",
        command="",
        studies=[attacked("a", aloa=0.5, label_only=0.7), attacked("b", aloa=0.8, label_only=0.6)],
    )
    now = kept.model_copy(update={"studies": [attacked("a", aloa=0.9, label_only=0.7)]})
    monkeypatch.setattr("jali.reproduce.keeping.read", lambda *_: kept)
    found = joined(claims, tmp_path / "p.json", now)
    assert [(f.value, f.verdict) for f in found.findings] == [(1.0, "matches")]
    assert [d.ranked.rank for d in found.drawings if d.ranked] == [(1.0, 2.0)]
    empty = Drawing(figure="Figure 4", title="F1", kind="trade-off", series=[Series(label="a", x=[], y=[])])
    full = empty.model_copy(update={"series": [Series(label="a", x=[1.0], y=[0.5])]})
    kept = kept.model_copy(update={"drawings": [full]})
    found = joined(claims, tmp_path / "p.json", now.model_copy(update={"drawings": [empty]}))
    assert full in found.drawings  # a study that was not run now does not empty its panel
    assert judged_again(claims, kept)[0].value == 0.0  # better in one setting, worse in the other


def test_a_number_that_is_not_well_known_leaves_its_ranks_open():
    """The settings are given: what is uncertain is the numbers in them, not which settings there are."""
    methods = {
        "strong": {"query_attack": "aloa", "knowledge": "noise"},
        "weak": {"query_attack": "label_only", "knowledge": "noise"},
    }
    claims = of(ranked(kind="rank", more="first", less="second"), methods=methods)
    sure = Study(name="a", parts={}, measures=[row("aloa", 0.7), row("label_only", 0.6)])
    unsure = Study(name="b", parts={}, measures=[row("aloa", 0.7, half=0.2), row("label_only", 0.6, half=0.2)])
    without = Study(
        name="b", parts={}, measures=[row("aloa", 0.7), Row(**{**vars(row("label_only", 0.6)), "low": None})]
    )
    for other, ends, verdict in (
        (sure, (1.0, 1.0), "matches"),
        (unsure, (0.0, 1.0), "not resolvable"),  # in "b" the first may be the worse
        (without, (None, None), "not resolvable"),
    ):
        ran = {"a": Ran(sure), "b": Ran(other.model_copy(update={"name": "b"}))}
        found = only(claims, ran)
        assert (found.value, found.low, found.high, found.verdict) == (1.0, *ends, verdict)


def test_claims_about_a_study_that_no_run_has_had_are_not_resolvable():
    claims = of(sentence(more="b / strong", less="b / weak"))
    kept = Reproduction(paper="p", title="t", citation="c", scale="standard", command="", studies=[attacked("a")])
    assert judged_again(claims, kept) == []
    whole = with_studies_to_come(claims, kept)
    assert [study.name for study in whole.studies] == ["a", "b"]
    (found,) = judged_again(claims, whole)
    assert (found.verdict, found.reason) == ("not resolvable", TO_COME)
