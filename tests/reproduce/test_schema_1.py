"""Runs of the first edition are read with the rows and names of this one."""

from __future__ import annotations

import json

import pytest

from jali.reproduce import files, schema_1
from jali.reproduce.findings import judged_again
from jali.reproduce.schema import Paper

NICE = "nice"
CLAIM = {
    "says": "x",
    "source": "ours",
    "metric": "singled_out",
    "by": "minimality",
    "more": "s / NICE",
    "less": "nothing",
}
PAPER = Paper(
    title="T",
    citation="C",
    methods={
        "NICE": {"explain": NICE, "query_attack": "minimality", "knowledge": "register"},
        "labels": {"query_attack": "label_only", "knowledge": "noise"},
    },
    studies={"s": {"data": "lending", "model": "logistic", "game": "outsiders", "methods": ["NICE", "labels"]}},
    sentences=[CLAIM],
)


def row(metric, value, **more):
    told = {"kind": "measure", "metric": metric, "value": value, "low": 0.1, "high": 0.9, "units": 4, "reason": ""}
    empty = {"explainer": "", "channel": "", "signal": "", "attack": "", "against": "", "group": "", "n": 0, "key": ""}
    return {**told, **empty, **more}


ROWS = [
    row("people", 12.0, explainer=NICE),
    row("people", 3.0, explainer=NICE, group="sex = Female", n=17),
    row("replay: crowd", 2.5, explainer=NICE),
    row("replay: gained", 0.25, explainer=NICE),
    row("coverage_after_30", 0.125, attack="replay", group="NICE"),
    row("recall", 0.5, attack="label_only", group="labels"),
    row("recall", 0.5, attack="label_only", group="labels"),
    row("auc", 0.75, attack="label_only", group="gone from the paper"),
]
FINDING = {
    "quantity": "x",
    "section": "Sentences of ours",
    "source": "ours; replay: singled out",
    "kind": "order",
    "value": 0.3333333333333333,
    "low": 0.2,
    "high": 0.4,
    "units": 4,
    "verdict": "matches",
    "reason": "",
    "place": "s / NICE less nothing: replay: singled_out",
}


@pytest.fixture
def found(tmp_path):
    told = {"schema_version": files.FIRST, "paper": "mine", "title": "T", "citation": "C", "scale": "standard"}
    study = {"name": "s", "parts": {"data": "lending", "game": "visitors(most=60)"}, "measures": ROWS}
    drawing = {"figure": "Figure 1", "title": "t", "kind": "trade", "axes": ["a", "b"]}
    (tmp_path / "mine.json").write_text(
        json.dumps(told | {"command": "", "findings": [FINDING], "drawings": [drawing], "studies": [study]})
    )
    return files.read(tmp_path / "mine.json", PAPER)


def about(row):
    return row.kind, row.learns, row.explainer, row.attack, row.knowledge, row.metric, row.value, row.group


def test_rows_say_what_was_queried_with_which_knowledge(found):
    assert [about(row) for row in found.studies[0].measures] == [
        ("measure", None, NICE, "", "", "anonymity_set", 12.0, ""),
        ("measure", None, NICE, "", "", "anonymity_set", 3.0, "sex = Female"),
        ("query attack", "identity", NICE, "minimality", "register", "candidates", 2.5, ""),
        ("query attack", "identity", NICE, "minimality", "register", "disclosure_advantage", 0.25, ""),
        ("query attack", "identity", NICE, "minimality", "register", "coverage@30", 0.125, ""),
        ("query attack", "membership", "", "label_only", "noise", "recall", 0.5, ""),
        ("query attack", "membership", "", "label_only", "", "auc", 0.75, "gone from the paper"),
    ]


def test_names_of_parts_and_kinds_of_drawings_follow(found):
    assert found.studies[0].parts["game"] == "outsiders(most=60)"
    assert found.drawings[0].kind == "trade-off"


def test_a_finding_is_judged_again_with_every_bit(found):
    (judged,) = judged_again(PAPER, found)
    assert (judged.value, judged.low, judged.high, judged.units) == (1 / 3, 0.2, 0.4, 4)
    assert (judged.verdict, judged.place) == ("matches", "s / NICE less nothing: singled_out by minimality")


def test_metrics_with_a_prefix_keep_it():
    assert schema_1.metric("Δ f1_of_class_1") == "Δ class_f1@1"
    assert schema_1.metric("released auc") == "released auc"
