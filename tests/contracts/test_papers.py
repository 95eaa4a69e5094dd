"""Papers' input files: no result of ours stands in them, and every metric and query attack they name exists."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from jali.core import registry
from jali.reproduce import schema
from jali.reproduce.numbers import word

NUMBER = r"[-−+]?\d*\.?\d+"
RESULTS = (
    rf"{NUMBER} ?[\[(]{NUMBER}(?: ?%)?(?:,| to|–| ?-) ?{NUMBER}",  # a number with an interval
    rf"interval {NUMBER} to {NUMBER}",
    r"\bwe (?:find|found|measure|measured|see|saw|observe|observed)\b",
    r"\b(?:measured|found|seen|holds?|fails?|reproduced) here\b",
    r"\bmeasured best\b",
    r"\bin short\b",
    r"\bours? (?:is|are|was|were|gives?|gave) \.?\d",
    r"\bdeviates? because\b",
    r"\bfits? (?:German|CMC|Adult|Heart|Heloc|Informs|Hospital)\b",
    r"\bnot resolved\b",
)
PATTERN = re.compile("|".join(RESULTS), re.IGNORECASE)


def texts(name: str) -> list[str]:
    """What a file says in our words: notes, what studies are about, our own claims, and comments."""
    paper = schema.read(name)
    told = [paper.note, *(study.about for study in paper.studies.values())]
    told += [claim.note for claim in (*paper.tables, *paper.sentences)]
    told += [sentence.says for sentence in paper.sentences if sentence.source.lower().startswith("our")]
    raw = (resources.files("jali.reproduce.papers") / f"{name}.toml").read_text(encoding="utf-8")
    return told + re.findall(r"(?m)^\s*#(.*)$", raw)


def metrics(paper: schema.Paper) -> set[str]:
    """Every metric that a file names."""
    cells = (numbers for table in paper.tables for tried in table.published.values() for numbers in tried.values())
    named = {metric for numbers in cells for metric in numbers}
    named |= {claim.metric for claim in (*paper.sentences, *paper.critical_differences)}
    return named | {metric for plot in paper.trade_offs for metric in (plot.across, *plot.upwards)}


@pytest.mark.parametrize("name", schema.papers())
def test_every_metric_named_is_in_the_table(name):
    assert all(word(metric) for metric in metrics(schema.read(name)))  # an unknown one is refused


@pytest.mark.parametrize("name", schema.papers())
def test_every_query_attack_named_is_written_as_rows_have_it(name):
    paper = schema.read(name)
    named = {claim.by for claim in (*paper.sentences, *paper.trade_offs) if claim.by}
    assert {registry.spec(registry.build("query_attack", text)) for text in named} == named


@pytest.mark.parametrize("name", schema.papers())
def test_no_text_states_a_result(name):
    assert [text for text in texts(name) if PATTERN.search(text)] == []


@pytest.mark.parametrize(
    "text",
    [
        "The AUC is .626 [.607, .645].",
        "AUC 0.626 (0.607–0.645)",
        "AUC 0.491 (99 % interval 0.431 to 0.551)",
        "here we found none",
        "as measured here",
        "In short: it mostly holds.",
        "read off the printed bars, which fit German",
        "on CMC ours are .005 to .107",
        "deviates because the sample is another",
    ],
)
def test_a_result_is_noticed(text):
    assert PATTERN.search(text)


@pytest.mark.parametrize(
    "text",
    ["base rate here .67; published with .80 (Adult)", "k from 2 to 30, α = 40", "4 (of 8) settings, 60 % of rows"],
)
def test_a_fact_of_the_set_up_is_none(text):
    assert not PATTERN.search(text)
