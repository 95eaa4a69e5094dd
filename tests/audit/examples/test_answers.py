"""What people are told: whose records, which answers, and that nothing of it exists unless somebody asked for it."""

from __future__ import annotations

import itertools
import re
import zlib
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from jali.api import audit
from jali.audit.examples.answers import NOTHING, PEOPLE, SHORT, WITHHELD, examples, leads_to
from jali.audit.experiment import run
from jali.audit.one_model import EXPLAIN, TRAIN, stream
from jali.audit.setup import Experiment, Resources, load
from jali.core import registry
from jali.core.explanation import Counterfactual, Regions
from jali.core.values import Column, Dataset, Schema, SignalName
from jali.report.audit import answers
from jali.store import Store
from jali.text.sentences import sentences, value
from tests.explaining import Direct, explained
from tests.pictures import Bars

EXPLAIN_WITH = ["nice", "k_anonymous(nice(), k=12)", "linear_recourse"]
SPECS = ["nice", "k_anonymous(k=12)", "linear_recourse"]
TOWNS = ("Quixley", "Wexcombe", "Zeldham")


@dataclass(frozen=True)
class Loans:
    """People of three towns who hope for a loan."""

    n: int = 300
    favourable: int | None = 1

    def load(self) -> Dataset:
        rng = np.random.default_rng(0)
        age, town, income = (
            rng.integers(20, 60, self.n),
            rng.integers(0, 3, self.n),
            rng.integers(21_000, 69_000, self.n),
        )
        columns = (
            Column("age", "integer", 18, 90, 40, 12, role="quasi"),
            Column("town", "category", categories=TOWNS),
            Column("income", "integer", 0, 99_000, 45_000, 14_000),
        )
        y = income + 200 * age + rng.normal(0, 8000, self.n) > 52_000
        return Dataset(np.c_[age, town, income], y, Schema(columns, ("refused", "granted"), favourable=self.favourable))


@dataclass(frozen=True)
class Mute(Direct):
    """Answers nobody; to people of an even age it withholds the answer."""

    gives: ClassVar[str] = "counterfactual"
    wants: ClassVar[str] = "labels"

    def answer(self, model, X, schema, train, rng):
        return Counterfactual(X, np.zeros(len(X)), withheld=X[:, 0] % 2 == 0)


@dataclass(frozen=True)
class Lottery(Direct):
    """Asks people for an income that is drawn, in an order that hangs on who else is asked about."""

    most: int = 30_000
    gives: ClassVar[str] = "counterfactual"
    wants: ClassVar[str] = "labels"

    def answer(self, model, X, schema, train, rng):
        counterfactuals = X.copy()
        counterfactuals[:, 2] += rng.integers(1, self.most, len(X))
        return Counterfactual(counterfactuals, np.ones(len(X)))


@dataclass(frozen=True)
class Band(Direct):
    """Tells everybody to be of any age and to have an income from 45,000 to 50,000, whatever comes of it."""

    gives: ClassVar[str] = "counterfactual"
    wants: ClassVar[str] = "labels"

    def answer(self, model, X, schema, train, rng):
        low, high = X.copy(), X.copy()
        low[:, [0, 2]], high[:, [0, 2]] = (18, 45_000), (90, 50_000)
        regions = Regions(low, high, Regions.of(X, schema).allowed | True, schema)
        return Counterfactual(regions.nearest(X), np.ones(len(X)), regions)


def found(**more):
    how = {"data": Loans(), "explain": EXPLAIN_WITH, "attack": ["calibrated"], "game": "rotate(models=2)", "seed": 3}
    return audit("logistic", **(how | more))


def outcome(*explainers, data=Loans(), resources=Resources()):  # noqa: B008 (frozen)
    parts_of = (registry.build("model", "logistic"), registry.build("game", "rotate(models=2)"))
    experiment = Experiment(data, *parts_of, explainers, (registry.build("attack", "calibrated"),), seed=3)
    setup = load(experiment)
    return setup, run(setup, resources)


@pytest.fixture(scope="module")
def shown():
    return found(show_values=True)


@pytest.fixture(scope="module")
def target(shown):
    """The first target, trained anew."""
    data, member = Loans().load(), shown.game.member[:, [0]]
    return registry.build("model", "logistic").fit(data, member, [stream(3, TRAIN, 0)])[0]


def test_records_are_denied_and_written_by_column(shown, target):
    data, said = Loans().load(), shown.results.examples
    assert (said["model"], said["hoped"], said["explainers"]) == (0, "granted", SPECS)
    assert len(said["records"]) == PEOPLE
    for record in said["records"]:
        i, (age, town, income) = record["record"], data.X[record["record"]]
        assert target.logits(data.X[[i]]).argmax() == 0
        assert shown.game.scored[i, 0]
        assert record["cells"] == {"age": f"{age:.0f}", "town": TOWNS[int(town)], "income": f"{income:,.0f}"}
        assert (record["now"], record["member"]) == ("refused", bool(shown.game.member[i, 0]))
        assert record["more"] == 0


