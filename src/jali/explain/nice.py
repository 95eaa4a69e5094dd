"""Counterfactuals that are training rows, or lie between a record and one: the nearest unlike neighbour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from jali.core.distance import paired
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants, legal
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.explain._recourse import vae as _vae
from jali.explain.native.rows import Pool, hopes, judged, parties, remembered

LATENT, HIDDEN = 8, 20  # the autoencoder that plausibility is measured with
EPSILON = 1e-11  # as published: between equal gains per distance it lets the longer step win
CHOICES = {
    "optimise": ("none", "sparsity", "proximity", "plausibility"),
    "candidates": ("predicted", "justified"),
    "immutable": ("agree", "free"),
    "ranges": ("schema", "owner"),
}
Reward = Callable[[Floats, Floats, Floats], Floats]  # of gain (m,), rows before (m, D) and after one change (m, D)


@dataclass(frozen=True)
class NICE:
    """The nearest training row with the outcome hoped for, or the first mixture of record and row that has it.

    The neighbour is the nearest of the owner's rows in HEOM (`ranges`: of the schema, or of the owner's rows as
    published) whose *predicted* class is the favourable one, or any other than the record's where none is favourable;
    equal distances go to the first row. `optimise` says what is released:

    - "none": the neighbour, a real person's row;
    - otherwise the record, with the neighbour's values put in one column at a time until the outcome changes. Each step
      takes the column of largest reward, the first of equal ones, where gain = rise of the hoped-for class's
      probability: "sparsity" gain; "proximity" gain / (HEOM length of the change + 1e-11); "plausibility"
      gain * (error before - error after), with the mean squared error of reconstruction in model space by an
      autoencoder of the owner's rows (the one of `cchvae`, 8 latent dimensions). As published, the product also
      rewards a step that lowers the probability and raises the error.

    Every value released comes from the record or from one training row: `releases` says "rows". `origin` names the
    row where it is released whole.

    candidates: "predicted", as in Goethals et al., or "justified": only rows whose label is the predicted one, the
    default of the published package. immutable: only rows that "agree" with the record on immutable columns are
    neighbours, and without one there is no answer; "free" ignores what is immutable, as the package does. The package
    by its own defaults is `NICE("sparsity", "justified", "free", "owner")`.

    Brughmans, Leyman and Martens, NICE: an algorithm for nearest instance counterfactual explanations, 2023; attacked
    by Goethals, Soerensen and Martens, The privacy issue of counterfactual explanations, 2023.

    >>> from jali.core.values import Column
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a", low=0, high=10), Column("b", low=0, high=10)), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([0.0, -7.0]))
    >>> owner = Dataset(np.array([[9.0, 9.0], [3.0, 4.0]]), [1, 1], schema)
    >>> out = NICE().explain(model, np.array([[1.0, 1.0]]), schema, owner, np.random.default_rng(0))
    >>> out.rows, out.origin
    (array([[3., 4.]]), array([1]))
    >>> NICE("sparsity").explain(model, np.array([[1.0, 1.0]]), schema, owner, np.random.default_rng(0)).rows
    array([[1., 4.]])
    """

    optimise: Literal["none", "sparsity", "proximity", "plausibility"] = "none"
    candidates: Literal["predicted", "justified"] = "predicted"
    immutable: Literal["agree", "free"] = "agree"
    ranges: Literal["schema", "owner"] = "schema"
    gives: ClassVar[Gives] = "counterfactual"
    wants: ClassVar[Wants] = "labels"
    reads: ClassVar[frozenset[str]] = frozenset({"owner"})
    releases: ClassVar[frozenset[str]] = frozenset({"rows"})

    def __post_init__(self) -> None:
        for field, allowed in CHOICES.items():
            if getattr(self, field) not in allowed:
                raise JaliError(f"nice: {field} must be one of {', '.join(allowed)}, not {getattr(self, field)!r}.")

    def explain(self, model: Model, X: Floats, schema: Schema, owner: Dataset | None, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """Counterfactual rows (n, D) where a neighbour was found, and the training rows that are released whole."""
        legal(X, schema)
        pool, owner = Pool.of("nice", owner, schema, self.ranges, self.immutable)
        wanted = hopes(judged(model, X)[1], schema)
        origin = self._neighbours(model, X, wanted, pool, owner.y)
        found = origin >= 0
        rows: Floats = np.where(found[:, None], owner.X[origin], X)
        if self.optimise != "none" and found.any():
            at = np.flatnonzero(found)
            walk = _Walk(model, X[at], rows[at], wanted[at])
            rows[at], found[at] = walk.until_valid(self._reward(owner, pool))
        whole = found & (rows == owner.X[origin]).all(axis=1)
        return Counterfactual(np.where(found[:, None], rows, X), found, origin=np.where(whole, origin, -1))

    def _neighbours(self, model: Model, X: Floats, wanted: Bools, pool: Pool, y: Ints) -> Ints:
        """The nearest row (n,) whose label is among those wanted (n, C), -1 where there is none."""
        label = remembered(model, pool.rows)[1]
        sound = label == y if self.candidates == "justified" else np.ones(len(y), dtype=bool)
        out = np.full(len(X), -1)
        for who, classes in parties(wanted):
            out[who] = pool.nearest(X[who], 1, classes[label] & sound)[0][:, 0]
        return out

    def _reward(self, owner: Dataset, pool: Pool) -> Reward:
        """How good each of m changes is, by what it gains and the rows before and after it."""
        if self.optimise == "sparsity":
            return lambda gain, _before, _after: gain
        if self.optimise == "proximity":
            return lambda gain, before, after: gain / (paired(before, after, pool.schema, pool.spans) + EPSILON)
        error = _errors(owner, pool.schema)
        return lambda gain, before, after: gain * (error(before) - error(after))


@dataclass(frozen=True, eq=False)
class _Walk:
    """From records X (n, D) towards their goals (n, D), until the label is among those wanted (n, C)."""

    model: Model
    X: Floats
    goal: Floats
    wanted: Bools

    def until_valid(self, reward: Reward) -> tuple[Floats, Bools]:
        """Rows (n, D) where the walks ended, and which of them are valid (n,); all records take a step at a time."""
        now, done = self.X.copy(), np.zeros(len(self.X), dtype=bool)
        p = judged(self.model, now)[0]
        for _ in range(now.shape[1]):
            who, column = np.nonzero((now != self.goal) & ~done[:, None])
            if not len(who):
                break
            tried = now[who]
            tried[np.arange(len(who)), column] = self.goal[who, column]
            chance, label = judged(self.model, tried)
            gain = np.where(self.wanted[who], chance - p[who], -np.inf).max(axis=1)
            best = _best(who, column, reward(gain, now[who], tried), now.shape)
            there = who[best]
            now[there], p[there], done[there] = tried[best], chance[best], self.wanted[there, label[best]]
        return now, done


def _best(who: Ints, column: Ints, reward: Floats, shape: tuple[int, ...]) -> Ints:
    """Of the trials of each record the one of largest reward, the first column of equal ones; positions in who."""
    table, place = np.full(shape, -np.inf), np.full(shape, -1)
    table[who, column], place[who, column] = reward, np.arange(len(who))
    some = np.unique(who)
    return np.asarray(place[some, table[some].argmax(axis=1)])


def _errors(owner: Dataset, schema: Schema) -> Callable[[Floats], Floats]:
    """How badly (n,) an autoencoder of the owner's rows rebuilds raw rows (n, D)."""
    whole = replace(schema, columns=tuple(replace(c, mutable=True) for c in schema.columns))
    vae, encoding = _vae.trained(owner, whole, LATENT, HIDDEN), Encoding(whole)

    def errors(rows: Floats) -> Floats:
        scaled = vae.scaled(encoding.encode(rows))
        rebuilt = _vae.forward(vae.layers, vae.layout, scaled, np.zeros((len(rows), LATENT))).made
        return np.asarray(((rebuilt - scaled) ** 2).mean(axis=1))

    return errors
