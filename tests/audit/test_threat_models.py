"""Threat models and gaps are read from what ran, so that nothing is both tried and not tested."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from jali.api import from_config
from jali.audit import queries
from jali.audit.setup import Resources
from jali.audit.threat_models import ALWAYS, HARMS, MANY, TOGETHER, not_tested, shadows_held, threats
from jali.config import checked
from jali.core import registry
from jali.core.values import Channel, Game
from jali.results import Results, Row

SMALL = "label_only(perturbations=20)"


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> str:
    rng = np.random.default_rng(0)
    n = 240
    age, income = rng.integers(18, 80, n), rng.integers(20, 40, n) * 100
    repaid = (income + rng.normal(0, 400, n) > 2900).astype(int)
    path = tmp_path_factory.mktemp("own") / "own.csv"
    pd.DataFrame({"age": age, "income": income, "repaid": repaid}).to_csv(path, index=False)
    return str(path)


def audit(path: str, **more) -> Results:
    settings = {"data": path, "target": "repaid", "quasi": ["age"], "explain": ["nice"], "game": "rotate(models=3)"}
    return from_config(checked(settings | more), Resources()).results


@pytest.fixture(scope="module")
def labels(table) -> Results:
    return audit(table, attack=[SMALL], explain=[])


@pytest.fixture(scope="module")
def usual(table) -> Results:
    return audit(table)


def test_many_queries_are_tried_with_their_count_and_not_listed_as_not_tested(labels):
    (threat,) = labels.threats
    assert threat.channel == f"{SMALL}, querying the model"
    rows = labels.find(kind="query attack")
    asked = {row.queries for row in rows}
    (count,) = asked
    assert count > 20 * rows[0].n  # every record in twenty copies, and the rows that the adversary knows
    assert threat.asks == f"{count:,} queries, about {round(count / rows[0].n):,} per record"
    assert MANY not in labels.not_tested
    assert threat.has == "shadow models of its own making"


def test_harms_are_not_tested_where_no_attack_learnt_them(labels, usual):
    assert HARMS["membership"] not in labels.not_tested
    assert HARMS["identity"] in labels.not_tested
    assert HARMS["identity"] not in usual.not_tested  # linkage is tried by default where rows are shown
    assert HARMS["membership"] not in usual.not_tested
    for found in (labels, usual):
        assert {HARMS["attributes"], HARMS["the model"], *ALWAYS} <= set(found.not_tested)


def test_one_query_per_record_leaves_many_queries_untested(usual):
    by_channel = {t.channel: t for t in usual.threats}
    assert MANY in usual.not_tested
    assert by_channel["linkage, querying nice"].asks == "one query per record"
    assert by_channel["linkage, querying nice"].has == "no shadow models"
    assert by_channel["score"].asks == "one query per record"


def test_the_threat_table_has_a_line_for_each_channel_and_each_attack_run(usual):
    present = {row.channel for row in usual.rows} - {None}
    assert [t.channel for t in usual.threats] == [
        *(channel for channel in (Channel.DECISION, Channel.SCORE, Channel.EXPLANATION) if channel in present),
        Channel.SCORE_AND_EXPLANATION,
        Channel.DECISION_AND_EXPLANATION,
        "linkage, querying nice",
    ]


def test_every_query_row_says_what_it_learns_and_how_often_it_asked(labels, usual):
    for found, harm in ((labels, "membership"), (usual, "identity")):
        rows = found.find(kind="query attack")
        assert rows
        assert {row.learns for row in rows} == {harm}
        assert all(row.queries > 0 for row in rows)
        assert all(row.knowledge and row.attack for row in rows)
    assert all(row.queries == 0 for row in usual.find(kind="attack"))
    assert {row.learns for row in usual.find(kind="measure")} == {None}


def row(**about) -> Row:
    return Row(kind="query attack", metric="auc", value=0.5, learns="membership", attack="aloa", **about)


@pytest.mark.parametrize(("queries", "many"), [(100, False), (200, False), (201, True)])
def test_more_than_two_queries_per_record_are_many(queries, many):
    assert (MANY not in not_tested(Results(rows=[row(queries=queries, n=100)]))) == many


def test_nothing_ran_and_nothing_was_tested():
    assert not_tested(Results()) == [*HARMS.values(), MANY, *ALWAYS]


def test_an_attack_that_failed_asked_nothing():
    (run,) = queries.runs([registry.build("query_attack", "aloa")], [])
    game = Game(np.eye(2, dtype=bool), [0], np.array([[False, True]]), np.ones((2, 1), bool))
    failed = Results(rows=[Row(kind="query attack", metric="auc", value=None, learns="membership", attack="aloa", n=2)])
    (threat,) = threats(failed, game, [run])
    assert threat.asks == "0 queries"


def test_shadow_models_are_described_by_whom_they_were_trained_on():
    member = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1]], dtype=bool)
    shadows = np.array([[False, True, True]])
    everybody = Game(member, [0], shadows, np.ones((3, 1), bool))
    assert shadows_held(everybody) == "all 3 candidates, and 2 shadow models, each trained on about 83 % of these"
    some = Game(member, [0], shadows, np.array([[True], [True], [False]]))
    assert shadows_held(some).endswith("and on 1 members it knows, who are not judged")
    apart = Game(np.array([[1, 0], [0, 1]], dtype=bool), [0], np.array([[False, True]]), np.array([[True], [False]]))
    assert "none trained on a record that is judged" in shadows_held(apart)


@pytest.mark.parametrize(("explainers", "said"), [(("nice",), False), (("nice", "lime"), True)])
def test_several_explanations_are_attacked_one_by_one_and_that_is_said(explainers, said):
    rows = [Row(kind="contrast", metric="auc", value=0.0, explainer=name) for name in explainers]
    assert (TOGETHER in not_tested(Results(rows=rows))) == said