def test_exposed_people_come_first_among_those_with_as_many_answers(shown, target):
    data, game = Loans().load(), shown.game
    denied = {int(i) for i in np.flatnonzero(game.scored[:, 0]) if target.logits(data.X[[i]]).argmax() == 0}
    evidence, exposed = shown.evidence, {row.record for row in shown.results.exposed}
    told_of = [next(s for s, n in enumerate(evidence.names) if n.explainer == e) for e in SPECS]
    answered = {i: evidence.observed[told_of, i, 0].sum() for i in denied}
    order = sorted(denied, key=lambda i: (-answered[i], i not in exposed, i))
    assert exposed & denied
    assert [r["record"] for r in shown.results.examples["records"]] == order[:PEOPLE]


def test_sentences_are_those_of_the_answers_that_were_audited(shown, target):
    data, said = Loans().load(), shown.results.examples
    train = data.rows(shown.game.member[:, 0])
    for at, name in enumerate(said["explainers"]):
        explainer = registry.build("explain", EXPLAIN_WITH[at])
        for record in said["records"]:
            tile = record["record"] // 256
            rows = np.arange(256 * tile, min(256 * (tile + 1), len(data)))
            rng = stream(3, EXPLAIN, zlib.crc32(name.encode()), 0, tile)
            counterfactuals = explained(explainer, target, data.X[rows], data.schema, train, rng)
            mine = rows == record["record"]
            share = np.array([kept(target, counterfactuals.pick(mine).shown(data.schema), train)])
            assert [record["said"][at]] == sentences(data.X[rows[mine]], counterfactuals.pick(mine), data.schema, share)


def kept(model, region, train):
    """Share of all combinations in a region that the model grants a loan, counted one by one."""
    columns = train.schema.columns
    values = [
        np.flatnonzero(region.allowed[0, j]) if c.kind == "category" else inside(train.X[:, j], region, j)
        for j, c in enumerate(columns)
    ]
    rows = np.array(list(itertools.product(*values)), dtype=float)
    return float((model.logits(rows).argmax(axis=1) == 1).mean())


def inside(x, region, j):
    low, high = region.low[0, j], region.high[0, j]
    some = np.unique(x[(x >= low) & (x <= high)])
    return some if len(some) else np.array([low])


def test_generalised_answers_stand_beside_those_of_one_person(shown):
    plain, wide, _ = zip(*(r["said"] for r in shown.results.examples["records"]), strict=True)
    assert all(line.endswith("the outcome would be granted.") for line in plain)
    assert not any(re.search(r"\d to \d|left open", line) for line in plain)
    assert any(re.search(r"age were .*\(\d+ to \d+, not \d+\)", line) for line in wide)


def test_answers_that_hang_on_their_company_are_those_whose_signals_were_attacked():
    setup, made = outcome(Lottery())
    signal = made.evidence.names.index(
        SignalName("counterfactual_distance", "tests.audit.examples.test_answers:Lottery")
    )
    records = examples(setup, Resources(), made)["records"]
    for record in records:
        more = float(re.search(r"income were ([\d,]+) higher", record["said"][0])[1].replace(",", ""))
        distance = made.evidence.value[signal, record["record"], 0]
        assert np.log(more / 14_000) == pytest.approx(distance)


def test_promises_that_are_not_kept_are_not_made_without_reserve():
    setup, made = outcome(Lottery(most=2))  # nobody has another outcome for one more of anything
    for record in examples(setup, Resources(), made)["records"]:
        assert record["said"][0].endswith("the outcome would be granted (in 0 % of the cases this covers).")


def test_shares_of_more_cases_than_can_be_asked_about_are_estimates():
    setup, made = outcome(Band(), data=Loans(700))
    data, inside = made.data, made.game.member[:, 0]
    model = registry.build("model", "logistic").fit(data, inside[:, None], [stream(3, TRAIN, 0)])[0]
    record = next(r for r in examples(setup, Resources(), made)["records"] if r["cells"]["income"] < "45")
    ending = re.search(
        r"granted \(in about (\d+) % of the cases this covers, with age and town left open\)", record["said"][0]
    )
    region = explained(Band(), model, data.X[[record["record"]]], data.schema, None, None).regions
    assert int(ending[1]) / 100 == pytest.approx(kept(model, region, data.rows(inside)), abs=0.05)


def test_where_no_outcome_is_favourable_everybody_hopes_for_another():
    data = Loans(favourable=None)
    setup, made = outcome(Lottery(most=2), registry.build("explain", "nice"), data=data)
    said = examples(setup, Resources(), made)
    assert said["hoped"] == ""
    for record in said["records"]:
        same, other = record["said"]
        assert same.endswith("the outcome would be another one (in 0 % of the cases this covers).")
        assert other.endswith("the outcome would be another one.")
    assert answers.about(said) == "Target model 0 predicts these 3 records; no outcome is marked as favourable."


