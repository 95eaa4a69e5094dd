from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from jali.report.audit.paired_differences import additions
from jali.results import PositiveControl, Results, Row

REASSURING = re.compile(r"at most|adds? nothing|nothing measurable|measurabl|hinder|harmless|\bsafe\b", re.IGNORECASE)
SOME = {"tpr@0.01": 0.04, "auc": 0.6}


def contrast(low: float, high: float, metric: str = "tpr@0.01", explainer: str = "e", **more: object) -> Row:
    ends = {"value": (low + high) / 2, "low": low, "high": high}
    head = {"kind": "contrast", "metric": metric, "against": "score", "channel": "score+explanation", "units": 16}
    return Row(**(head | {"explainer": explainer, "attack": "joint"} | ends | more))  # type: ignore[arg-type]


def sides(row: Row, without: float) -> list[Row]:
    """Both sides of a difference on the same people."""
    gone = {"low": None, "high": None, "kind": "paired"}
    with_ = without + (row.value or 0.0)
    return [
        row.model_copy(update=gone | {"channel": "score", "value": without}),
        row.model_copy(update=gone | {"value": with_}),
    ]


def sentence_of(*rows: Row, controls: Sequence[PositiveControl] = ()) -> str:
    (sentence,) = additions(Results(rows=list(rows), controls=list(controls)))
    assert not REASSURING.search(sentence)
    return sentence.removeprefix("Compared with the score alone, ").removesuffix(".")


TEN = "with ten people in 1,000 wrongly flagged"
GATED = Row(kind="contrast", metric="tpr@0.01", value=None, reason="few", against="score", explainer="c")
MORAL = "An attacker may ignore what hurts: read this as no finding, not as protection"


def test_one_explanation_that_adds() -> None:
    assert sentence_of(contrast(0.004, 0.012)) == f"the explanation adds between 4 and 12 in 1,000 ({TEN})"
    assert sentence_of(contrast(0.01, 0.03, "auc")) == "the explanation adds between 0.010 and 0.030 in AUC"
    assert sentence_of(contrast(0.001, 0.002, "tpr@0.001")).endswith("(with one person in 1,000 wrongly flagged)")
    assert sentence_of(GATED) == "what the explanation adds could not be resolved: few"


def test_less_than_x_is_said_where_so_much_would_have_been_found() -> None:
    none = "no attack tried found that the explanation adds anything"
    auc = contrast(-0.008, 0.0115, "auc", detectable=0.011)
    limit = (
        "; for the attacks tried it adds less than 0.012 in AUC: an addition of 0.011 would have been found in 8 of 10 "
        "audits like this"
    )
    assert sentence_of(auc) == f"{none} in AUC{limit}"
    assert sentence_of(contrast(-0.003, 0.005), auc) == f"{none} {TEN} or in AUC{limit}"


def test_less_than_x_is_never_less_than_what_the_positive_control_finds() -> None:
    narrow = sentence_of(contrast(-0.0002, 0.0001, "auc", detectable=0.0153))
    assert "adds less than 0.016 in AUC: an addition of 0.016 would have been found" in narrow


@pytest.mark.parametrize("x", [0.0201, 0.05])
def test_too_small_to_tell_names_what_it_takes(x: float) -> None:
    row = contrast(-0.01, 0.012, "auc", n=768, detectable=x)
    many = {0.0201: "780 people or 17", 0.05: "4,800 people or 100"}[x]  # 768 or 16 times (x / 0.02)^2, rounded up
    least = {0.0201: "0.021", 0.05: "0.050"}[x]
    assert sentence_of(row) == (
        "no attack tried found that the explanation adds anything in AUC; this audit is too small to tell: it finds "
        f"additions of {least} in AUC or more in 8 of 10 cases; to find 0.02, about {many} target models are needed"
    )
    assert "less than" not in sentence_of(row)


def test_a_wide_interval_is_too_small_to_tell_whatever_the_control_finds() -> None:
    sentence = sentence_of(contrast(-0.02, 0.04, "auc", n=500, detectable=0.01))
    assert "this audit is too small to tell: it finds additions of 0.040 in AUC or more" in sentence


def test_with_one_target_model_only_people_are_named() -> None:
    sentence = sentence_of(contrast(-0.05, 0.05, "auc", n=300, units=1, detectable=0.06))
    assert sentence.endswith("to find 0.02, about 2,700 people are needed")


