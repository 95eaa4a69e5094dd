"""Neighbourhoods of records: rows labelled by the black box, of the record's class and of others.

n records, S rows around each, D raw columns. All records of a call share the random draws, so that the neighbourhood of
a record does not depend on the other records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from jali.core.values import Bools, Floats, Ints, Rng
from jali.explain._surrogate import genetic
from jali.explain._surrogate.records import Records

Generator = Literal["genetic", "mixed", "probabilities", "counterfactual", "random"]
GENERATORS = ("genetic", "mixed", "probabilities", "counterfactual", "random")
OTHERS = 0.1  # least share of rows of another class in a neighbourhood, if such rows can be drawn at all
# The search for counterfactuals
WIDE = 4.0  # first radius, in spreads of the schema
HALVINGS = 8  # of the radius
KEPT = 16  # nearest counterfactuals that are kept


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Rows (n, S, D) around each record, the record itself first, and their labels (n, S)."""

    rows: Floats
    labels: Ints

    @property
    def both(self) -> Bools:
        """Whether the neighbourhood has more than one class (n,)."""
        return np.asarray((self.labels != self.labels[:, :1]).any(axis=1))


def around(records: Records, generator: Generator, samples: int, generations: int, rng: Rng) -> Neighbourhood:
    """Neighbourhoods of `samples` rows by one of the GENERATORS."""
    half = samples // 2
    makers: dict[str, Callable[[], tuple[Floats, Ints]]] = {
        "genetic": lambda: genetic.evolved(records, samples, generations, "label", rng),
        "probabilities": lambda: genetic.evolved(records, samples, generations, "probabilities", rng),
        "mixed": lambda: _joined(
            genetic.evolved(records, half, generations, "label", rng), _random(records, samples - half, rng)
        ),
        "counterfactual": lambda: _around_counterfactuals(records, samples, rng),
        "random": lambda: _random(records, samples, rng),
    }
    rows, labels = makers[generator]()
    rows, labels = _with_other_classes(records, rows, labels, rng)
    rows[:, 0] = records.X
    labels[:, 0] = records.own[1]
    return Neighbourhood(rows, labels)