def test_withheld_and_missing_answers_are_told_apart():
    setup, made = outcome(Mute())
    data = Loans().load()
    records = examples(setup, Resources(), made)["records"]
    assert [r["said"][0] for r in records] == [NOTHING if data.X[r["record"], 0] % 2 else WITHHELD for r in records]
    assert {WITHHELD, NOTHING} == set(answers.NONE)
    assert len({r["said"][0] for r in records}) == 2


def test_the_target_comes_from_the_store_and_no_store_changes_nothing(tmp_path, monkeypatch):
    resources = Resources(store=Store(tmp_path))
    setup, made = outcome(registry.build("explain", "nice"), resources=resources)
    fresh = examples(setup, Resources(), made)
    monkeypatch.setattr("jali.audit.one_model._trained", lambda *_: pytest.fail("trained again"))
    assert examples(setup, resources, made) == fresh


def test_nothing_is_made_or_written_unless_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr("jali.api.running.examples", lambda *_: pytest.fail("answers were made"))
    quiet = found(explain=EXPLAIN_WITH[:1])
    assert not quiet.results.examples
    page = quiet.save(tmp_path).read_text()
    written = page + (tmp_path / "results.json").read_text() + (tmp_path / "audit.toml").read_text() + repr(quiet)
    assert "would be granted" not in written
    assert answers.TITLE not in written
    assert not any(town in written for town in TOWNS)
    incomes = {f"{x:{how}}" for x in Loans().load().X[:, 2] for how in (".0f", ",.0f")}
    assert not incomes & set(re.findall(r"(?<![\d.,])\d[\d,]*(?![\d.])", written))


def test_page_and_terminal_show_all_of_it(shown, tmp_path):
    page, plain = shown.save(tmp_path).read_text(), repr(shown)
    for record in shown.results.examples["records"]:
        assert all(f"<span>{line}</span>" in page for line in record["said"])
        assert f"Row {record['record']} <span" in page
        assert f"row {record['record']}" in plain
    assert answers.TITLE in plain
    assert page.count("the outcome would be granted") == 3 * PEOPLE  # and not among the facts again


def test_attacks_that_ask_alone_show_it_too():
    asked = found(attack=["linkage"], knowledge="register", show_values=True)
    assert not asked.results.find(kind="attack")
    assert [len(r["said"]) for r in asked.results.examples["records"]] == [3] * PEOPLE


def test_pictures_and_attributions_have_no_sentences():
    more = {"explain": ["input_x_gradient"], "show_values": True}
    assert not found(**more).results.examples
    assert not found(**more | {"data": Bars(240), "explain": ["linear_recourse"]}).results.examples


def test_nobody_denied_is_nobody_told():
    setup, made = outcome(Mute())
    nobody = replace(setup, game=replace(setup.game, scored=np.zeros_like(setup.game.scored)))
    assert examples(nobody, Resources(), made) == {}


def test_long_records_are_cut():
    assert SHORT == 12
    wide = audit("logistic", data="lending(n=300)", explain=["linear_recourse"], attack=["calibrated"],
                 game="rotate(models=2)", show_values=True)  # fmt: skip
    for record in wide.results.examples["records"]:
        assert (len(record["cells"]), record["more"]) == (12, 10)
        assert answers.row(record).endswith(" and 10 more columns")


@pytest.mark.parametrize(
    ("column", "x", "text"),
    [
        (Column("a", "integer"), 0.0, "0"),
        (Column("a"), -0.0, "0"),
        (Column("a", "integer"), 1_234_567.0, "1,234,567"),
        (Column("a", "integer"), 20_240_131.0, "20240131"),
        (Column("a"), 0.1 + 0.2, "0.3"),
        (Column("a"), -1e-7, "-0.0000001"),
    ],
)
def test_values_are_written_as_in_sentences(column, x, text):
    assert value(column, x) == text


def test_an_answer_that_is_a_row_leads_to_its_person_and_their_values():
    data = Loans(n=40).load()
    trained = np.arange(20)
    ages = data.X[trained, 0]
    alone = int(trained[np.flatnonzero([np.sum(ages == a) == 1 for a in ages])[0]])
    nobody = data.X[alone].copy()
    nobody[0] = 89
    shown = Counterfactual(np.array([data.X[alone], nobody, data.X[alone]]), np.array([True, True, False]))
    first, second, third = leads_to(shown, data, trained)
    town = TOWNS[int(data.X[alone, 1])]
    income = value(data.schema.columns[2], float(data.X[alone, 2]))
    assert first == (
        f"fits row {alone} alone; 2 of 2 other values of that person are then known: town {town}, income {income}"
    )
    assert second == "fits nobody in the training data"
    assert third == ""


def test_without_quasi_identifiers_nobody_is_looked_for():
    data = Loans(n=10).load()
    bare = replace(
        data, schema=replace(data.schema, columns=tuple(replace(c, role="private") for c in data.schema.columns))
    )
    assert leads_to(Counterfactual(data.X, np.ones(10, dtype=bool)), bare, np.arange(10)) == [""] * 10
