from __future__ import annotations

import io
import shlex

import pytest
from rich.console import Console

from jali.core import registry
from jali.core.errors import JaliError
from jali.report import figures
from jali.report.audit import first_screen, html, text
from jali.report.audit.findings import Harm
from jali.report.audit.options import options
from jali.report.audit.verdicts import verdicts
from jali.report.audit.whom import whom
from jali.results import Exposed, PositiveControl, Results, Row, StatedGuarantee
from tests.report import sample


def linked(explainer: str, right: tuple[float, float, float], gain: float = 0.4) -> list[Row]:
    """What linkage reached with one explanation."""
    about = {"kind": "query attack", "learns": "identity", "explainer": explainer, "attack": "linkage", "n": 200}
    value, low, high = right
    return [
        Row(metric="reidentified", value=value, low=low, high=high, **about),
        Row(metric="disclosed", value=0.5 + gain, low=0.5, high=0.99, **about),
        Row(metric="disclosure_advantage", value=gain, low=gain - 0.05, high=gain + 0.05, **about),
    ]


def added(explainer: str, ends: tuple[float, float], against: str = "score", detectable: float | None = 0.01) -> Row:
    """A paired difference in AUC."""
    value = sum(ends) / 2
    return Row(
        kind="contrast", metric="auc", value=value, low=ends[0], high=ends[1], explainer=explainer, against=against,
        channel=f"{against}+explanation", attack="joint", combined=True, n=2000, units=16, detectable=detectable,
    )  # fmt: skip


def control(explainer: str, against: str = "score") -> PositiveControl:
    return PositiveControl(
        explainer=explainer, against=against, sizes=[0.0, 0.02], recovered=[0.0, 0.02], power=[0.02, 1]
    )


def test_the_worst_harm_comes_first_and_leads():
    rows = [
        added("ixg", (0.05, 0.07)),
        *linked("nice", (0.92, 0.87, 0.98)),
        *linked("grouped", (0.02, 0.0, 0.08), -0.1),
    ]
    results = Results(rows=rows, controls=[control("ixg")])
    assert [(v.explainer, v.harm) for v in verdicts(results)] == [
        ("nice", Harm.IDENTITY),
        ("ixg", Harm.MEMBERSHIP),
        ("grouped", Harm.OPEN),  # up to 8 of 100 cannot be excluded
    ]
    shown = first_screen.screen(results)
    assert shown.lead == "Of 100 answers by nice, 87 to 98 lead to the right person."
    assert shown.mark == "87 to 98"


def test_a_false_claim_is_worse_than_anything_else():
    false = StatedGuarantee(what="laplace_recourse", claim="epsilon = 1", refuted="The draws show epsilon >= 6.")
    rows = [*linked("nice", (0.92, 0.87, 0.98)), added("laplace_recourse", (-0.001, 0.002))]
    found = verdicts(Results(rows=rows, guarantees=[false], controls=[control("laplace_recourse")]))
    assert (found[0].explainer, found[0].harm) == ("laplace_recourse", Harm.CLAIM)
    assert found[0].sentences[0] == "The draws show epsilon >= 6."


@pytest.mark.parametrize(
    ("ends", "detectable", "controlled", "harm", "words"),
    [
        ((0.01, 0.03), 0.01, True, Harm.MEMBERSHIP, "adds +0.010 to +0.030 AUC"),
        (
            (-0.004, 0.006),
            0.012,
            True,
            Harm.NONE,
            "adds less than 0.012 AUC to membership inference, for the attacks tried",
        ),
        ((-0.004, 0.006), 0.08, True, Harm.OPEN, "too small to tell"),
        ((-0.004, 0.006), None, True, Harm.OPEN, "too small to tell"),
        ((-0.004, 0.006), None, False, Harm.OPEN, "too small to tell"),
        ((-0.02, -0.004), 0.01, True, Harm.OPEN, "too small to tell"),
    ],
)
def test_only_a_control_that_would_have_found_it_reassures(ends, detectable, controlled, harm, words):
    results = Results(rows=[added("e", ends, detectable=detectable)], controls=[control("e")] if controlled else [])
    (found,) = verdicts(results)
    assert found.harm == harm
    assert words in found.sentences[0]


