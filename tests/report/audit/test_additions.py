from __future__ import annotations

import re

import pytest

from jali.report.audit.additions import additions
from jali.results import Results, Row

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


def sentence_of(*rows: Row) -> str:
    (sentence,) = additions(Results(rows=list(rows)))
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


def test_nothing_found_is_said_of_the_attacks_tried_with_what_could_have_been_found() -> None:
    # Half of the interval is 4 in 1,000; 1.4294 times that are 5.7.
    assert sentence_of(contrast(-0.003, 0.005)) == (
        f"no attack tried found that the explanation adds anything {TEN}; this audit could have found 5.7 in 1,000 or "
        "more, four times in five"
    )
    assert sentence_of(contrast(-0.01, 0.01, "auc")) == (
        "no attack tried found that the explanation adds anything in AUC; this audit could have found 0.014 in AUC or "
        "more, four times in five"
    )


def test_an_audit_in_which_nothing_could_be_seen_says_so() -> None:
    row = contrast(-0.35, 0.35, "auc")
    assert sentence_of(row, *sides(row, 0.55)) == (
        "no attack tried found that the explanation adds anything in AUC; this audit could not have found any "
        "addition that is possible here"
    )


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


def test_models_that_left_the_explanation_out_are_counted() -> None:
    sentence = sentence_of(contrast(-0.004, 0.004, units=8, unchanged=4))
    assert sentence.endswith("have found 11 in 1,000 or more, four times in five (left out in 4 of 8 models)")


def test_an_interval_that_rests_on_a_few_models_only_is_no_finding() -> None:
    narrow = contrast(-0.0004, 0.0002, units=16, unchanged=15)
    said = "the combined attack left the explanation out in 15 of 16 models, so this audit cannot say what it adds"
    assert sentence_of(narrow) == said
    assert sentence_of(narrow, contrast(-0.0001, 0.0001, "auc", units=16, unchanged=15)) == said
    assert sentence_of(contrast(0.0002, 0.0004, units=16, unchanged=15)).startswith("the explanation adds")


def test_a_negative_addition_blames_the_attack() -> None:
    assert sentence_of(contrast(-0.006, -0.002)) == (
        f"with the explanation the combined attack does worse, by between 2 and 6 in 1,000 ({TEN}): it combines badly. "
        + MORAL
    )
    in_auc = sentence_of(contrast(-0.003, 0.005), contrast(-0.03, -0.01, "auc"))
    assert in_auc.startswith("no attack tried found")
    assert in_auc.endswith(f"does worse, by between 0.010 and 0.030 in AUC: it combines badly. {MORAL}")
    assert sentence_of(contrast(-0.006, -0.002), contrast(-0.03, -0.01, "auc")).count(MORAL) == 1


def test_values_without_interval() -> None:
    bare = contrast(0.002, 0.002).model_copy(update={"low": None, "high": None})
    unknown = "without an interval this audit cannot say what it could have found"
    assert sentence_of(bare) == f"with the explanation the combined attack gains about 2 in 1,000; {unknown}"
    less = bare.model_copy(update={"value": -0.002})
    assert sentence_of(less) == f"no attack tried found that the explanation adds anything; {unknown}"
    assert sentence_of(bare, contrast(0.001, 0.003, explainer="b")).endswith(f"gains about 2 in 1,000; {unknown}")


def test_several_explanations_are_counted_and_the_strongest_named() -> None:
    some = [contrast(0.001, 0.005, explainer="a"), contrast(-0.002, 0.001, explainer="b"), GATED]
    assert sentence_of(*some) == (
        f"1 of 3 explanations adds: a, between 1 and 5 in 1,000 ({TEN}). No attack tried found that b adds anything "
        f"{TEN}; this audit could have found 2.1 in 1,000 or more, four times in five. What c adds could not be "
        "resolved: few"
    )
    both = sentence_of(contrast(0.001, 0.005, explainer="a"), contrast(0.004, 0.012, explainer="b"))
    assert both == f"2 of 2 explanations add, b most: between 4 and 12 in 1,000 ({TEN})"


def test_what_could_be_found_with_any_of_them_is_that_of_the_widest_interval() -> None:
    wide = contrast(-0.006, 0.004, explainer="wide", coverage=0.152)
    sentence = sentence_of(contrast(-0.0001, 0.0002, explainer="narrow"), wide)
    assert sentence.startswith("no attack tried found that narrow and wide add anything")
    assert sentence.endswith(
        "could have found 7.1 in 1,000 or more, four times in five (wide, on the 15 % of guesses with an explanation)"
    )


def test_many_explanations_are_counted_and_not_listed() -> None:
    some = [contrast(-0.01, 0.01, explainer=f"e{k}") for k in range(5)]
    assert sentence_of(*some).startswith("no attack tried found that 5 explanations add anything")


def test_the_baseline_on_the_same_people_stands_beside() -> None:
    row = contrast(0.004, 0.012)
    same = "40 without and 48 with it, for the same people"
    assert sentence_of(row, *sides(row, 0.04)) == f"the explanation adds between 4 and 12 in 1,000 ({TEN}; {same})"


def test_the_same_in_auc_stands_beside() -> None:
    assert sentence_of(contrast(0.004, 0.012), contrast(0.01, 0.03, "auc")).endswith(f"({TEN}; AUC +0.010 to +0.030)")
    tiny = sentence_of(contrast(-0.003, 0.005), contrast(-0.00005, 0.00004, "auc", ignored_below=0.002))
    assert tiny.endswith("5.7 in 1,000 or more, or 0.002 or more in AUC, four times in five")


def test_what_shows_in_the_auc_only_is_not_passed_over() -> None:
    sentence = sentence_of(contrast(-0.003, 0.005), contrast(0.01, 0.03, "auc"))
    assert sentence.startswith("there is an addition in AUC: +0.010 to +0.030. No attack tried found")
    assert "or more in AUC" not in sentence


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
    elsewhere = better.model_copy(update={"n": 3000})
    assert "chosen afterwards" not in sentence_of(row, *sides(row, 0.04), elsewhere, other)


def test_an_explanation_that_adds_by_one_attack_is_not_in_doubt_by_another() -> None:
    sentence = sentence_of(contrast(0.004, 0.012), contrast(-0.003, 0.005, attack="other"))
    assert "no attack tried" not in sentence.lower()
