"""The genetic search of LORE, for all records at once.

n records, each with two groups of H rows: one that should have the record's class, one that should not.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from jali.core.values import Floats, Ints, Rng
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate.records import Records

TOURNAMENT, CROSSED, MUTATED, COLUMNS = 3, 0.7, 0.5, 0.2  # rivals; chances of a pair, of a row, of each of its columns
POOL = 10  # times the rows wanted are drawn to find people of another class
TWIN = 3.0  # more than any fitness: rows that are there already go first
Alike = Literal["label", "probabilities"]


@dataclass(frozen=True, eq=False)
class _Herd:
    """Rows (n, 2, H, D), their labels, how fit they are, and a number that is the same for equal rows (n, 2, H)."""

    rows: Floats
    label: Ints
    fitness: Floats
    mark: Floats

    def pick(self, at: Ints) -> _Herd:
        """The rows at places (n, 2, K) of their groups."""
        n, groups, size = self.label.shape
        flat = (at + size * np.arange(n * groups).reshape(n, groups, 1)).ravel()
        take = [getattr(self, f.name).reshape(n * groups * size, -1)[flat] for f in fields(self)]
        return _Herd(take[0].reshape(*at.shape, -1), *(a.reshape(at.shape) for a in take[1:]))

    def joined(self, other: _Herd) -> _Herd:
        """Both herds, group by group."""
        return _Herd(*(np.concatenate([getattr(self, f.name), getattr(other, f.name)], axis=2) for f in fields(self)))


def bred(records: Records, samples: int, generations: int, alike: Alike, rng: Rng) -> tuple[Floats, Ints]:
    """Rows (n, S, D) near each record, half of them of its class and half not, and their labels (n, S).

    fitness = [same class, or not] + 1 - d(x, z) - [z = x]; with "probabilities" the cosine of the two vectors
    of class probabilities stands for [same class]. Each generation crosses and mutates the winners of tournaments;
    of old and new rows together the fittest survive, twins last.
    """
    herd = _judged(_start(records, max(1, samples // 2), rng), records, alike)
    for _ in range(generations):
        size = herd.label.shape[2]
        parents = herd.pick(_winners(herd.fitness, rng)).rows
        young = _judged(_mutated(_crossed(parents, rng), records.marginals, rng), records, alike)
        herd = herd.joined(young)
        herd = herd.pick(_fittest(herd, size))
    n, groups, size, width = herd.rows.shape
    return herd.rows.reshape(n, groups * size, width), herd.label.reshape(n, groups * size)


def _start(records: Records, size: int, rng: Rng) -> Floats:
    """Copies of each record; every second row of the other group is somebody of another class, the nearest first.

    They are sought among POOL times as many people as there are rows. The published search starts from copies alone,
    and may then meet no other class at all; with few people to start from, every draw ends somewhere else.
    """
    X, labels, places = records.X, records.own[1], np.arange(0, size, 2)
    rows = np.broadcast_to(X[:, None, None, :], (len(X), 2, size, X.shape[1])).copy()
    pool = records.marginals.draw((2 * POOL * size,), rng)
    known = records.ask(pool)[1]
    for label in np.unique(labels):
        other, who = pool[known != label], np.flatnonzero(labels == label)
        if len(other):
            some = Records(records.model, X[who], records.marginals)
            far = some.distance(np.broadcast_to(other, (len(who), *other.shape)))
            near = np.argsort(far, axis=1, kind="stable")[:, np.arange(len(places)) % len(other)]
            rows[who[:, None], 1, places] = other[near]
    return rows


def _judged(rows: Floats, records: Records, alike: Alike) -> _Herd:
    """The black box is asked about all rows of all records in one go."""
    chance, label = records.ask(rows)
    like = _cosine(chance, records.own[0]) if alike == "probabilities" else label == records.own[1][:, None, None]
    like = np.stack([like[:, 0], 1.0 - like[:, 1]], axis=1)
    far = records.distance(rows)
    return _Herd(rows, label, like + 1.0 - far - (far == 0), _mark(rows))


def _cosine(chance: Floats, own: Floats) -> Floats:
    """Cosine (n, 2, H) of probabilities (n, 2, H, C) and those of the record (n, C)."""
    length = np.sqrt((chance**2).sum(axis=-1) * (own**2).sum(axis=-1)[:, None, None])
    return np.asarray(np.einsum("nghc,nc->ngh", chance, own) / length)


def _mark(rows: Floats) -> Floats:
    """A number (...) for each row (..., D); column by column, because a product would round equal rows differently."""
    weight = np.random.default_rng(0).standard_normal((rows.shape[-1],))
    out = np.zeros(rows.shape[:-1])
    for j in range(len(weight)):
        out += weight[j] * rows[..., j]
    return out


def _winners(fitness: Floats, rng: Rng) -> Ints:
    """Places (n, 2, H) of the fittest of some rivals, the same rivals for all records."""
    n, groups, size = fitness.shape
    rivals = rng.integers(size, size=(groups, size, TOURNAMENT))
    value = np.stack([fitness[:, g][:, rivals[g]] for g in range(groups)], axis=1)
    best = value.argmax(axis=3)[..., None]
    return np.take_along_axis(np.broadcast_to(rivals, (n, *rivals.shape)), best, axis=3)[..., 0]


def _crossed(rows: Floats, rng: Rng) -> Floats:
    """Rows (n, 2, H, D) of which some pairs have exchanged their columns between two points."""
    _, groups, size, width = rows.shape
    half = size // 2
    ends = np.sort(rng.integers(width + 1, size=(groups, half, 2)), axis=2)
    between = (np.arange(width) >= ends[..., :1]) & (np.arange(width) < ends[..., 1:])
    between &= rng.random((groups, half, 1)) < CROSSED
    one, other, rest = rows[:, :, :half], rows[:, :, half : 2 * half], rows[:, :, 2 * half :]
    return np.concatenate([np.where(between, other, one), np.where(between, one, other), rest], axis=2)


def _mutated(rows: Floats, marginals: Marginals, rng: Rng) -> Floats:
    """Rows (n, 2, H, D) of which some have some columns drawn anew."""
    shape = rows.shape[1:]
    change = (rng.random(shape) < COLUMNS) & (rng.random((*shape[:2], 1)) < MUTATED)
    return np.where(change, marginals.draw(shape[:2], rng), rows)


def _fittest(herd: _Herd, size: int) -> Ints:
    """Places (n, 2, size) of the fittest rows, the first of equal rows before all its twins."""
    order = np.argsort(herd.mark, axis=2, kind="stable")
    mark, twin = np.take_along_axis(herd.mark, order, axis=2), np.zeros(herd.mark.shape, dtype=bool)
    np.put_along_axis(twin, order[:, :, 1:], mark[:, :, 1:] == mark[:, :, :-1], axis=2)
    return np.asarray(np.argsort(TWIN * twin - herd.fitness, axis=2, kind="stable")[:, :, :size])