def test_an_explanation_that_separates_better_by_itself_is_a_finding():
    """The combined attack found nothing, but an attack on the explanation alone beats the baseline."""
    base = {"metric": "auc", "n": 2000, "units": 16, "explainer": "e"}
    rows = [
        added("e", (-0.002, 0.004)),
        Row(kind="paired", value=0.6, against="score", channel="score", attack="joint", **base),
        Row(kind="attack", value=0.7, low=0.69, high=0.71, channel="explanation", attack="lira", **base),
    ]
    (found,) = verdicts(Results(rows=rows, controls=[control("e")]))
    assert found.harm == Harm.MEMBERSHIP
    assert "by itself it separates members better" in found.sentences[0]


def test_the_best_of_many_attacks_on_the_explanation_alone_may_be_luck():
    """Where nothing leaks, one of a dozen attacks often lies above one half: no leak is claimed, none ruled out."""
    base = {"metric": "auc", "n": 2000, "units": 16, "explainer": "e"}
    alone = [
        Row(kind="attack", value=0.5 + 0.001 * k, low=0.491 + 0.001 * k, high=0.51, channel="explanation",
            attack="lira", signal=f"s{k}", **base)
        for k in range(12)
    ]  # fmt: skip
    paired = Row(kind="paired", value=0.5, against="score", channel="score", attack="joint", **base)
    (found,) = verdicts(Results(rows=[added("e", (-0.002, 0.004)), paired, *alone], controls=[control("e")]))
    assert found.harm == Harm.OPEN
    assert "too small to tell" in found.sentences[0]


@pytest.mark.parametrize(("decision", "reassures"), [(0.55, False), (0.69, True)])
def test_who_gets_an_answer_is_a_finding_unless_the_decision_tells_it(decision, reassures):
    """What is added to the score is judged on those with an answer; whether there is one is seen of everybody."""
    base = {"metric": "auc", "units": 16}
    rows = [
        added("e", (-0.002, 0.004)),
        Row(kind="paired", value=0.75, explainer="e", against="score", channel="score", attack="joint", **base),
        Row(kind="attack", value=decision, channel="decision", attack="joint", combined=True, **base),
        Row(
            kind="attack", value=0.68, low=0.66, high=0.70, explainer="e", channel="decision", attack="threshold",
            signal="answered", **base,
        ),
    ]  # fmt: skip
    results = Results(rows=rows, controls=[control("e")])
    (found,) = verdicts(results)
    assert ("adds less than" in text.summary(results)) == reassures
    if reassures:
        assert found.harm == Harm.NONE
    else:
        assert found.harm == Harm.MEMBERSHIP
        assert "yet whether it is given at all separates members better than the decision alone" in found.sentences[0]
        assert "whether the explanation is given at all tells more than the bare decision: threshold on answered " in (
            text.summary(results).replace("Whether", "whether")
        )


def test_suggested_commands_name_parts_that_exist():
    rows = linked("nice", (0.92, 0.87, 0.98))
    config = {"explain": ['nice(candidates="justified")'], "game": "rotate(models=8)"}
    results = Results(rows=[*rows, added("nice", (-0.1, 0.1), detectable=None)], config=config)
    (grouped,) = [o for o in options(results, verdicts(results)) if "--explain" in o.command]
    words = shlex.split(grouped.command)
    assert words[:3] == ["jali", "audit", "audit.toml"]
    specs = [words[k + 1] for k, word in enumerate(words) if word == "--explain"]
    assert specs == ['nice(candidates="justified")', 'k_anonymous(nice(candidates="justified"), k=10)']
    for text_of_part in specs:
        registry.build("explain", text_of_part)


def test_attributions_that_add_to_the_decision_lead_to_reason_codes():
    rows = [added("input_x_gradient", (0.05, 0.06), against="decision"), added("input_x_gradient", (-0.001, 0.001))]
    results = Results(rows=rows, controls=[control("input_x_gradient")], config={"explain": ["input_x_gradient"]})
    (option,) = options(results, verdicts(results))
    spec = shlex.split(option.command)[-1]
    assert spec == "reason_codes(input_x_gradient(), top=4)"
    assert registry.build("explain", spec).top == 4


def test_who_is_hit_names_groups_that_stand_out_and_records_that_always_do():
    about = {"kind": "attack", "metric": "tpr@0.01", "channel": "score", "attack": "joint", "n": 3000}
    rows = [
        Row(value=0.02, low=0.018, high=0.022, **about),
        Row(value=0.064, low=0.05, high=0.08, group="town: rare", **about),
        Row(value=0.03, low=0.01, high=0.05, group="sex = f", **about),
    ]
    exposed = [
        Exposed(record=3, recognised=4, member_of=4, rate=1.0),
        Exposed(record=4, recognised=3, member_of=4, rate=0.75),
    ]
    groups, records = whom(Results(rows=rows, exposed=exposed))
    assert groups.startswith("Most exposed: town: rare (6.4")
    assert "2 groups were compared" in groups
    assert "sex = f" not in groups
    assert records == "At least 1 record is recognised by every model that was trained on it."