def test_with_gaps_people_with_an_explanation_are_named() -> None:
    sentence = sentence_of(contrast(-0.05, 0.05, "auc", n=300, coverage=0.152, detectable=0.06))
    assert "in 8 of 10 cases (on the 15 % of guesses with an explanation); to find" in sentence
    assert "about 2,700 people with an explanation or 150 target models" in sentence


def test_without_a_positive_control_nothing_is_said_about_what_could_have_been_found() -> None:
    row = contrast(-0.008, 0.011, "auc")
    unknown = "this audit cannot say what it could have found"
    none = f"no attack tried found that the explanation adds anything in AUC; {unknown}"
    assert sentence_of(row) == none
    few = PositiveControl(explainer="e", against="score", reason="it needs 4 shadow models, and there are 2")
    said = f"{none}, as there is no positive control: it needs 4 shadow models, and there are 2"
    assert sentence_of(row, controls=[few]) == said
    assert sentence_of(row, controls=[few.model_copy(update={"explainer": "other"})]) == none
    silent = few.model_copy(update={"reason": ""})
    assert sentence_of(row, *sides(row, 0.997), controls=[silent]).endswith(
        "score alone leaves room for 0.003, too little to plant"
    )


def test_an_audit_that_finds_no_planted_addition_is_too_small_to_tell() -> None:
    power = {"sizes": [0.0, 0.05], "recovered": [0.0, 0.01], "power": [0.02, 0.39]}
    blind = PositiveControl(explainer="e", against="score", **power)
    assert sentence_of(contrast(-0.001, 0.001, "auc"), controls=[blind]) == (
        "no attack tried found that the explanation adds anything in AUC; this audit is too small to tell: an "
        "addition of 0.05 in AUC would be found in 3 of 10 audits like this, and how many people it takes to find 0.02 "
        "cannot be said"
    )


def test_an_audit_in_which_nothing_could_be_seen_says_so() -> None:
    row = contrast(-0.35, 0.35, "auc", n=100, detectable=0.2)
    assert sentence_of(row, *sides(row, 0.75)) == (
        "no attack tried found that the explanation adds anything in AUC; this audit is too small to tell: it "
        "finds additions of 0.350 in AUC or more in 8 of 10 cases, and the score alone leaves room for 0.250; to find "
        "0.02, about 31,000 people or 4,900 target models are needed"
    )
    little = contrast(-0.001, 0.001, "auc", n=100, detectable=0.01)
    assert sentence_of(little, *sides(little, 0.995)).endswith(
        "in 8 of 10 cases, and the score alone leaves room for 0.005"
    )


def test_a_combination_made_to_use_the_explanation_is_judged_like_any_other() -> None:
    forced = {"value": 0.0, "unchanged": 16}
    sentence = sentence_of(contrast(-0.004, 0.001, **forced), contrast(-0.002, 0.001, "auc", detectable=0.01, **forced))
    assert "adds less than 0.010 in AUC" in sentence
    assert "made no use" not in sentence


def test_a_rate_without_spread_leaves_the_word_to_the_auc() -> None:
    auc = contrast(-0.002, 0.001, "auc", detectable=0.01)
    for unchanged in (0, 16):
        sentence = sentence_of(contrast(0.0, 0.0, unchanged=unchanged), auc)
        assert sentence.startswith("no attack tried found that the explanation adds anything in AUC; for the attacks")


def test_a_combination_that_made_no_use_of_the_explanation_says_nothing_about_it() -> None:
    said = "the combined attack made no use of the explanation, so this audit cannot say what it adds"
    assert sentence_of(contrast(0.0, 0.0)) == said
    assert (
        sentence_of(contrast(0.0, 0.0, units=8, unchanged=8), contrast(0.0, 0.0, "auc", units=8, unchanged=8)) == said
    )
    two = [contrast(0.0, 0.0, explainer=e) for e in ("b", "a")]
    assert sentence_of(*two) == "the combined attack made no use of b and a, so this audit cannot say what they add"


