"""The five questions of the first screen: answered for every verdict, in words that need no glossary."""

from __future__ import annotations

import re

import pytest

from jali.report.audit import first_screen, html, text
from jali.report.audit.questions import QUESTIONS, answers, pairs_of_100
from jali.report.audit.verdicts import UNTESTED, verdicts
from jali.results import Results, Row, StatedGuarantee
from tests.report import sample
from tests.report.audit.test_first_screen import added, control, linked

ABOVE = {"kind": "paired", "metric": "auc", "attack": "joint", "combined": True, "n": 2000, "units": 16}
JARGON = re.compile(r"\b(AUC|TPR|FPR|LiRA|shadow|quantile)\b")


def both_sides(explainer: str, without: float, with_it: float) -> list[Row]:
    """What the attack reaches on the people of a paired difference, without and with the explanation."""
    about = ABOVE | {"explainer": explainer, "against": "score"}
    return [
        Row(value=without, channel="score", **about),
        Row(value=with_it, channel="score+explanation", **about),
    ]


def answered(results: Results) -> dict[str, str]:
    return {answer.question: " ".join(answer.sentences) for answer in first_screen.screen(results).answers}


@pytest.mark.parametrize("make", [sample.full, sample.prediction_only, sample.single_target, Results])
def test_every_audit_answers_all_five(make):
    found = answered(make())
    assert tuple(found) == QUESTIONS
    if make is not Results:
        assert all(found.values())


def test_groups_that_are_all_too_small_are_no_empty_answer():
    about = {"kind": "attack", "metric": "auc", "attack": "joint", "channel": "score", "n": 5}
    found = answered(Results(rows=[Row(value=0.6, group="town = rare", **about), Row(value=0.6, **about)]))
    assert found["Whom does it hit?"].startswith("It cannot be told: no group of people is large enough")


def test_query_attacks_alone_answer_all_five_and_do_not_blame_the_columns():
    about = {"kind": "query attack", "learns": "membership", "metric": "auc", "knowledge": "noise", "units": 1}
    rows = [Row(attack="aloa", value=0.5, low=0.48, high=0.52, **about)]
    rows.append(Row(attack="shokri_mia", value=0.71, low=0.69, high=0.73, **about))
    found = answered(Results(rows=rows))
    assert all(found.values())
    assert "the attack shokri_mia, the strongest of 2, would pick the member in" in found["How much?"]
    assert found["Whom does it hit?"] == "Groups were not compared: query attacks are judged on everybody together."


def test_membership_is_said_in_pairs_of_100_on_the_same_people():
    rows = [added("e", (0.05, 0.07)), *both_sides("e", 0.61, 0.67)]
    everybody = {"kind": "attack", "metric": "auc", "attack": "joint", "combined": True, "channel": "score"}
    rows.append(Row(value=0.55, low=0.54, high=0.56, **everybody))
    found = answered(Results(rows=rows, controls=[control("e")]))
    assert found["Do the explanations leak?"] == "Yes. e helps to tell who was in the training data."
    much = found["How much?"]
    assert "picks the member in 67 of 100 cases: 5 to 7 more than with the score. Chance is 50." in much
    assert much.endswith("Without any explanation, over everybody: 54 to 56 from the score.")
    assert not JARGON.search(much)


def test_who_gets_no_explanation_is_not_counted_silently():
    row = added("e", (0.05, 0.07)).model_copy(update={"coverage": 0.15})
    assert "on the 15 % of guesses with an explanation" in pairs_of_100(Results(), row)


def test_names_come_before_membership_and_each_kind_is_explained_once():
    rows = [*linked("nice", (0.92, 0.87, 0.98)), added("saliency", (0.05, 0.07)), added("lime", (0.05, 0.07))]
    config = {"explain": ["nice", "saliency", "lime"]}
    found = answered(Results(rows=rows, config=config, controls=[control("saliency"), control("lime")]))
    assert found["Do the explanations leak?"] == (
        "Yes. nice (what would have to be different) leads to real people; saliency and lime (how much each column "
        "counted) help to tell who was in the training data."
    )
    assert found["How much?"].startswith("87 to 98 of 100 answers lead to the right person")


