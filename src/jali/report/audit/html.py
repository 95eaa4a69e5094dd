"""One self-contained HTML page: opens offline, loads nothing, and says everything without its script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from jali.config import written
from jali.report import curves, figures, resolution, views, words
from jali.report.audit import answers, before_after, controls, first_screen, headline, query_attacks
from jali.report.templates import environment
from jali.results import Results, Row, Threat

SECTIONS = (
    ("before", "Before and after"),
    ("adds", "What the explanation adds"),
    ("curves", "Trade-off curves"),
    ("attacks", "Attacks and channels"),
    ("queries", views.QUERIES),
    ("exposed", "Most exposed records"),
    ("answers", answers.TITLE),
    ("groups", "Exposure by subgroup"),
    ("sanity", "Sanity suite"),
    ("threats", "Threat models"),
    ("untested", "What was not tested"),
    ("quality", "Model and explanations"),
    ("repeat", "How to repeat it"),
    ("glossary", "What the metrics mean"),
)
PAIRED = ("auc", "tpr@0.01")


def render(results: Results) -> str:
    """The report as one HTML document.

    >>> render(Results(title="Loans")).startswith("<!doctype html>")
    True
    """
    raw, results = results, words.cleaned(results)
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            results=results,
            sections=sections(results),
            titles=dict(SECTIONS),
            screen=first_screen.screen(results),
            column_heads=first_screen.COLUMNS,
            headline=headline.headline(results),
            invalid=headline.invalid(results),
            config=written(raw.config),
            value_columns=list(dict.fromkeys(key for record in results.exposed for key in record.values)),
            threat_fields=list(Threat.model_fields),
            glossary=[*views.glossary(results), *controls.glossary(results)],
            **_evidence(results),
        )
    )


def notebook(results: Results) -> str:
    """The first screen as a fragment of HTML for a notebook, without styles or scripts of its own.

    >>> "No attack gave a number" in notebook(Results())
    True
    """
    results = words.cleaned(results)
    broken = headline.invalid(results)
    if broken:
        return str(Markup("<p><strong>{}</strong></p>").format(broken))
    shown = first_screen.screen(results)
    return environment().get_template("notebook.html.j2").render(screen=shown, column_heads=first_screen.COLUMNS)


def sections(results: Results) -> list[tuple[str, str]]:
    """Names and titles of the sections; query attacks, answers and metrics have one where there are any."""
    there = {"queries": bool(views.queries(results)), "answers": bool(results.examples), "glossary": bool(results.rows)}
    there["before"] = bool(before_after.pairs(results))
    return [(name, title) for name, title in SECTIONS if there.get(name, True)]


def _evidence(results: Results) -> dict[str, Any]:
    """Tables and figures by the names the templates know them under."""
    return {
        "attacks": views.attacks(results),
        "contrasts": views.contrasts(results),
        "controls": controls.table(results),
        "measures": views.measures(results),
        "queries": views.queries(results),
        "not_used": any(resolution.unused(r) for r in results.find(kind="contrast")),
        "query_sentences": query_attacks.sentences(results),
        "captions": query_attacks.CAPTIONS,
        "subgroups": _subgroups(results),
        "pairs": before_after.pairs(results),
        "paired": _paired(results),
        "targets": views.targets(results),
        "panels": curves.panels(results.curves),
        "strokes": curves.legend(results.curves),
    }


def _paired(results: Results) -> list[tuple[str, Markup]]:
    """One figure per metric, one band per explanation (and attack, where there is more than one)."""
    rows = [r for r in results.rows if r.kind == "contrast" and not r.group]
    several = len({r.attack for r in rows}) > 1
    drawn = []
    for place, metric in enumerate(PAIRED):
        bands: dict[str, list[Row]] = {}
        for row in (r for r in rows if r.metric == metric):
            bands.setdefault(f"{row.explainer} · {row.attack}" if several else row.explainer, []).append(row)
        if any(r.value is not None for band in bands.values() for r in band):
            figure = figures.differences(f"difference-{place}", list(bands.items()), metric)
            drawn.append((words.metric_name(metric), figure))
    return drawn


@dataclass(frozen=True)
class Subgroups:
    """The subgroups of one attack, the most exposed first; those of few people are listed and not drawn."""

    title: str
    rows: list[Row]
    figure: Markup
    least: int = views.LEAST

    @property
    def small(self) -> list[Row]:
        """The groups that are too small to be drawn."""
        return [row for row in self.rows if not views.is_large(row)]


def _subgroups(results: Results) -> list[Subgroups]:
    found = []
    for k, (title, rows) in enumerate(views.subgroups(results)):
        large = [row for row in rows if views.is_large(row)] or rows
        found.append(Subgroups(title, rows, figures.exposure(f"groups-{k}", large, views.overall(results, rows[0]))))
    return found
