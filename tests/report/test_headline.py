from __future__ import annotations

from jali.report.headline import headline, invalid, strongest
from jali.results import Results, Row

from . import sample


def attack(metric: str, value: float | None, channel: str = "score+explanation", **more: object) -> Row:
    return Row(kind="attack", metric=metric, value=value, channel=channel, attack="joint", explainer="e", **more)  # type: ignore[arg-type]


def contrast(low: float, high: float, metric: str = "tpr@0.01", explainer: str = "e") -> Row:
    value = (low + high) / 2
    return Row(kind="contrast", metric=metric, value=value, low=low, high=high, against="score", explainer=explainer)


def added(*rows: Row) -> str:
    lead = attack("tpr@0.01", 0.02, low=0.01, high=0.03)
    return headline(Results(rows=[lead, *rows])).additions[0]


def test_lead_counts_people_at_one_false_accusation_in_a_thousand() -> None:
    rows = [attack("tpr@0.001", 0.03, low=0.0234, high=0.0412), attack("tpr@0.01", 0.2, low=0.1, high=0.3)]
    page = headline(Results(rows=rows))
    assert page.lead == (
        "Out of 1,000 people in the training data, an attacker who accepts one false accusation in 1,000 "
        "would identify between 23 and 41; by chance alone it would be 1."
    )
    assert page.count == "between 23 and 41"


def test_lead_falls_back_to_the_next_resolvable_rate_and_then_to_the_auc() -> None:
    gated, rate = attack("tpr@0.001", None, reason="few"), attack("tpr@0.01", 0.02, low=-0.004, high=0.05)
    lead = headline(Results(rows=[gated, rate])).lead
    assert "ten false accusations in 1,000 would identify between 0 and 50; by chance alone it would be 10." in lead
    auc = attack("auc", 0.55, low=0.534, high=0.566)
    assert "in between 53.4 and 56.6 of 100 cases; chance: 50." in headline(Results(rows=[gated, auc])).lead
    assert headline(Results(rows=[gated])).lead.endswith("can resolve: few.")


def test_joint_attack_on_score_and_explanation_goes_before_any_other() -> None:
    other = Row(kind="attack", metric="tpr@0.001", value=0.9, channel="score+explanation", attack="threshold")
    group = attack("tpr@0.001", 0.8, group="sex=female")
    row, rivals = strongest(Results(rows=[other, group, attack("tpr@0.001", 0.1), attack("tpr@0.001", 0.2)]))
    assert (row.value if row else None, rivals) == (0.2, 2)


def test_additions_in_words() -> None:
    assert added(contrast(0.004, 0.012)) == "Over the score alone, the explanation adds between 4 and 12 in 1,000."
    assert "makes no measurable addition at a resolution of 5 in 1,000 (interval −3 to 5)" in added(
        contrast(-0.003, 0.005)
    )
    assert "adds nothing: with it the attack does worse by between 2 and 6 in 1,000" in added(contrast(-0.006, -0.002))
    assert "adds between 0.010 and 0.030 in AUC" in added(contrast(0.01, 0.03, "auc"))
    assert added(contrast(0.001, 0.002, "tpr@0.001")).endswith("in 1,000 at one false accusation in 1,000.")


def test_several_explanations_name_the_one_that_adds_most() -> None:
    gated = Row(kind="contrast", metric="tpr@0.01", value=None, reason="few", against="score", explainer="c")
    sentence = added(contrast(0.001, 0.005, explainer="a"), contrast(-0.002, 0.001, explainer="b"), gated)
    assert "that adds most (a) adds between 1 and 5" in sentence
    assert sentence.endswith("measurable for 1 of 3 explanations, not resolvable for 1.")
    assert added(gated) == "Over the score alone, what the explanation adds could not be resolved: few."


def test_notes_say_what_limits_the_headline() -> None:
    rows = [attack("tpr@0.01", 0.02, coverage=0.62, units=1), attack("tpr@0.01", 0.01)]
    text = " ".join(headline(Results(rows=rows)).notes)
    for part in ("strongest of 2", "62 % of guesses", "conditional on this model", "the score and the explanation"):
        assert part in text


def test_invalid_names_the_failed_checks() -> None:
    assert invalid(sample.full()) == ""
    assert invalid(sample.invalid()).startswith("This audit is invalid: blind baseline (AUC without the model 0.71")