def test_what_leaks_without_explanations_is_on_everybody():
    shown = first_screen.without(sample.full())
    assert shown.startswith("Without any explanation, the decision alone tells members from non-members with AUC")
    assert "and the score tells" in shown


def test_the_overview_has_a_cell_for_every_explanation_and_fits_a_terminal():
    shown = first_screen.screen(sample.full())
    assert {line.explainer for line in shown.overview} == set(sample.EXPLAINERS)
    assert all(set(line.cells) == set(first_screen.COLUMNS) for line in shown.overview)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(text.opening(sample.hostile()))
    assert max(map(len, console.export_text().splitlines())) <= 80


def test_a_notebook_shows_the_first_screen_and_no_markup_of_others():
    shown = html.notebook(sample.full())
    assert first_screen.screen(sample.full()).lead in shown
    assert "<script>window" not in html.notebook(sample.hostile())
    assert "invalid" in html.notebook(sample.invalid())


def test_what_explanations_add_can_be_drawn():
    results = sample.full()
    axes = figures.added(results)
    rows = [r for r in results.find(kind="contrast", metric="auc", group="") if r.value is not None]
    assert len(axes.get_yticklabels()) == len(rows)
    assert figures.added(results, axes=axes) is axes
    with pytest.raises(JaliError, match="no paired difference"):
        figures.added(sample.prediction_only())


def asked(explainer: str, ends: tuple[float, float], attack: str = "aloa") -> Row:
    """What an attack on membership that queries a surrogate reached."""
    about = {"kind": "query attack", "learns": "membership", "metric": "auc", "explainer": explainer, "attack": attack}
    return Row(value=sum(ends) / 2, low=ends[0], high=ends[1], n=2000, **about)


def test_of_two_that_name_people_the_worse_leads():
    rows = [*linked("few", (0.05, 0.02, 0.08)), *linked("many", (0.92, 0.87, 0.98))]
    assert [v.explainer for v in verdicts(Results(rows=rows))] == ["many", "few"]


def test_the_surest_of_several_attacks_speaks():
    """A larger value with a wide interval must not hide a smaller one that is sure."""
    wide, sure = linked("e", (0.10, 0.0, 0.3)), linked("e", (0.09, 0.06, 0.12))
    (found,) = verdicts(Results(rows=[wide[0], sure[0].model_copy(update={"attack": "other"})]))
    assert found.harm == Harm.IDENTITY
    rows = [added("e", (-0.004, 0.014)), added("e", (0.003, 0.006)).model_copy(update={"attack": "quantile_joint"})]
    (found,) = verdicts(Results(rows=rows, controls=[control("e")]))
    assert "adds +0.003 to +0.006 AUC" in found.sentences[0]


def test_an_attack_without_a_control_lets_nothing_be_said():
    rows = [
        added("e", (-0.001, 0.002)),
        added("e", (-0.004, 0.001), detectable=None).model_copy(update={"attack": "b"}),
    ]
    (found,) = verdicts(Results(rows=rows, controls=[control("e")]))
    assert found.harm == Harm.OPEN


def test_a_wide_interval_of_names_is_no_reassurance():
    (found,) = verdicts(Results(rows=linked("e", (0.3, 0.0, 0.9), -0.1)))
    assert found.harm == Harm.OPEN
    assert "Whether it names people: too small to tell" in found.sentences[0]
    (found,) = verdicts(Results(rows=linked("e", (0.0, 0.0, 0.004), -0.1)))
    assert (found.harm, found.sentences) == (
        Harm.NONE,
        ("No attack tried could name people: 0 to 0.4 of 100 answers lead to the right person.",),
    )


@pytest.mark.parametrize("metric", ["tpr@0.01", "tpr@0.001"])
def test_an_addition_at_few_false_positives_is_a_finding(metric):
    rate = added("e", (0.02, 0.04)).model_copy(update={"metric": metric, "detectable": None})
    (found,) = verdicts(Results(rows=[added("e", (-0.002, 0.004)), rate], controls=[control("e")]))
    assert found.harm == Harm.MEMBERSHIP


