"""The metric table: whatever a part, a grader, a readout or a paper's file measures is in it, and nothing twice."""

from __future__ import annotations

import ast
import math
import re
from importlib import resources

import pytest

from jali.audit import quality
from jali.audit.grading import graders
from jali.audit.grading.identity import AFTER
from jali.core import metrics
from jali.core.errors import JaliError
from jali.core.metrics import TABLE, Metric, metric, position
from jali.query_attacks._shadow import ATTACK, SHADOW
from jali.reproduce import schema
from jali.reproduce.numbers import DELTA, MEDIAN
from jali.stats import precision_recall, released, roc

every = pytest.mark.parametrize("line", TABLE.values(), ids=list(TABLE))
# How a paper's file says "the difference of", "by the authors' code" and "the median over targets of".
WAYS = (DELTA, released.PREFIX, MEDIAN)


def measured() -> set[str]:
    """Metrics of everything that is built in."""
    out = {*roc.METRICS, *precision_recall.NAMES, "best_balanced_accuracy", SHADOW, ATTACK}
    out |= {*quality.MEASURES, quality.RELIANCE, quality.SECONDS, "train_accuracy", "test_accuracy", "answered"}
    for grader in graders():
        out |= {*grader.metrics, *grader.per_record}
    return out | {f"coverage@{q}" for q in AFTER}


def of_paper(name: str) -> set[str]:
    """Metrics that a paper's file names in tables, sentences and figures."""
    paper = schema.read(name)
    out = {sentence.metric for sentence in paper.sentences}
    for table in paper.tables:
        out |= {*table.tolerance, *table.bound}
        out |= {m for methods in table.published.values() for numbers in methods.values() for m in numbers}
    out |= {diagram.metric for diagram in paper.critical_differences}
    for plot in paper.trade_offs:
        out |= {plot.across, *plot.upwards}
    return out


def plain(text: str) -> str:
    for way in WAYS:
        text = text.removeprefix(way)
    return text


@pytest.mark.parametrize("text", sorted(measured()))
def test_whatever_is_measured_is_in_the_table(text):
    assert metric(text).text == text


@pytest.mark.parametrize("name", schema.papers())
def test_whatever_a_paper_names_is_in_the_table(name):
    named = {plain(text) for text in of_paper(name)}
    assert named
    assert [text for text in sorted(named) if metric(text).text != text] == []


def test_whatever_a_query_attack_adds_is_in_the_table():
    """The keys of the overall numbers that attacks put into their claims, read from the code."""
    found = set()
    folder = resources.files("jali.query_attacks")
    for file in folder.iterdir():
        if file.name.endswith(".py"):
            found |= overall_in(ast.parse(file.read_text(encoding="utf-8")))
    assert {"surrogates", "voters", "shadow_accuracy", "attack_accuracy"} <= found | {SHADOW, ATTACK}
    assert {name for name in found if name not in TABLE} == set()


def overall_in(tree: ast.AST) -> set[str]:
    """Keys of dictionaries that are called overall, or are the second argument of a claim of membership."""
    dicts: list[ast.AST] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(t, ast.Name) and t.id == "overall" for t in targets):
                dicts.append(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Membership":
            dicts += node.args[1:]
    keys = [key for d in dicts if isinstance(d, ast.Dict) for key in d.keys]
    return {key.value for key in keys if isinstance(key, ast.Constant)}


@every
def test_a_line_has_bounds_a_unit_a_label_and_one_sentence(line):
    assert line.low < line.high
    assert re.fullmatch(r"[a-z][a-z0-9_]*", line.name)
    assert line.label[0].isupper() or line.label == "t-closeness"
    assert line.says.endswith(".")
    assert line.at is None
    if line.unit in ("share", "rate"):
        assert (line.low in (0.0, -1.0), line.high) == (True, 1.0)
    if line.unit in ("count", "distance", "seconds"):
        assert (line.low, line.high) == (0.0, math.inf)


@every
def test_yes_or_no_is_a_share_of_records(line):
    assert not line.yes_no or (line.unit == "share" and (line.low, line.high) == (0.0, 1.0))


def test_no_name_and_no_label_stands_twice():
    groups = [lines for name, lines in vars(metrics).items() if name.isupper() and isinstance(lines, tuple)]
    lines = [line for group in groups for line in group if isinstance(line, metrics.Metric)]
    assert len(lines) == len({line.name for line in lines}) == len(TABLE)
    assert len({line.label for line in lines}) == len(TABLE)


@pytest.mark.parametrize(
    ("text", "title", "head"),
    [
        ("auc", "AUC", "AUC"),
        ("tpr@0.01", "TPR at 1 % FPR", "TPR at 1 %"),
        ("tpr@0.001", "TPR at 0.1 % FPR", "TPR at 0.1 %"),
        ("tnr@0.01", "TNR at 1 % FNR", "tNR at 1 % FNR"),
        ("coverage@1000", "After 1,000 explanations", "after 1,000 explanations"),
        ("class_recall@1", "Recall of class 1", "recall of class 1"),
        ("balanced_accuracy", "Balanced accuracy", "balanced accuracy"),
        ("reidentified", "Right person named", "right person"),
    ],
)
def test_levels_are_written_out(text, title, head):
    assert (metric(text).title, metric(text).head) == (title, head)
    assert metric(text).text == text


def test_a_level_leaves_the_line_as_it_is():
    assert metric("tpr@0.01").name == "tpr"
    assert metric("tpr@0.01") != metric("tpr@0.001")
    assert TABLE["tpr"].at is None
    assert metric("tpr@1e-3").text == "tpr@0.001"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("acu", "There is no metric called 'acu'; there are auc, balanced_accuracy"),
        ("crowd", "There is no metric called 'crowd'"),
        ("tpr@low", "the level after @ must be a number, such as tpr@0.01"),
    ],
)
def test_another_name_or_level_is_refused(text, says):
    with pytest.raises(JaliError, match=says):
        metric(text)


def test_metrics_are_sorted_as_listed_the_larger_level_first():
    mixed = ["f1", "tpr@0.001", "auc", "tpr@0.01", "candidates"]
    assert sorted(mixed, key=position) == ["auc", "tpr@0.01", "tpr@0.001", "f1", "candidates"]


def test_a_metric_says_which_direction_is_worse():
    assert metric("auc").worse == "higher"
    assert metric("candidates").worse == "lower"
    assert metric("rules").worse == "neither"
    assert isinstance(metric("auc"), Metric)