def test_the_same_rate_with_and_without_is_not_called_unused() -> None:
    sentence = sentence_of(contrast(0.0, 0.0, units=8, unchanged=0))
    assert sentence == (
        f"with the explanation the combined attack achieves exactly what it does without {TEN}, so this audit cannot "
        "say what it could have found"
    )


def test_a_negative_addition_blames_the_attack() -> None:
    assert sentence_of(contrast(-0.006, -0.002)) == (
        f"with the explanation the combined attack does worse, by between 2 and 6 in 1,000 ({TEN}): it combines badly. "
        + MORAL
    )
    in_auc = sentence_of(contrast(-0.003, 0.005), contrast(-0.03, -0.01, "auc"))
    assert in_auc.startswith("no attack tried found")
    assert in_auc.endswith(f"does worse, by between 0.010 and 0.030 in AUC: it combines badly. {MORAL}")
    assert sentence_of(contrast(-0.006, -0.002), contrast(-0.03, -0.01, "auc")).count(MORAL) == 1


def test_an_attack_that_does_worse_limits_nothing_but_may_be_too_small() -> None:
    sentence = sentence_of(contrast(-0.03, -0.01, "auc", detectable=0.01))
    assert sentence.endswith(MORAL)
    small = sentence_of(contrast(-0.03, -0.01, "auc", n=300, detectable=0.1))
    assert small.endswith(
        f"{MORAL}; this audit is too small to tell what the explanation adds: it finds additions of 0.100 in AUC or "
        "more in 8 of 10 cases; to find 0.02, about 7,500 people or 400 target models are needed"
    )
    rate = sentence_of(contrast(-0.006, -0.002), contrast(-0.002, 0.001, "auc", detectable=0.01))
    assert "adds less than 0.010 in AUC" in rate
    assert "does worse, by between 2 and 6 in 1,000" in rate


def test_values_without_interval() -> None:
    bare = contrast(0.002, 0.002).model_copy(update={"low": None, "high": None})
    unknown = "without an interval this audit cannot say what it could have found"
    assert sentence_of(bare) == f"with the explanation the combined attack gains about 2 in 1,000; {unknown}"
    less = bare.model_copy(update={"value": -0.002})
    assert sentence_of(less) == f"no attack tried found that the explanation adds anything; {unknown}"
    assert sentence_of(bare, contrast(0.001, 0.003, explainer="b")).endswith(f"gains about 2 in 1,000; {unknown}")


def test_several_explanations_are_counted_and_the_strongest_named() -> None:
    b = [contrast(-0.002, 0.001, explainer="b"), contrast(-0.002, 0.001, "auc", "b", detectable=0.004)]
    assert sentence_of(contrast(0.001, 0.005, explainer="a"), *b, GATED) == (
        f"1 of 3 explanations adds: a, between 1 and 5 in 1,000 ({TEN}). No attack tried found that b adds anything "
        f"{TEN} or in AUC; for the attacks tried it adds less than 0.004 in AUC: an addition of 0.004 would have "
        "been found in 8 of 10 audits like this. What c adds could not be resolved: few"
    )
    both = sentence_of(contrast(0.001, 0.005, explainer="a"), contrast(0.004, 0.012, explainer="b"))
    assert both == f"2 of 2 explanations add, b most: between 4 and 12 in 1,000 ({TEN})"


def test_several_explanations_are_limited_by_the_widest() -> None:
    rows = [contrast(-0.001, h, "auc", e, detectable=d) for e, h, d in (("a", 0.003, 0.012), ("b", 0.014, 0.011))]
    assert sentence_of(*rows) == (
        "no attack tried found that a and b add anything in AUC; for the attacks tried each of them adds less than "
        "0.014 in AUC (b): an addition of 0.012 would have been found in 8 of 10 audits like this"
    )


def test_explanations_of_which_different_things_are_known_have_a_sentence_each() -> None:
    known = {"limited": 0.01, "small": 0.04, "wide": 0.06, "unknown": None}
    rows = [contrast(-0.001, 0.001, "auc", e, n=100, detectable=d) for e, d in known.items()]
    first, second, third = sentence_of(*rows).split(". ")
    assert first.startswith(
        "no attack tried found that limited adds anything in AUC; for the attacks tried it adds less"
    )
    assert second.startswith("No attack tried found that small and wide add anything in AUC; this audit is too small")
    assert "0.060 in AUC or more in 8 of 10 cases (wide); to find 0.02, about 900 people" in second
    assert (
        third
        == "No attack tried found that unknown adds anything in AUC; this audit cannot say what it could have found"
    )