def test_rows_of_people_that_nobody_tried_to_name_are_said_and_lead_to_advice():
    results = Results(rows=[added("nice", (-0.1, 0.1), detectable=None)], config={"explain": ["nice"]})
    found = answered(results)
    assert found["Do the explanations leak?"].startswith("Too small to tell.")
    assert "rows of real people, which no attack tried to name" in found["Do the explanations leak?"]
    assert "--quasi" in found["What should I do?"]
    assert verdicts(results)[0].sentences[0] == UNTESTED


def test_a_bounded_addition_is_no_promise():
    results = Results(rows=[added("e", (-0.004, 0.006), detectable=0.012)], controls=[control("e")])
    found = answered(results)
    assert found["Do the explanations leak?"].startswith("Not by the attacks tried; others may find more.")
    assert found["What should I do?"].startswith("No change follows from the attacks tried.")


def test_a_claim_of_the_model_is_said_beside_the_explanations():
    false = StatedGuarantee(what="the predictions", claim="epsilon = 1", refuted="The draws show epsilon >= 6.")
    found = answered(Results(rows=[added("e", (0.05, 0.07))], guarantees=[false], controls=[control("e")]))
    assert found["Do the explanations leak?"].startswith("The privacy claim of the predictions is false. Yes.")


def test_answers_that_single_people_out_together_are_counted():
    reached = Row(
        kind="query attack", learns="identity", explainer="nice", attack="linkage", metric="coverage@100", value=0.06
    )
    found = answered(Results(rows=[*linked("nice", (0.92, 0.87, 0.98)), reached]))
    assert (
        "After 100 explanations, 6\u202f% of all training people have been singled out by nice."
        in found["Whom does it hit?"]
    )


def test_a_little_is_not_rounded_to_nothing():
    about = {"kind": "query attack", "learns": "identity", "explainer": "nice", "attack": "linkage"}
    rows = [*linked("nice", (0.92, 0.54, 1.0)), Row(metric="coverage@100", value=0.001, **about)]
    rows.append(Row(kind="measure", metric="answered", explainer="nice", value=0.004))
    found = answered(Results(rows=rows))
    assert "less than 1\u202f% of all training people" in found["Whom does it hit?"]
    assert "nice answers less than 1\u202f% of people" in found["What does it cost?"]


def test_most_is_not_rounded_to_all():
    rows = [
        *linked("nice", (0.92, 0.54, 0.998)),
        Row(kind="measure", metric="answered", explainer="nice", value=0.9971),
    ]
    found = answered(Results(rows=rows))
    assert "nice answers more than 99\u202f% of people" in found["What does it cost?"]
    assert "54 to 99.8 of 100 answers" in " ".join(found.values())


def test_page_terminal_and_notebook_have_the_same_answers():
    results = sample.full()
    told = [" ".join(answer.sentences) for answer in first_screen.screen(results).answers]
    printed = " ".join(text.first(results).split())
    assert all(" ".join(sentence.split()) in printed for sentence in told)
    page = html.render(results)
    fragment = html.notebook(results)
    for answer in first_screen.screen(results).answers:
        assert answer.question in page
        assert answer.question in fragment


def test_an_advice_that_was_not_tried_says_that_its_price_is_not_known():
    rows = linked("nice", (0.92, 0.87, 0.98))
    found = answers(Results(rows=rows, config={"explain": ["nice"]}), verdicts(Results(rows=rows)), (), ())
    assert found[3].sentences[0].startswith("Audit again when")
    told = answered(Results(rows=rows, config={"explain": ["nice"]}))
    assert told["What does it cost?"].startswith("Not measured yet.")
