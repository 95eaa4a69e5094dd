from __future__ import annotations

from jali.report.additions import additions
from jali.results import Results, Row


def contrast(low: float, high: float, metric: str = "tpr@0.01", explainer: str = "e", **more: object) -> Row:
    ends = {"value": (low + high) / 2, "low": low, "high": high}
    return Row(kind="contrast", metric=metric, against="score", explainer=explainer, **ends, **more)  # type: ignore[arg-type]


def told(*rows: Row) -> str:
    (sentence,) = additions(Results(rows=list(rows)))
    return sentence.removeprefix("Over the score alone, ").removesuffix(".")


TEN = "at ten false accusations in 1,000"
GATED = Row(kind="contrast", metric="tpr@0.01", value=None, reason="few", against="score", explainer="c")


def test_one_explanation_in_words() -> None:
    assert told(contrast(0.004, 0.012)) == f"the explanation adds between 4 and 12 in 1,000 ({TEN})"
    assert told(contrast(-0.003, 0.005)) == f"the explanation adds nothing measurable: at most 5 in 1,000 ({TEN})"
    worse = f"the explanation adds nothing: with it the attack does worse by between 2 and 6 in 1,000 ({TEN})"
    assert told(contrast(-0.006, -0.002)) == worse
    assert told(contrast(0.01, 0.03, "auc")) == "the explanation adds between 0.010 and 0.030 in AUC"
    assert told(contrast(0.001, 0.002, "tpr@0.001")).endswith("(at one false accusation in 1,000)")
    assert told(GATED) == "what the explanation adds could not be resolved: few"


def test_signals_that_were_left_out_and_values_without_interval() -> None:
    assert "its signals did not help and were left out" in told(contrast(0.0, 0.0))
    bare = contrast(0.002, 0.002).model_copy(update={"low": None, "high": None})
    assert told(bare) == "the explanation adds about 2 in 1,000, without an interval"
    assert told(bare, contrast(0.001, 0.003, explainer="b")).endswith("; without an interval for 1 of 2")


def test_several_explanations_are_counted_and_the_strongest_named() -> None:
    some = [contrast(0.001, 0.005, explainer="a"), contrast(-0.002, 0.001, explainer="b"), GATED]
    one = f"1 of 3 explanations adds measurably: a, between 1 and 5 in 1,000 ({TEN}); not resolvable for 1 of 3"
    assert told(*some) == one
    both = told(contrast(0.001, 0.005, explainer="a"), contrast(0.004, 0.012, explainer="b"))
    assert both == f"2 of 2 explanations add measurably, b most: between 4 and 12 in 1,000 ({TEN})"


def test_the_limit_is_the_highest_end_and_not_the_end_of_the_largest_value() -> None:
    wide = contrast(-0.006, 0.004, explainer="wide", coverage=0.152)
    sentence = told(contrast(-0.0001, 0.0002, explainer="narrow"), wide)
    limit = f"at most 4 in 1,000 (wide, {TEN}, on the 15 % of guesses with an explanation)"
    assert sentence == f"no explanation adds anything measurable: {limit}"


def test_the_same_difference_in_auc_stands_beside() -> None:
    assert told(contrast(0.004, 0.012), contrast(0.01, 0.03, "auc")).endswith(f"({TEN}; AUC +0.010 to +0.030)")
    tiny = told(contrast(-0.003, 0.005), contrast(-0.00005, 0.00004, "auc"))
    assert tiny.endswith(f"({TEN}; AUC at most +0.00004)")


def test_what_shows_in_the_auc_only_is_not_passed_over() -> None:
    sentence = told(contrast(-0.003, 0.005), contrast(0.01, 0.03, "auc"))
    assert sentence.endswith("; measurable in AUC only: e +0.010 to +0.030")
    assert "at most +" not in sentence
