"""What a page that is judged again says of claims about one place, and of studies that were not run."""

from __future__ import annotations

import pytest

from jali.reproduce.findings import judged_again
from jali.reproduce.numbers import Ran
from jali.results.reproduction import Study
from tests.reproduce.test_findings import paper, sentence
from tests.reproduce.test_of_several import attacked, kept, measured

LEFT_OUT = "run at --scale paper only"


@pytest.mark.parametrize(
    ("sides", "value", "verdict"),
    [
        ({"more": "a / model", "less": "nothing"}, 0.9, "matches"),
        ({"more": "nothing", "less": "a / model"}, -0.9, "deviates"),
    ],
)
def test_a_number_beside_nothing_needs_no_new_run(sides, value, verdict):
    claim = sentence(metric="test_accuracy", **sides)
    (found,) = judged_again(paper(sentences=[claim]), kept({"a": measured("a", 0.9, 0.03)}))
    assert (found.value, found.verdict) == (pytest.approx(value), verdict)
    assert found.high - found.low == pytest.approx(0.06, abs=1e-6)


@pytest.mark.parametrize("less", ["a / weak", "b / strong", "nothing"])
def test_a_study_that_was_not_run_says_why_whatever_an_older_page_said(less):
    claim = paper(sentences=[sentence(more="a / strong", less=less)])
    pages = {"a": attacked("a", strong=(0.7, 0.6, 0.8)), "b": attacked("b", strong=(0.6, 0.5, 0.7))}
    (before,) = judged_again(claim, kept(pages))
    old = before.model_copy(update={"value": None, "low": None, "high": None, "reason": "an old reason"})
    now = kept(pages | {"a": Ran(Study(name="a", parts={}, skipped=LEFT_OUT))})
    (found,) = judged_again(claim, now.model_copy(update={"findings": [old]}))
    assert (found.verdict, found.reason) == ("not resolvable", LEFT_OUT)