def test_what_is_gated_at_a_rate_is_said_in_auc() -> None:
    mine = contrast(-0.001, 0.001, "auc", "c", detectable=0.01)
    sentence = sentence_of(contrast(0.001, 0.005, explainer="a"), GATED, mine)
    assert (
        "No attack tried found that c adds anything in AUC; for the attacks tried it adds less than 0.010" in sentence
    )
    assert sentence.endswith(f"What c adds {TEN} could not be resolved: few")


def test_many_explanations_are_counted_and_not_listed() -> None:
    some = [contrast(-0.01, 0.01, explainer=f"e{k}") for k in range(5)]
    assert sentence_of(*some).startswith("no attack tried found that 5 explanations add anything")


def test_the_baseline_on_the_same_people_stands_beside() -> None:
    row = contrast(0.004, 0.012)
    same = "40 without and 48 with it, for the same people"
    assert sentence_of(row, *sides(row, 0.04)) == f"the explanation adds between 4 and 12 in 1,000 ({TEN}; {same})"


def test_the_same_in_auc_stands_beside() -> None:
    assert sentence_of(contrast(0.004, 0.012), contrast(0.01, 0.03, "auc")).endswith(f"({TEN}; AUC +0.010 to +0.030)")


def test_what_shows_in_the_auc_only_is_not_passed_over() -> None:
    sentence = sentence_of(contrast(-0.003, 0.005), contrast(0.01, 0.03, "auc", detectable=0.008))
    assert sentence == (
        "there is an addition in AUC: +0.010 to +0.030. No attack tried found that the explanation adds anything "
        f"{TEN}; what could have been found there is not known"
    )


@pytest.mark.parametrize("ends", [(-0.003, 0.005), (0.0, 0.0), (-0.006, -0.002)])
def test_an_attack_on_the_explanation_alone_that_beats_the_baseline_is_an_attack_tried(ends: tuple[float, ...]) -> None:
    row = contrast(*ends, n=500)
    single = {"kind": "attack", "channel": "explanation", "metric": "tpr@0.01", "explainer": "e", "n": 500}
    better = Row(**single, attack="lira", signal="total", value=0.06, low=0.05, high=0.07)
    other = Row(**single, attack="ratio", signal="total", value=0.03, low=0.02, high=0.04)
    sentence = sentence_of(row, *sides(row, 0.04), better, other)
    assert "no attack tried" not in sentence.lower()
    assert sentence.endswith(
        "Seeing the explanation alone, lira on total reaches between 50 and 70 in 1,000, where the score alone gives "
        "40 for the same people (the best of 2 such attacks, chosen afterwards)"
    )
    sharp = contrast(-0.001, 0.001, "auc", n=500, detectable=0.01)
    assert "less than" not in sentence_of(row, *sides(row, 0.04), better, other, sharp)
    elsewhere = better.model_copy(update={"n": 3000})
    assert "chosen afterwards" not in sentence_of(row, *sides(row, 0.04), elsewhere, other)


def test_an_attack_that_beats_the_baseline_in_auc_only_counts_too() -> None:
    rows = [contrast(-0.003, 0.005, n=500), contrast(-0.001, 0.001, "auc", n=500, detectable=0.01)]
    single = {"kind": "attack", "channel": "explanation", "metric": "auc", "explainer": "e", "n": 500}
    better = Row(**single, attack="lira", signal="total", value=0.7, low=0.65, high=0.75)
    sentence = sentence_of(*rows, *sides(rows[0], 0.04), *sides(rows[1], 0.6), better)
    assert sentence == (
        f"the combined attack did not find that the explanation adds anything {TEN} or in AUC, so this audit cannot "
        "say what it adds. Seeing the explanation alone, lira on total reaches between 0.650 and 0.750 in AUC, where "
        "the score alone gives 0.600 for the same people"
    )


def test_an_explanation_that_adds_by_one_attack_is_not_in_doubt_by_another() -> None:
    sentence = sentence_of(contrast(0.004, 0.012), contrast(-0.003, 0.005, attack="other"))
    assert "no attack tried" not in sentence.lower()