def _joined(one: tuple[Floats, Ints], other: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    return np.concatenate([one[0], other[0]], axis=1), np.concatenate([one[1], other[1]], axis=1)


def _random(records: Records, samples: int, rng: Rng) -> tuple[Floats, Ints]:
    """Rows drawn from the whole population, the same for all records; the black box is queried once about each."""
    rows = records.marginals.draw((samples,), rng)
    n = len(records.X)
    labels = records.ask(rows)[1]
    return np.repeat(rows[None], n, axis=0), np.repeat(labels[None], n, axis=0)


def _with_other_classes(records: Records, rows: Floats, labels: Ints, rng: Rng) -> tuple[Floats, Ints]:
    """Neighbourhoods in which rows of other classes, drawn from the population, replace some where these are few."""
    samples = labels.shape[1]
    own = records.own[1]
    lack = int(np.ceil(OTHERS * samples)) - (labels != own[:, None]).sum(axis=1)
    if not (lack > 0).any():
        return rows, labels
    pool = records.marginals.draw((genetic.POOL * samples,), rng)
    pool_labels = records.ask(pool)[1]
    for label in np.unique(own[lack > 0]):
        other = np.flatnonzero(pool_labels != label)
        for i in np.flatnonzero((lack > 0) & (own == label)):
            some, same = other[: lack[i]], np.flatnonzero(labels[i] == label)
            place = same[len(same) - len(some) :]
            rows[i, place] = pool[some]
            labels[i, place] = pool_labels[some]
    return rows, labels


# --- counterfactual search first -----------------------------------------------------------------------------------


def _around_counterfactuals(records: Records, samples: int, rng: Rng) -> tuple[Floats, Ints]:
    """Rows around the record and around its nearest counterfactuals, alternating between the classes.

    The radius is the smallest in which a counterfactual was found. With one counterfactual only, as published, the
    neighbourhood would change much from draw to draw.
    """
    there, radius = _nearest(records, max(KEPT, samples // 4), rng)
    size = -(-2 * samples // KEPT)
    rows = [_near(records, centre, radius, size, rng) for centre in _sparse(records, there).swapaxes(0, 1)]
    rows.append(_near(records, records.X, radius, samples, rng))
    mixed = np.concatenate(rows, axis=1)[:, rng.permutation(size * KEPT + samples)]
    labels = records.ask(mixed)[1]
    other = labels != records.own[1][:, None]
    turn = np.where(other, np.cumsum(other, axis=1), np.cumsum(~other, axis=1))
    chosen = np.argsort(turn, axis=1, kind="stable")[:, :samples]
    return np.take_along_axis(mixed, chosen[:, :, None], axis=1), np.take_along_axis(labels, chosen, axis=1)


def _nearest(records: Records, samples: int, rng: Rng) -> tuple[Floats, Floats]:
    """The nearest rows (n, KEPT, D) of another class that were found, and the smallest radius (n,) that had one.

    The radius is bisected: it shrinks where a row of another class is found and grows where not. A record with fewer
    than KEPT such rows gets its nearest one repeatedly; a record with none gets itself and the widest radius.
    """
    X = records.X
    own = records.own[1]
    there = np.repeat(X[:, None], KEPT, axis=1)
    gap = np.full((len(X), KEPT), np.inf)
    low = np.zeros(len(X))
    high = np.full(len(X), WIDE)
    for step in range(HALVINGS + 1):
        radius = high if step == 0 else (low + high) / 2
        rows = _near(records, X, radius, samples, rng)
        far = np.where(records.ask(rows)[1] != own[:, None], records.distance(rows), np.inf)
        gap = np.concatenate([gap, far], axis=1)
        there = np.concatenate([there, rows], axis=1)
        best = np.argsort(gap, axis=1, kind="stable")[:, :KEPT]
        gap = np.take_along_axis(gap, best, axis=1)
        there = np.take_along_axis(there, best[:, :, None], axis=1)
        found = np.isfinite(far).any(axis=1)
        low, high = np.where(found | (radius == high), low, radius), np.where(found, radius, high)
    return np.where(np.isfinite(gap)[:, :, None], there, there[:, :1]), high


def _sparse(records: Records, there: Floats) -> Floats:
    """Rows (n, K, D) of another class, with columns reset to the record's own values where the class stays.

    Columns are tried one by one, the smallest change first.
    """
    X = np.broadcast_to(records.X[:, None], there.shape)
    label = records.ask(there)[1]
    spread = np.array([1.0 if c.kind == "category" else c.spread for c in records.schema.columns])
    order = np.argsort(np.abs(there - X) / spread, axis=2, kind="stable")
    now = there
    for rank in range(there.shape[2]):
        back = np.arange(there.shape[2]) == order[:, :, rank, None]
        tried = np.where(back, X, now)
        now = np.where((records.ask(tried)[1] == label)[:, :, None], tried, now)
    return now


def _near(records: Records, centre: Floats, radius: Floats, samples: int, rng: Rng) -> Floats:
    """Legal rows (n, S, D) around their centre (n, D), with few columns changed.

    Each column changes with probability 0.2, or 2 / D if that is more: numbers by a normal step of radius (n,) spreads
    of the schema; categories, only with probability radius / 4, to one drawn from the population.
    """
    shape = samples, centre.shape[1]
    step = rng.standard_normal(shape)
    redrawn = records.marginals.draw((samples,), rng)
    chance = rng.random(shape)
    step[rng.random(shape) >= max(genetic.COLUMNS, 2 / shape[1])] = 0.0
    rows = np.repeat(centre[:, None, :], samples, axis=1)
    for j, column in enumerate(records.schema.columns):
        if column.kind == "category":
            change = (step[:, j] != 0) & (chance[:, j] < radius[:, None] / WIDE)
            rows[:, :, j] = np.where(change, redrawn[:, j], rows[:, :, j])
            continue
        moved = rows[:, :, j] + radius[:, None] * column.spread * step[:, j]
        rows[:, :, j] = np.clip(np.rint(moved) if column.kind == "integer" else moved, column.low, column.high)
    return rows
