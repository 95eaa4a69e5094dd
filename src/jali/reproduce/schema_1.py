"""Runs of the first edition: their rows, places and names of parts as this edition writes them.

There, a row of a query attack was a measure: either its metric began with the attack, as in "linkage: crowd", or its
group was the name of the method. What the attack queried and knew stood in the paper's file alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from jali.audit.attack_run_rows import about
from jali.audit.attack_runs import AttackRun
from jali.core import registry
from jali.reproduce.findings import at
from jali.reproduce.numbers import run_of
from jali.reproduce.schema import Paper
from jali.stats import released

METRICS = {
    "crowd": "candidates",
    "at_most_10": "at_most_10_candidates",
    "imputed": "disclosed_baseline",
    "gained": "disclosure_advantage",
    "people": "anonymity_set",
    "gap": "ncp_above_bound",
    "accuracy_of_surrogate": "surrogate_accuracy",
    "cleared": "specificity",
}
LEVELS = {r"coverage_after_(\d+)": r"coverage@\1", r"(precision|recall|f1)_of_class_(\d+)": r"class_\1@\2"}
PARTS = {
    r"\breplay\b": "minimality",
    r"\bcensus\b": "population_register",
    r"\bvisitors\b": "outsiders",
    r"\binquiry=": "attack=",
}
PREFIX = re.compile(rf"(Δ |{re.escape(released.PREFIX)})?(.*)", re.DOTALL)
Told = dict[str, Any]


def converted(told: Told, paper: Paper | None) -> Told:
    """A file of the first schema with the names of this edition; paper: the one whose methods its rows name."""
    return told | {
        "findings": [finding | {"place": place(finding.get("place", ""))} for finding in told["findings"]],
        "drawings": [_drawing(drawing) for drawing in told.get("drawings", [])],
        "studies": [study(each, paper) for each in told["studies"]],
    }


def metric(text: str) -> str:
    """The name of a metric.

    >>> metric("gained"), metric("coverage_after_30"), metric("f1_of_class_1"), metric("auc")
    ('disclosure_advantage', 'coverage@30', 'class_f1@1', 'auc')
    """
    found = PREFIX.fullmatch(text)
    before, name = (found[1] or "", found[2]) if found else ("", text)
    for old, new in LEVELS.items():
        name = re.sub(rf"^{old}$", new, name)
    return before + METRICS.get(name, name)


def specification(text: str) -> str:
    """A specification with the names that its parts now have.

    >>> specification('replay(by="model")'), specification("visitors(most=60)")
    ('minimality(by="model")', 'outsiders(most=60)')
    """
    for old, new in PARTS.items():
        text = re.sub(old, new, text)
    return text


def place(text: str) -> str:
    """Of what a finding's number is.

    >>> place("a / CF-K less a / NICE: replay: gained"), place("a / CF-K: ncp")
    ('a / CF-K less a / NICE: disclosure_advantage by minimality', 'a / CF-K: ncp')
    """
    where, _, name = text.rpartition(": ")
    there, _, by = where.rpartition(": ")
    if there and _is_attack(by):
        return at(there, metric(name), specification(by))
    return at(where, metric(name)) if where else text


def study(told: Told, paper: Paper | None) -> Told:
    """A study with the rows and names of parts of this edition; measures stand first, then one run after another."""
    parts = {kind: text if kind == "about" else specification(text) for kind, text in told["parts"].items()}
    methods = _runs(told["name"], paper)
    rows: list[Told] = []
    for old in told.get("measures", []):
        row = _row(old, methods)
        if row not in rows:
            rows.append(row)
    runs = list(dict.fromkeys(run.label for run in methods.values()))
    return told | {"parts": parts, "measures": sorted(rows, key=lambda row: _order(row, runs))}


def _runs(name: str, paper: Paper | None) -> dict[str, AttackRun]:
    """The runs of query attacks in a study, by method; none where the paper does not have the study any more."""
    if paper is None or name not in paper.studies:
        return {}
    tried = {label: paper.methods[label] for label in paper.studies[name].methods}
    return {label: run_of(method) for label, method in tried.items() if method.query_attack}


def _row(old: Told, methods: dict[str, AttackRun]) -> Told:
    """A row of this edition."""
    row = old | {name: None for name in ("channel", "against") if old.get(name) == ""}
    attack, _, name = old["metric"].rpartition(": ")
    row["metric"] = metric(name)
    if attack:
        return row | _of_run(specification(attack), old.get("explainer", ""), methods.values())
    if not old.get("attack"):
        return row
    method = old.get("group", "")
    if method in methods:
        return row | about(methods[method]) | {"group": ""}
    # The paper no longer has the method: its name stays as the group, so that two of them are not taken for one.
    given = specification(old["attack"])
    return row | {"kind": "query attack", "learns": _learns(given), "attack": given}


def _of_run(attack: str, explainer: str, runs: Iterable[AttackRun]) -> Told:
    """What a row of an attack on an explainer is about; what it knew is left open where the paper does not tell."""
    for run in runs:
        if (registry.spec(run.attack), run.queried) == (attack, explainer):
            return about(run)
    return {"kind": "query attack", "learns": _learns(attack), "attack": attack}


def _order(row: Told, runs: list[str]) -> int:
    """Where a row stands: measures before all runs, a run that the paper does not describe after them."""
    if row["kind"] == "measure":
        return -1
    label = " | ".join((row.get("explainer", ""), row.get("knowledge", ""), row["attack"]))
    return runs.index(label) if label in runs else len(runs)


def _learns(attack: str) -> str:
    return str(registry.build("query_attack", attack, modules=()).learns)  # the file may be somebody else's


def _is_attack(text: str) -> bool:
    return specification(text).partition("(")[0] in registry.names("query_attack")


def _drawing(told: Told) -> Told:
    return told | {"kind": "trade-off" if told["kind"] == "trade" else told["kind"]}
