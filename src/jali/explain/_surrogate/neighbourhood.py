"""Rows around records, labelled by the black box, with both outcomes among them.

n records, S rows around each, D raw columns. All records of a call share their random draws, so that neither their
order nor their number changes what a record gets.
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
OTHERS = 0.1  # the share of rows of another class that every neighbourhood has, if rows of it can be drawn at all
# the search for counterfactuals: its first radius in public spreads, how often it is halved, how many are kept
WIDE, HALVINGS, KEPT = 4.0, 8, 16


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """Rows (n, S, D) around each record, the record itself first, and their labels (n, S)."""

    rows: Floats
    labels: Ints

    @property
    def both(self) -> Bools:
        """Whether more than one class is there (n,)."""
        return np.asarray((self.labels != self.labels[:, :1]).any(axis=1))


def around(records: Records, generator: Generator, samples: int, generations: int, rng: Rng) -> Neighbourhood:
    """Neighbourhoods of `samples` rows by one of the GENERATORS."""
    half = samples // 2
    makers: dict[str, Callable[[], tuple[Floats, Ints]]] = {
        "genetic": lambda: genetic.bred(records, samples, generations, "label", rng),
        "probabilities": lambda: genetic.bred(records, samples, generations, "probabilities", rng),
        "mixed": lambda: _joined(
            genetic.bred(records, half, generations, "label", rng), _random(records, samples - half, rng)
        ),
        "counterfactual": lambda: _sought(records, samples, rng),
        "random": lambda: _random(records, samples, rng),
    }
    rows, labels = makers[generator]()
    rows, labels = _with_others(records, rows, labels, rng)
    rows[:, 0], labels[:, 0] = records.X, records.own[1]
    return Neighbourhood(rows, labels)


def _joined(one: tuple[Floats, Ints], other: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    return np.concatenate([one[0], other[0]], axis=1), np.concatenate([one[1], other[1]], axis=1)


def _random(records: Records, samples: int, rng: Rng) -> tuple[Floats, Ints]:
    """Rows anywhere in the population, the same for all records; the black box is asked about each once."""
    rows = records.marginals.draw((samples,), rng)
    n, labels = len(records.X), records.ask(rows)[1]
    return np.repeat(rows[None], n, axis=0), np.repeat(labels[None], n, axis=0)


def _with_others(records: Records, rows: Floats, labels: Ints, rng: Rng) -> tuple[Floats, Ints]:
    """The same with rows of other classes in the last places, drawn from the whole population, where there are few."""
    samples, own = labels.shape[1], records.own[1]
    lack = int(np.ceil(OTHERS * samples)) - (labels != own[:, None]).sum(axis=1)
    if not (lack > 0).any():
        return rows, labels
    pool = records.marginals.draw((genetic.POOL * samples,), rng)
    known = records.ask(pool)[1]
    for label in np.unique(own[lack > 0]):
        other = np.flatnonzero(known != label)
        for i in np.flatnonzero((lack > 0) & (own == label)):
            some, same = other[: lack[i]], np.flatnonzero(labels[i] == label)
            place = same[len(same) - len(some) :]
            rows[i, place], labels[i, place] = pool[some], known[some]
    return rows, labels


# --- counterfactual search first -----------------------------------------------------------------------------------


def _sought(records: Records, samples: int, rng: Rng) -> tuple[Floats, Ints]:
    """Rows around the record and the nearest rows of another class, as wide as it took to find one, by turns of either.

    One counterfactual alone, as published, makes another neighbourhood with every draw.
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
    """The nearest rows (n, KEPT, D) of another class that were met, and the smallest radius (n,) that had one.

    The radius is halved where a row of another class is met, else the middle of what is left is tried. Whoever meets
    too few gets the nearest again, or stays where they are, with the widest radius.
    """
    X, own = records.X, records.own[1]
    there, gap = np.repeat(X[:, None], KEPT, axis=1), np.full((len(X), KEPT), np.inf)
    low, high = np.zeros(len(X)), np.full(len(X), WIDE)
    for step in range(HALVINGS + 1):
        radius = high if step == 0 else (low + high) / 2
        rows = _near(records, X, radius, samples, rng)
        far = np.where(records.ask(rows)[1] != own[:, None], records.distance(rows), np.inf)
        gap, there = np.concatenate([gap, far], axis=1), np.concatenate([there, rows], axis=1)
        best = np.argsort(gap, axis=1, kind="stable")[:, :KEPT]
        gap, there = np.take_along_axis(gap, best, axis=1), np.take_along_axis(there, best[:, :, None], axis=1)
        met = np.isfinite(far).any(axis=1)
        low, high = np.where(met | (radius == high), low, radius), np.where(met, radius, high)
    return np.where(np.isfinite(gap)[:, :, None], there, there[:, :1]), high


def _sparse(records: Records, there: Floats) -> Floats:
    """Rows (n, K, D) of another class with the record's own values in every column that can do without the change.

    Columns are tried one after the other, the smallest changes first.
    """
    X, label = np.broadcast_to(records.X[:, None], there.shape), records.ask(there)[1]
    spread = np.array([1.0 if c.kind == "category" else c.spread for c in records.schema.columns])
    order, now = np.argsort(np.abs(there - X) / spread, axis=2, kind="stable"), there
    for rank in range(there.shape[2]):
        back = np.arange(there.shape[2]) == order[:, :, rank, None]
        tried = np.where(back, X, now)
        now = np.where((records.ask(tried)[1] == label)[:, :, None], tried, now)
    return now


def _near(records: Records, centre: Floats, radius: Floats, samples: int, rng: Rng) -> Floats:
    """Legal rows (n, S, D) around their centre (n, D), with few columns changed.

    Each column changes with chance .2, or two of them if that is more: numbers by a normal step of radius (n,) public
    spreads, categories to one drawn from the population, and that only with chance radius / 4.
    """
    shape = samples, centre.shape[1]
    step, anew, chance = rng.standard_normal(shape), records.marginals.draw((samples,), rng), rng.random(shape)
    step[rng.random(shape) >= max(genetic.COLUMNS, 2 / shape[1])] = 0.0
    rows = np.repeat(centre[:, None, :], samples, axis=1)
    for j, column in enumerate(records.schema.columns):
        if column.kind == "category":
            change = (step[:, j] != 0) & (chance[:, j] < radius[:, None] / WIDE)
            rows[:, :, j] = np.where(change, anew[:, j], rows[:, :, j])
            continue
        moved = rows[:, :, j] + radius[:, None] * column.spread * step[:, j]
        rows[:, :, j] = np.clip(np.rint(moved) if column.kind == "integer" else moved, column.low, column.high)
    return rows
