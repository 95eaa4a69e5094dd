"""NICE: counterfactuals that are training rows, or mixtures of the record and one (its nearest unlike neighbour)."""

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
from jali.explain.native.rows import Pool, by_wanted, predictions, wanted_classes

LATENT, HIDDEN = 8, 20  # size of the autoencoder that measures plausibility
EPSILON = 1e-11  # as published; of steps with equal gain per distance, the longer one wins
CHOICES = {
    "optimise": ("none", "sparsity", "proximity", "plausibility"),
    "candidates": ("predicted", "justified"),
    "immutable": ("agree", "free"),
    "ranges": ("schema", "train"),
}
Reward = Callable[[Floats, Floats, Floats], Floats]  # (gain (m,), rows before (m, D), rows after (m, D)) -> (m,)


@dataclass(frozen=True)
class NICE:
    """The nearest training row with the wanted outcome, or the first mixture of record and row that has it.

    The neighbour is the nearest training row in HEOM whose *predicted* class is the favourable one, or any class other
    than the record's where none is favourable. Of rows at equal distance the first is taken. `ranges` says what HEOM
    scales columns by: "schema", the bounds of the schema, or "train", the range in the training rows, as published.
    `optimise` says what is released:

    - "none": the neighbour, a real person's row;
    - otherwise the record, into which the neighbour's values are put one column at a time until the outcome changes.
      Each step takes the column with the largest reward (the first of several). The gain is the increase in the
      probability of the wanted class. The reward is, for "sparsity", the gain; for "proximity",
      gain / (HEOM length of the change + 1e-11); for "plausibility", gain * (error before - error after), where the
      error is the mean squared reconstruction error, in the encoded features, of an autoencoder of the training rows
      (the one of `cchvae`, 8 latent dimensions). As published, the product also rewards a step that lowers the
      probability and raises the error.

    Every value released comes from the record or from one training row (`releases_rows`). `origin` is the position of
    that row where it is released whole.

    candidates: "predicted", as in Goethals et al., or "justified", the default of the published package: only rows
    whose true label is the predicted one. immutable: with "agree", only rows that agree with the record on immutable
    columns are neighbours, and without such a row there is no answer; "free" ignores immutability, as the package
    does. The package's own defaults are `NICE("sparsity", "justified", "free", "train")`.

    Brughmans, Leyman and Martens, NICE: an algorithm for nearest instance counterfactual explanations, 2023; attacked
    by Goethals, Soerensen and Martens, The privacy issue of counterfactual explanations, 2023.

    >>> from jali.core.values import Column
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a", low=0, high=10), Column("b", low=0, high=10)), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([0.0, -7.0]))
    >>> train = Dataset(np.array([[9.0, 9.0], [3.0, 4.0]]), [1, 1], schema)
    >>> rng = np.random.default_rng(0)
    >>> ready = NICE().prepare(model, schema, train, rng)
    >>> out = ready.explain(np.array([[1.0, 1.0]]), rng)
    >>> out.rows, out.origin
    (array([[3., 4.]]), array([1]))
    >>> ready = NICE("sparsity").prepare(model, schema, train, rng)
    >>> ready.explain(np.array([[1.0, 1.0]]), rng).rows
    array([[1., 4.]])
    """

    optimise: Literal["none", "sparsity", "proximity", "plausibility"] = "none"
    candidates: Literal["predicted", "justified"] = "predicted"
    immutable: Literal["agree", "free"] = "agree"
    ranges: Literal["schema", "train"] = "schema"
    gives: ClassVar[Gives] = "counterfactual"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for field, allowed in CHOICES.items():
            if getattr(self, field) not in allowed:
                raise JaliError(f"nice: {field} must be one of {', '.join(allowed)}, not {getattr(self, field)!r}.")

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Label the training rows with the model and choose the reward; rng is not used."""
        pool, rows = Pool.of("nice", train, schema, self.ranges, self.immutable)
        label = predictions(model, rows.X)[1]
        eligible = label == rows.y if self.candidates == "justified" else np.ones(len(label), dtype=bool)
        reward = self._reward(rows, pool)
        return (
            _Whole(model, pool, label, eligible, None)
            if reward is None
            else _Prepared(model, pool, label, eligible, reward)
        )

    def releases_rows(self) -> bool:
        """True: every value released comes from the record or from one training row."""
        return True

    def keeps_immutable(self) -> bool:
        """Whether an answer has the record's own values in the immutable columns."""
        return self.immutable == "agree"

    def _reward(self, train: Dataset, pool: Pool) -> Reward | None:
        """The reward of a change, from its gain and the rows before and after; None where the neighbour is released."""
        if self.optimise == "none":
            return None
        if self.optimise == "sparsity":
            return lambda gain, _before, _after: gain
        if self.optimise == "proximity":
            return lambda gain, before, after: gain / (paired(before, after, pool.schema, pool.spans) + EPSILON)
        error = _errors(train, pool.schema)
        return lambda gain, before, after: gain * (error(before) - error(after))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model.

    label (N,): predicted class of the training rows; eligible (N,): which of them may be neighbours; reward: of one
    change, or None where the neighbour itself is the answer.
    """

    model: Model
    pool: Pool
    label: Ints
    eligible: Bools
    reward: Reward | None

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """Counterfactual rows (n, D) where a neighbour was found, and which training rows were released whole."""
        legal(X, self.pool.schema)
        wanted = wanted_classes(predictions(self.model, X)[1], self.pool.schema)
        origin = self._neighbours(X, wanted)
        found = origin >= 0
        rows: Floats = np.where(found[:, None], self.pool.rows[origin], X)
        if self.reward is not None and found.any():
            at = np.flatnonzero(found)
            walk = _Walk(self.model, X[at], rows[at], wanted[at])
            rows[at], found[at] = walk.until_valid(self.reward)
        whole = found & (rows == self.pool.rows[origin]).all(axis=1)
        return Counterfactual(np.where(found[:, None], rows, X), found, origin=np.where(whole, origin, -1))

    def _neighbours(self, X: Floats, wanted: Bools) -> Ints:
        """Position (n,) of the nearest training row whose label is wanted (n, C); -1 where there is none."""
        out = np.full(len(X), -1)
        for who, classes in by_wanted(wanted):
            out[who] = self.pool.nearest(X[who], 1, classes[self.label] & self.eligible)[0][:, 0]
        return out


class _Whole(_Prepared):
    """The explainer where the neighbour itself is the answer."""

    def showable(self) -> Bools:
        """Which training rows (N,) may be shown to anybody."""
        return self.eligible

    def may_show(self, rows: Floats) -> Bools:
        """Every row (n,): a neighbour is chosen by its label and its distance alone."""
        return np.ones(len(rows), dtype=bool)


@dataclass(frozen=True, eq=False)
class _Walk:
    """Steps from records X (n, D) towards their neighbours, goal (n, D), until the label is wanted (n, C)."""

    model: Model
    X: Floats
    goal: Floats
    wanted: Bools

    def until_valid(self, reward: Reward) -> tuple[Floats, Bools]:
        """Rows (n, D) after the last step, and which are valid (n,); all records take each step together."""
        now, done = self.X.copy(), np.zeros(len(self.X), dtype=bool)
        p = predictions(self.model, now)[0]
        for _ in range(now.shape[1]):
            who, column = np.nonzero((now != self.goal) & ~done[:, None])
            if not len(who):
                break
            tried = now[who]
            tried[np.arange(len(who)), column] = self.goal[who, column]
            chance, label = predictions(self.model, tried)
            gain = np.where(self.wanted[who], chance - p[who], -np.inf).max(axis=1)
            best = _best(who, column, reward(gain, now[who], tried), now.shape)
            there = who[best]
            now[there] = tried[best]
            p[there] = chance[best]
            done[there] = self.wanted[there, label[best]]
        return now, done


def _best(who: Ints, column: Ints, reward: Floats, shape: tuple[int, ...]) -> Ints:
    """For each record, the position in who of the trial with the largest reward (the first column of several)."""
    table, place = np.full(shape, -np.inf), np.full(shape, -1)
    table[who, column], place[who, column] = reward, np.arange(len(who))
    some = np.unique(who)
    return np.asarray(place[some, table[some].argmax(axis=1)])


def _errors(train: Dataset, schema: Schema) -> Callable[[Floats], Floats]:
    """A function from raw rows (n, D) to their reconstruction error (n,) by an autoencoder of the training rows."""
    everything = replace(schema, columns=tuple(replace(c, mutable=True) for c in schema.columns))
    vae = _vae.trained(train, everything, LATENT, HIDDEN)
    encoding = Encoding(everything)

    def errors(rows: Floats) -> Floats:
        scaled = vae.scaled(encoding.encode(rows))
        rebuilt = _vae.forward(vae.layers, vae.layout, scaled, np.zeros((len(rows), LATENT))).made
        return np.asarray(((rebuilt - scaled) ** 2).mean(axis=1))

    return errors
