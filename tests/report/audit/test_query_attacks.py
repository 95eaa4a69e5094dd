from __future__ import annotations

import re

from jali.report.audit import headline, html, query_attacks, text
from jali.results import Results, Row
from tests.report import sample


def test_who_is_found_and_what_is_learnt_stands_in_plain_sentences() -> None:
    (sentence,) = query_attacks.sentences(sample.queried())
    assert sentence == (
        "Of 100 answers by nice(k=5), between 68 and 84 fit one person alone on a list of people (linkage), and "
        "between 79 and 96 lead to the right person. The attacker then knows 61\u202f% of that person's other values; "
        "33\u202f% could be guessed without the explanation."
    )


def test_it_stands_below_what_explanations_add() -> None:
    page = headline.headline(sample.queried())
    assert page.lead == headline.headline(sample.full()).lead
    assert page.additions[-1].startswith("Of 100 answers")


def test_without_attacks_on_signals_it_leads() -> None:
    page = headline.headline(sample.queried_alone())
    assert page.lead.startswith("Of 100 answers by nice(k=5), between 68 and 84 fit one person")
    assert page.count == "between 68 and 84"
    known = (
        "The attacker then knows 61\u202f% of that person's other values; 33\u202f% could be guessed without the "
        "explanation."
    )
    assert page.additions == (known,)
    assert "list of people" in page.meaning[0]


def test_nobody_singled_out_and_nobody_left_to_guess_from() -> None:
    head = {"kind": "query attack", "learns": "identity", "attack": "linkage", "explainer": "mondrian", "units": 3}
    values = {"candidates": 12.0, "singled_out": 0.0, "reidentified": 0.08, "disclosed": 0.1}
    rows = [Row(**head, metric=m, value=v, low=v, high=v) for m, v in values.items()]
    (sentence,) = query_attacks.sentences(Results(rows=rows))
    assert (
        "none was found to fit one person alone on a list of people (linkage; other attacks may find some)" in sentence
    )
    assert "about 8 lead" in sentence
    assert "was not measured" in sentence


def test_few_who_are_singled_out_are_not_rounded_away() -> None:
    head = {"kind": "query attack", "learns": "identity", "attack": "linkage", "explainer": "mondrian", "units": 3}
    values = {"candidates": 12.0, "singled_out": 0.002, "reidentified": 0.08}
    rows = [Row(**head, metric=m, value=v) for m, v in values.items()]
    (sentence,) = query_attacks.sentences(Results(rows=rows))
    assert "fewer than 1 fit one person alone" in sentence


def test_membership_inferred_by_queries() -> None:
    about = {"kind": "query attack", "learns": "membership", "attack": "label_only", "knowledge": "noise"}
    row = Row(**about, metric="auc", value=0.55, low=0.52, high=0.58, units=3, queries=50_500)
    (sentence,) = query_attacks.sentences(Results(rows=[row]))
    assert sentence == (
        "By querying the model, the attack label_only would pick the member in between 52.0 and 58.0 of 100 pairs of "
        "one member and one non-member; chance: 50."
    )
    (doubtful,) = query_attacks.sentences(Results(rows=[row.model_copy(update={"low": 0.48})]))
    assert doubtful.endswith("one non-member, which cannot be distinguished from chance (50).")
    page = html.render(Results(rows=[row]))
    assert "Who was a member" in page
    assert "By querying the model" in page


def test_the_page_has_a_section_with_the_reason_once() -> None:
    page = html.render(sample.queried())
    section = page.partition('<section id="queries"')[2].partition("</section>")[0]
    assert section.count("<li>This attack makes answers again, and this explainer cannot be run like that.</li>") == 1
    assert section.count("–<sup>1</sup>") == 2
    assert "After 60 explanations" in section
    assert "Who can be found" in section
    assert "Query attacks</h3>" not in page


def test_the_queries_of_each_attack_stand_on_the_page_in_the_terminal_and_in_the_threat_table() -> None:
    page = html.render(sample.queried())
    section = page.partition('<section id="queries"')[2].partition("</section>")[0]
    threats = page.partition('<section id="threats"')[2].partition("</section>")[0]
    assert 'knowing <code>register</code></span> <span class="meta">500 queries per target model</span>' in section
    assert '<td data-label="Asks">one query per record</td>' in threats
    table = text.plain(sample.queried_alone())
    assert re.search(r"nice\(k=5\): linkage, register +500 ", table)


def test_the_terminal_shows_a_table_of_its_own() -> None:
    both, alone = text.plain(sample.queried()), text.plain(sample.queried_alone())
    assert "AUC" in both
    assert "AUC" not in alone
    for shown in (both, alone):
        assert "Query attacks: who can be found" in shown
        assert "nice(k=5): linkage, register" in shown
        assert "¹ This attack makes answers again" in shown
