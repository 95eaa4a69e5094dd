"""What no search can answer: every recourse explainer says so, in a sentence or by found = False, and ends."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import pytest

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual
from jali.core.protocols import releases_rows
from jali.core.values import Column, Dataset, Schema
from jali.explain._recourse import vae
from jali.models.fitted.linear import LinearModel
from jali.models.fitted.network import Network
from tests.explaining import explained


def built(name: str):
    """The explainer of this name, or None where it needs to be told something."""
    try:
        return registry.build("explain", name)
    except JaliError:
        return None


# Those that wrap a native explainer, or another library, have errors of their own, in their own tests. k_groups refuses
# tables of fewer people than a group, as most here are; tests/protect has what it cannot answer.
NAMES = [
    n
    for n in registry.names("explain")
    if getattr(built(n), "gives", "") == "counterfactual"
    and not hasattr(built(n), "inner")
    and n not in ("dice", "k_groups")
]
every = pytest.mark.parametrize("name", NAMES)
ROWS = 10_000_000  # growing_spheres stops after some millions where there is no answer; what never ends asks for more
asked: list[int] = []

SCHEMA = Schema(
    (
        Column("income", "number", 0, 200, 50, 25),
        Column("lines", "integer", 0, 12, 4, 3),
        Column("job", "category", categories=("a", "b", "c")),
        Column("age", "integer", 18, 90, 45, 15, mutable=False),
    ),
    favourable=1,
)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """An autoencoder trained for a moment: what it has learnt does not matter here."""
    monkeypatch.setattr(vae, "STEPS", 100)
    monkeypatch.setattr(vae, "EPOCHS", 1)


class Labels:
    """A model that answers and tells nothing else."""

    name = "OnlyLabels"

    def logits(self, X):
        return np.stack([np.zeros(len(X)), X[:, 0] - 60.0], axis=1)


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """Count the rows that models are asked about since the last explanation began, and stop where it is too many."""
    for cls in (LinearModel, Network, Labels):

        def logits(self, X, plain=cls.logits):
            asked.append(len(X))
            assert sum(asked) < ROWS
            return plain(self, X)

        monkeypatch.setattr(cls, "logits", logits)


def table(n: int = 6) -> np.ndarray:
    rng = np.random.default_rng(0)
    columns = [rng.uniform(0, 100, n), rng.integers(0, 13, n), rng.integers(0, 3, n), np.full(n, 45)]
    return np.stack(columns, axis=1).astype(float)


def line(schema: Schema, weight: float = 1.0, bias: float = -3.0) -> LinearModel:
    """The second class is likelier the larger the columns of model space are."""
    w = np.full(len(Encoding(schema).source), weight)
    return LinearModel(Encoding(schema), np.stack([0 * w, w], axis=1), np.array([0.0, bias]))


def network(schema: Schema, weight: float = 1.0, bias: float = -3.0, threshold: float = 0.0) -> Network:
    """The same score behind two relus; dead everywhere with a threshold no row reaches."""
    w = np.full(len(Encoding(schema).source), weight)
    last = np.array([[0.0, 1.0], [0.0, -1.0]])
    return Network(Encoding(schema), (np.stack([w, -w], axis=1), last), (np.full(2, -threshold), np.array([0.0, bias])))


def ask(name: str, model, X, schema: Schema = SCHEMA, train: Dataset | None = None) -> Counterfactual:
    """An explanation of raw rows, after so many questions at most, and honest about every one of them."""
    explainer = registry.build("explain", name)
    X = np.asarray(X, dtype=float)
    if train is None:
        train = Dataset(X if len(X) else table(), np.zeros(len(X) or 6), schema)
    X.setflags(write=False)
    asked.clear()
    out = explained(explainer, model, X, schema, train, np.random.default_rng(0))
    honest(out, model, X, schema)
    return out


def honest(out: Counterfactual, model, X, schema: Schema) -> None:
    assert out.rows.shape == X.shape
    assert np.isfinite(out.rows).all()
    np.testing.assert_array_equal(out.rows[~out.found], X[~out.found])
    before, after = (model.logits(rows).argmax(axis=1) for rows in (X, out.rows))
    assert (after != before)[out.found].all()
    assert schema.favourable is None or (after == schema.favourable)[out.found].all()
    for column, old, new in zip(schema.columns, X.T, out.rows.T, strict=True):
        moved = old != new
        assert column.mutable or not moved.any()
        assert (new[moved] >= column.low).all()
        assert (new[moved] <= column.high).all()
        assert column.kind == "number" or (new[moved] == np.rint(new[moved])).all()
    Encoding(schema).encode(out.rows)


def wants(name: str) -> str:
    return registry.build("explain", name).wants


def releases(name: str) -> bool:
    """Whether it answers with training rows, so that what no row has is out of its reach."""
    return releases_rows(registry.build("explain", name))


def fits(name: str) -> list[Callable[..., LinearModel | Network]]:
    """What makes models this explainer can explain."""
    return [line] if wants(name) == "linear" else [line, network]


@every
def test_a_model_without_gradients_is_refused_with_the_explainers_that_fit(name):
    if wants(name) == "labels":
        assert ask(name, Labels(), table()).found.any()
        return
    with pytest.raises(JaliError, match=f"{name} needs .* OnlyLabels .*choose an explainer that fits") as refusal:
        ask(name, Labels(), table())
    named = re.split(r"[(), ]+", str(refusal.value).split("fits")[1])
    assert {n for n in NAMES if n in named} == {n for n in NAMES if wants(n) == "labels"}


@every
def test_a_model_that_denies_everybody_has_no_recourse(name):
    for make in fits(name):
        out = ask(name, make(SCHEMA, weight=0.0), table())
        assert not out.found.any()


@every
def test_a_network_that_is_dead_everywhere_has_no_recourse(name):
    dead = network(SCHEMA, threshold=1e6)
    if network not in fits(name):
        with pytest.raises(JaliError, match="choose an explainer that fits"):
            ask(name, dead, table())
        return
    assert not ask(name, dead, table()).found.any()


@every
def test_columns_that_are_all_immutable_leave_nothing_to_change(name):
    fixed = dataclasses.replace(SCHEMA, columns=tuple(dataclasses.replace(c, mutable=False) for c in SCHEMA.columns))
    for make in fits(name):
        assert not ask(name, make(fixed), table(), fixed).found.any()


@every
def test_whoever_has_the_favourable_outcome_is_left_alone(name):
    for make in fits(name):
        assert not ask(name, make(SCHEMA, bias=1e3), table()).found.any()


@every
@pytest.mark.parametrize("n", [0, 1])
def test_no_rows_and_one_row(name, n):
    X = table()[:n]
    train = Dataset(table(), np.zeros(6), SCHEMA)
    for make in fits(name):
        assert ask(name, make(SCHEMA), X, train=train).found.all()


@every
@pytest.mark.parametrize("favourable", [1, None])
def test_a_table_of_categories_only(name, favourable):
    columns = tuple(Column(c, "category", categories=("x", "y", "z")) for c in "ab")
    schema = Schema((*columns, Column("one", "category", categories=("only",))), favourable=favourable)
    X = np.array([[a, b, 0] for a in range(3) for b in range(3)], dtype=float)
    w = np.array([0, 1, 2, 0, 1, 2, 0], dtype=float)
    model = LinearModel(Encoding(schema), np.stack([0 * w, w], axis=1), np.array([0.0, -2.5]))
    out, asked = ask(name, model, X, schema), X.sum(axis=1) < 3 if favourable else np.full(9, True)
    if name in ("growing_spheres", "scfe"):
        np.testing.assert_array_equal(out.found, asked)
    if name == "linear_recourse":  # moves numbers only
        assert not out.found.any()


@every
def test_an_outcome_beyond_the_bounds_is_out_of_reach(name):
    for make in fits(name):
        assert not ask(name, make(SCHEMA, bias=-1e4), table()).found.any()


@every
@pytest.mark.parametrize("spread", [1e-3, 1.0, 1e12])
def test_huge_values_beside_constant_columns(name, spread):
    columns = (
        Column("a", spread=spread),
        Column("b", "integer", spread=spread),
        Column("c"),
        Column("d", low=5, high=5),
    )
    schema = Schema(columns, favourable=1)
    X = np.stack([np.linspace(-1e12, -9e11, 5), np.full(5, -1e12), np.full(5, 7.0), np.full(5, 5.0)], axis=1)
    for make in fits(name):
        out = ask(name, make(schema, bias=-20.0), X, schema)
        if name == "linear_recourse":  # nothing is too far for a closed form
            assert out.found.all()


@every
def test_records_on_the_boundary_and_outside_their_bounds(name):
    """A tie goes to the first class, so it is denied; values the schema does not allow are no reason to fail."""
    schema = Schema((Column("a", low=-4, high=9), Column("b", "integer", -5, 5)), favourable=1)
    X = np.array([[3.0, 0], [1, 2], [3 - 1e-12, 0], [-50, 0], [2, -90], [1, 0.5]])
    for make in fits(name):
        found = ask(name, make(schema), X, schema).found
        if name != "cchvae" and not releases(name):  # decoded rows may miss, and no row here has the outcome
            assert found[:3].all()


@every
@pytest.mark.parametrize("n", [1, 5])
def test_a_training_set_of_few_rows_of_one_class(name, n):
    for label in (0, 1):
        train = Dataset(table(n), np.full(n, label), SCHEMA)
        for make in fits(name):
            ask(name, make(SCHEMA), table(), train=train)


@every
def test_a_favourable_class_that_no_training_row_has_is_out_of_reach(name):
    schema = dataclasses.replace(SCHEMA, classes=("no", "perhaps", "yes"), favourable=2)
    train = Dataset(table(40), table(40)[:, 0] > 50, schema)
    model = registry.build("model", "logistic").fit(train, np.ones((40, 1), dtype=bool), [np.random.default_rng(0)])[0]
    if name == "linear_recourse":
        with pytest.raises(JaliError, match="two classes only"):
            ask(name, model, table(), schema, train)
        return
    assert not ask(name, model, table(), schema, train).found.any()


@pytest.mark.parametrize("n", [0, 1, 31, 33])
def test_the_autoencoder_trains_on_any_number_of_rows_but_none(n):
    train = Dataset(table(n), np.zeros(n), SCHEMA)
    if n == 0:
        with pytest.raises(JaliError, match="none was given"):
            ask("cchvae", line(SCHEMA), table(), train=train)
        return
    ask("cchvae", line(SCHEMA), table(), train=train)