def test_what_is_learnt_by_querying_a_surrogate_is_a_finding():
    results = Results(rows=[added("tree", (-0.002, 0.004)), asked("tree", (0.88, 0.92))], controls=[control("tree")])
    (found,) = verdicts(results)
    assert found.harm == Harm.MEMBERSHIP
    assert found.sentences == ("By querying it, aloa tells members from non-members with AUC 0.880–0.920.",)
    assert first_screen.screen(results).lead == "tree helps to tell who was in the training data."


def test_a_baseline_without_a_number_is_not_passed_over():
    gone = added("e", (0.0, 0.0)).model_copy(update={"value": None, "low": None, "high": None, "reason": "too few"})
    rows = [gone, added("e", (-0.002, 0.004), against="decision")]
    (found,) = verdicts(Results(rows=rows, controls=[control("e", "decision")]))
    assert found.harm == Harm.OPEN
    assert found.sentences[0] == "What it adds to the score could not be resolved."


def test_values_given_away_lead_and_are_those_of_one_attack():
    about = {"kind": "query attack", "learns": "identity", "explainer": "e", "n": 200}
    rows = [
        Row(metric="disclosed", value=0.9, attack="a", **about),
        Row(metric="disclosure_advantage", value=0.05, low=0.01, high=0.09, attack="a", **about),
        Row(metric="disclosed", value=0.6, attack="b", **about),
        Row(metric="disclosure_advantage", value=0.4, low=0.3, high=0.5, attack="b", **about),
    ]
    (found,) = verdicts(Results(rows=rows))
    assert found.harm == Harm.ATTRIBUTES
    assert "knows 60\u202f% of that person's other values, against 20\u202f% without" in found.sentences[0]
    assert first_screen.screen(Results(rows=rows)).lead.startswith("e gives values away.")
    (found,) = verdicts(Results(rows=rows[1:2]))
    assert found.sentences == ("The attacker learns 5\u202f% more of that person's other values.",)


def test_no_defence_is_suggested_on_itself_and_none_of_another_explainer_is_quoted():
    rows = [*linked("k_anonymous", (0.5, 0.4, 0.6)), *linked("nice", (0.9, 0.8, 1.0))]
    config = {"explain": ['k_anonymous(nice(candidates="justified"), k=3)', "nice"]}
    results = Results(rows=rows, config=config)
    words = [o.said + o.command for o in options(results, verdicts(results))]
    assert not any("k_anonymous(k_anonymous" in text for text in words)
    assert not any("Measured here" in text for text in words)
    own = Results(rows=linked("nice", (0.9, 0.8, 1.0)), config={"explain": ["nice"], "evidence": "evidence.npz"})
    (option,) = options(own, verdicts(own))
    assert not option.command
    assert 'explain=["nice", "k_anonymous(nice(), k=10)"]' in option.what


def test_a_claim_of_the_model_itself_leads_too():
    false = StatedGuarantee(what="the predictions", claim="epsilon = 1", refuted="The draws show epsilon >= 6.")
    assert first_screen.screen(Results(guarantees=[false])).lead == "The privacy claim of the predictions is false."
    assert "contradicted" in first_screen.screen(Results(contradicted=["too much"])).lead


@pytest.mark.parametrize(
    ("rate", "harm", "words"),
    [
        ({"value": 0.001, "low": -0.002, "high": 0.004}, Harm.NONE, "for the attacks tried."),
        (
            {"value": 0.01, "low": -0.02, "high": 0.05},
            Harm.OPEN,
            "up to 50 more of 1,000 members lie within the interval",
        ),
        ({"value": None, "reason": "too few"}, Harm.OPEN, "what it adds could not be resolved: too small to tell."),
    ],
)
def test_a_small_addition_in_auc_does_not_reassure_about_a_few_members(rate, harm, words):
    """Five of 1,000 members who are recognised for certain raise the AUC by .005 or less."""
    few = Row(kind="contrast", metric="tpr@0.01", explainer="e", against="score", units=16, n=2000, **rate)
    results = Results(rows=[added("e", (-0.004, 0.006), detectable=0.012), few], controls=[control("e")])
    (found,) = verdicts(results)
    assert found.harm == harm
    assert "adds less than 0.012 AUC" in found.sentences[0]
    assert words in found.sentences[0]


def test_no_sentence_limits_a_rate():
    """The positive control plants its additions in AUC, so nothing was shown about rates."""
    few = Row(kind="contrast", metric="tpr@0.01", explainer="e", against="score", value=0.0, low=-0.002, high=0.002)
    (found,) = verdicts(Results(rows=[added("e", (-0.004, 0.006)), few], controls=[control("e")]))
    assert "1,000" not in " ".join(found.sentences)
