from __future__ import annotations

import jali
from jali.report.audit import html, text


def test_a_copy_agrees_with_a_simple_model_and_the_report_says_so():
    found = jali.audit("logistic", data="lending(n=600)", game="folds(k=2)", attack=["extraction"])
    rows = found.results.find(kind="query attack", metric="agreement")
    assert len(rows) == 1
    assert rows[0].learns == "the model"
    assert rows[0].value > 0.7
    assert rows[0].queries > 0
    assert not any("extraction of the model" in line for line in found.results.not_tested)
    assert "Agreement" in html.render(found.results)
    assert "extraction" in text.plain(found.results) + text.summary(found.results) + html.render(found.results)
