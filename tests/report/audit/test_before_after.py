"""Explanations beside their defences: what is compared, what is advised, and when it is not."""

from __future__ import annotations

from jali.report.audit import before_after, html
from jali.report.audit.options import options
from jali.report.audit.verdicts import verdicts
from jali.results import Results, Row
from tests.report.audit.test_first_screen import added, control, linked

DEFENDED = {"explain": ["nice", "k_anonymous(nice(), k=10)"]}


def both(after: tuple[float, float, float]) -> Results:
    """nice, and k_anonymous on it, which names people this often and withholds most answers."""
    rows = [*linked("nice", (0.92, 0.87, 0.98)), *linked("k_anonymous", after, -0.1)]
    about = {"kind": "measure", "metric": "withheld", "explainer": "k_anonymous"}
    return Results(rows=[*rows, Row(value=0.78, **about)], config=DEFENDED)


def test_a_defence_beside_what_it_defends_is_a_pair():
    (pair,) = before_after.pairs(both((0.02, 0.0, 0.08)))
    assert (pair.bare, pair.defended, pair.lowers) == ("nice", "k_anonymous", True)
    told = {change.label: (change.before, change.after) for change in pair.changes}
    assert told["Right person named, of 100"] == ("87 to 98", "0 to 8")
    assert told["Withheld"][0] == "–"
    assert not [change for change in pair.changes if change.label == "Withheld" and change.harm]


def test_a_defence_of_another_explanation_is_no_pair():
    results = both((0.02, 0.0, 0.08))
    other = {"explain": ["nice", 'k_anonymous(nice(candidates="justified"), k=10)']}
    assert before_after.pairs(results.model_copy(update={"config": other})) == []


def test_what_does_not_lower_the_harm_is_not_advised():
    good, bad = (options(r, verdicts(r))[0] for r in (both((0.02, 0.0, 0.08)), both((0.9, 0.86, 0.95))))
    assert good.what == "Replace nice by k_anonymous."
    assert good.effect == "Measured here: 0 to 8 of 100 answers lead to the right person (before: 87 to 98)."
    assert good.price.startswith("Price: 78")
    assert "does not clearly lower" in bad.what
    assert "Replace" not in bad.what


def test_reason_codes_beside_their_numbers_are_quoted():
    rows = [added("saliency", (0.1, 0.2), against="decision"), added("reason_codes", (0.01, 0.03), against="decision")]
    config = {"explain": ["saliency", "reason_codes(saliency(), top=4)"]}
    results = Results(rows=rows, config=config, controls=[control("saliency", "decision")])
    first = options(results, verdicts(results))[0]
    assert first.what == "Replace saliency by reason_codes."
    assert (
        "the member is picked in 1 to 3 more of 100 cases than with the decision alone (before: 10 to 20)"
        in first.effect
    )
    assert not first.command


def test_the_page_has_the_pair_as_a_table():
    page = html.render(both((0.02, 0.0, 0.08)))
    assert 'id="before"' in page
    assert "Before and after" in page
    assert 'id="before"' not in html.render(Results(rows=linked("nice", (0.92, 0.87, 0.98))))
