"""The genetic search of LORE, for all records at once.

Each of n records has two groups of H rows: one that should have the record's class, one that should not.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from jali.core.values import Floats, Ints, Rng
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate.records import Records

TOURNAMENT = 3  # rows that compete to become a parent
CROSSED = 0.7  # probability that a pair of rows is crossed
MUTATED = 0.5  # probability that a row mutates
COLUMNS = 0.2  # and then, that each of its columns is redrawn
POOL = 10  # rows drawn to find rows of another class, as a multiple of the rows needed
DUPLICATE = 3.0  # penalty above any fitness, so that duplicates are dropped first
Alike = Literal["label", "probabilities"]


@dataclass(frozen=True, eq=False)
class _Population:
    """Rows (n, 2, H, D), and for each its label, its fitness, and a mark that is equal for equal rows (n, 2, H)."""

    rows: Floats
    label: Ints
    fitness: Floats
    mark: Floats

    def pick(self, at: Ints) -> _Population:
        """The rows at positions (n, 2, K) in their groups."""
        n, groups, size = self.label.shape
        flat = (at + size * np.arange(n * groups).reshape(n, groups, 1)).ravel()
        take = [getattr(self, f.name).reshape(n * groups * size, -1)[flat] for f in fields(self)]
        return _Population(take[0].reshape(*at.shape, -1), *(a.reshape(at.shape) for a in take[1:]))

    def joined(self, other: _Population) -> _Population:
        """Both populations, group by group."""
        return _Population(
            *(np.concatenate([getattr(self, f.name), getattr(other, f.name)], axis=2) for f in fields(self))
        )


def evolved(records: Records, samples: int, generations: int, alike: Alike, rng: Rng) -> tuple[Floats, Ints]:
    """Rows (n, S, D) near each record, half of them of its class and half not, and their labels (n, S).

    fitness = [same class, or not] + 1 - d(x, z) - [z = x]. With "probabilities", the cosine of the two vectors of class
    probabilities replaces [same class]. Each generation crosses and mutates the winners of tournaments. Of old and new
    rows together the fittest survive; duplicates are dropped first.
    """
    population = _evaluated(_start(records, max(1, samples // 2), rng), records, alike)
    for _ in range(generations):
        size = population.label.shape[2]
        parents = population.pick(_winners(population.fitness, rng)).rows
        offspring = _evaluated(_mutated(_crossed(parents, rng), records.marginals, rng), records, alike)
        population = population.joined(offspring)
        population = population.pick(_fittest(population, size))
    n, groups, size, width = population.rows.shape
    return population.rows.reshape(n, groups * size, width), population.label.reshape(n, groups * size)


def _start(records: Records, size: int, rng: Rng) -> Floats:
    """Copies of each record; in the second group, every second row is a random row of another class, nearest first.

    These are the nearest among POOL times as many random rows as needed. The published search starts from copies alone
    and may then find no other class at all; a smaller pool makes the result depend more on the draw.
    """
    X = records.X
    labels = records.own[1]
    places = np.arange(0, size, 2)
    rows = np.broadcast_to(X[:, None, None, :], (len(X), 2, size, X.shape[1])).copy()
    pool = records.marginals.draw((2 * POOL * size,), rng)
    pool_labels = records.ask(pool)[1]
    for label in np.unique(labels):
        other, who = pool[pool_labels != label], np.flatnonzero(labels == label)
        if len(other):
            some = Records(records.model, X[who], records.marginals)
            far = some.distance(np.broadcast_to(other, (len(who), *other.shape)))
            near = np.argsort(far, axis=1, kind="stable")[:, np.arange(len(places)) % len(other)]
            rows[who[:, None], 1, places] = other[near]
    return rows


def _evaluated(rows: Floats, records: Records, alike: Alike) -> _Population:
    """Rows with their labels and fitness, from one query of the black box about all rows of all records."""
    chance, label = records.ask(rows)
    like = _cosine(chance, records.own[0]) if alike == "probabilities" else label == records.own[1][:, None, None]
    like = np.stack([like[:, 0], 1.0 - like[:, 1]], axis=1)
    far = records.distance(rows)
    return _Population(rows, label, like + 1.0 - far - (far == 0), _mark(rows))


def _cosine(chance: Floats, own: Floats) -> Floats:
    """Cosine (n, 2, H) of probabilities (n, 2, H, C) and those of the record (n, C)."""
    length = np.sqrt((chance**2).sum(axis=-1) * (own**2).sum(axis=-1)[:, None, None])
    return np.asarray(np.einsum("nghc,nc->ngh", chance, own) / length)


def _mark(rows: Floats) -> Floats:
    """A random projection (...) of rows (..., D), summed column by column so that equal rows get equal bits."""
    weight = np.random.default_rng(0).standard_normal((rows.shape[-1],))
    out = np.zeros(rows.shape[:-1])
    for j in range(len(weight)):
        out += weight[j] * rows[..., j]
    return out


def _winners(fitness: Floats, rng: Rng) -> Ints:
    """Positions (n, 2, H) of the winners of tournaments, in which the same positions compete for all records."""
    n, groups, size = fitness.shape
    rivals = rng.integers(size, size=(groups, size, TOURNAMENT))
    value = np.stack([fitness[:, g][:, rivals[g]] for g in range(groups)], axis=1)
    best = value.argmax(axis=3)[..., None]
    return np.take_along_axis(np.broadcast_to(rivals, (n, *rivals.shape)), best, axis=3)[..., 0]


def _crossed(rows: Floats, rng: Rng) -> Floats:
    """Rows (n, 2, H, D) after two-point crossover of some pairs."""
    _, groups, size, width = rows.shape
    half = size // 2
    ends = np.sort(rng.integers(width + 1, size=(groups, half, 2)), axis=2)
    between = (np.arange(width) >= ends[..., :1]) & (np.arange(width) < ends[..., 1:])
    between &= rng.random((groups, half, 1)) < CROSSED
    one = rows[:, :, :half]
    other = rows[:, :, half : 2 * half]
    rest = rows[:, :, 2 * half :]
    return np.concatenate([np.where(between, other, one), np.where(between, one, other), rest], axis=2)


def _mutated(rows: Floats, marginals: Marginals, rng: Rng) -> Floats:
    """Rows (n, 2, H, D) after mutation: some columns of some rows are redrawn."""
    shape = rows.shape[1:]
    change = (rng.random(shape) < COLUMNS) & (rng.random((*shape[:2], 1)) < MUTATED)
    return np.where(change, marginals.draw(shape[:2], rng), rows)


def _fittest(population: _Population, size: int) -> Ints:
    """Positions (n, 2, size) of the fittest rows; of equal rows, all but the first come last."""
    order = np.argsort(population.mark, axis=2, kind="stable")
    mark = np.take_along_axis(population.mark, order, axis=2)
    duplicate = np.zeros(population.mark.shape, dtype=bool)
    np.put_along_axis(duplicate, order[:, :, 1:], mark[:, :, 1:] == mark[:, :, :-1], axis=2)
    return np.asarray(np.argsort(DUPLICATE * duplicate - population.fitness, axis=2, kind="stable")[:, :, :size])
