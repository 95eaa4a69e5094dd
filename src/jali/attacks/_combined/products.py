"""Products of two signals whose mean differs between members and others by another amount for each record.

Two columns may go together for members and apart for others where a record has one sign, and the other way round where
it has the other. No column then has a shift, and over all records no product has one either (`quadratic` reads those).
Read by record, a product has a shift of its own, which shadow models show like that of any signal. (Squares are not
read: `ratios` has the spread of each record.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from jali.attacks._combined.sums import Side
from jali.core.values import Bools, Floats, Ints

TINY = 1e-12
CHANCE = 1e-3  # probability that products are read where none tells anything, over all of them
FAR = 4.0  # deviations beyond which a signal is cut: products of a few cells would decide
MOST = 64  # products that are read
SIGNALS = 128  # with more, the look takes longer than all the rest
NUMBERS = 30_000_000  # products of cells that a look takes, about
FEWEST = 400  # records that it takes at least
TOGETHER = 2_000_000  # numbers that are there at once
FEWEST_MODELS = 2  # on either side of a record, so that its spread is seen


@dataclass(frozen=True)
class Products:
    """Which products of two signals are read.

    pair (P, 2): positions among `used`. used (U,): features that take part. deviation (U,): of each, within records.
    """

    pair: Ints
    used: Ints
    deviation: Floats

    @staticmethod
    def none() -> Products:
        """No product."""
        return Products(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0))

    @staticmethod
    def of(rest: Floats, use: Bools, member: Bools) -> Products:
        """Those whose shifts differ between records beyond chance.

        rest (F, N, K): features less a level of each record, 0 where a cell is not used; use, member (N, K).

        A few products may have large shifts, or many small ones. Chance is that of who was drawn to be a member, so
        that no law of the noise is assumed.
        """
        rows = _looked_at(use, member, len(rest))
        if len(rest) > SIGNALS or len(rows) < FEWEST:
            return Products.none()
        rest, use, member = rest[:, rows], use[rows], member[rows]
        deviation = np.sqrt((rest**2).sum(axis=(1, 2)) / max(float((use.sum(axis=1) - 1).clip(0).sum()), 1.0))
        moving = np.flatnonzero(deviation > TINY)
        if len(moving) < 2:
            return Products.none()
        deviation = deviation[moving]
        x = placed(cut(rest[moving], deviation), use, member)
        chosen = _beyond_chance(*_scatter(x, use, member))
        if not len(chosen):
            return Products.none()
        used, pair = np.unique(chosen, return_inverse=True)
        return Products(pair.reshape(-1, 2), moving[used], deviation[used])

    @property
    def size(self) -> int:
        """The features that their sums take: the signals themselves, and the products."""
        return len(self.used) + len(self.pair)

    def __call__(self, rest: Floats) -> Floats:
        """The signals that take part, cut, and then the products (U + P, ...), of features less a level (F, ...)."""
        return self._and_products(cut(rest[self.used], self.deviation))

    def ratio(self, here: Floats, outside: Side, inside: Side) -> Floats:
        """The sum of the ratios of all products (N,) under a model with these features less a level (F, N).

        outside, inside: what shadow models say of the signals and of the products, as `__call__` gives them.
        """
        many = len(self.used)
        middle = _middle(outside.pick(slice(many)), inside.pick(slice(many)))
        x = cut(here[self.used], self.deviation) - middle
        sides = [self._about(middle, side) for side in (outside, inside)]
        return np.asarray(own_shift(self._and_products(x)[many:], *sides).sum(axis=0))

    def _and_products(self, x: Floats) -> Floats:
        return np.concatenate([x, x[self.pair[:, 0]] * x[self.pair[:, 1]]])

    def _about(self, middle: Floats, side: Side) -> Side:
        """The products (P, N) of signals less their middle: E (x - m)(y - n) = E xy - m E y - n E x + mn."""
        many = len(self.used)
        first, second = self.pair.T
        mean = side.mean[many:] - middle[first] * side.mean[second] - middle[second] * side.mean[first]
        return Side(side.count, mean + middle[first] * middle[second], side.variance[many:])


def cut(value: Floats, deviation: Floats) -> Floats:
    """Features (F, ...) in deviations (F,), cut far out."""
    out = value / deviation.reshape(-1, *[1] * (value.ndim - 1))
    return np.clip(out, -FAR, FAR, out=out)


def _middle(outside: Side, inside: Side) -> Floats:
    """Halfway between members and others (F, N): the mean of a record's cells, those of members moved by its shift.

    A record that more models trained on than not would else lie nearer to members, and so would all its products.
    """
    shift = _shift(outside, inside)
    return _level(outside, inside, shift) + shift / 2


def placed(x: Floats, use: Bools, member: Bools) -> Floats:
    """Features (F, N, K) less the middle of each record, 0 where a cell is not used (N, K)."""
    sides = []
    for mine in (use & ~member, use & member):
        weight = mine.astype(np.float64)
        count = weight.sum(axis=1)
        mean = np.einsum("fnk,nk->fn", x, weight) / np.maximum(count, 1)
        square = np.einsum("fnk,fnk,nk->fn", x, x, weight)
        sides.append(Side(count, mean, np.maximum(square - count * mean**2, 0.0) / np.maximum(count - 1, 1)))
    return np.asarray((x - _middle(*sides)[:, :, None]) * use)


def own_shift(value: Floats, outside: Side, inside: Side) -> Floats:
    """(d / v)(value - level - d / 2) with the shift d of each record (P, N), shrunken towards the common one.

    For two normal signals whose correlation is r for members and -r for others this is the likelihood ratio to first
    order in r. How far shifts and levels of records are believed comes from their scatter, less the noise in it.
    """
    shift = _shift(outside, inside)
    cells = np.maximum(inside.count + outside.count, 1)
    variance = np.maximum((inside.pooled + outside.pooled) / 2, TINY)
    level = _believed(_level(outside, inside, shift), variance / cells, inside.count + outside.count > 0)
    return np.asarray(shift / variance * (value - level - shift / 2))


def _shift(outside: Side, inside: Side) -> Floats:
    """The shift of each record (F, N), as far as it is believed; the mean shift where a side is missing."""
    noise = np.maximum(inside.pooled, TINY) / np.maximum(inside.count, 1)
    noise = noise + np.maximum(outside.pooled, TINY) / np.maximum(outside.count, 1)
    return _believed(inside.mean - outside.mean, noise, (inside.count > 0) & (outside.count > 0))


def _level(outside: Side, inside: Side, shift: Floats) -> Floats:
    """The mean of each record's cells (F, N), those of members moved back by a shift."""
    cells = np.maximum(inside.count + outside.count, 1)
    return np.asarray((inside.count * (inside.mean - shift) + outside.count * outside.mean) / cells)


def _believed(found: Floats, noise: Floats, known: Bools) -> Floats:
    """What is found for each record (P, N), moved towards the mean by as much as its noise makes of its scatter."""
    if not known.any():
        return np.zeros_like(found)
    common = found[:, known].mean(axis=1, keepdims=True)
    scatter = ((found - common) ** 2 - noise)[:, known].mean(axis=1, keepdims=True)
    trust = np.maximum(scatter, 0.0) / (np.maximum(scatter, 0.0) + noise)
    return np.asarray(common + np.where(known, trust * (found - common), 0.0))


def _looked_at(use: Bools, member: Bools, features: int) -> Ints:
    """The records (n,) on which products are compared: those that show a spread on both sides; not too many."""
    counts = [(use & side).sum(axis=1) for side in (member, ~member)]
    rows = np.flatnonzero(np.minimum(*counts) >= FEWEST_MODELS)
    most = max(FEWEST, NUMBERS // max(1, features**2 * use.shape[1]))
    return rows[:: -(-len(rows) // most) or 1]


def _scatter(x: Floats, use: Bools, member: Bools) -> tuple[Floats, Floats]:
    """By pair of features (F, F): the mean square of the records' shifts without their noise, and its standard error.

    For each record (mean_in - mean_out)^2 - s_in^2 / k_in - s_out^2 / k_out, which is unbiased for the square of its
    shift. Then the same for all pairs of two features together, in the last row and column.
    """
    features, records, models = x.shape
    total = np.zeros((2, features + 1, features + 1))
    step = max(1, TOGETHER // (features * (features + models)))
    upper = np.triu(np.ones((features, features)), k=1)
    for start in range(0, records, step):
        mine = slice(start, start + step)
        square = _squared_shifts(np.moveaxis(x[:, mine], 0, 1), use[mine], member[mine])
        whole = (square * upper).sum(axis=(1, 2))
        total[0, :-1, :-1] += square.sum(axis=0)
        total[1, :-1, :-1] += (square**2).sum(axis=0)
        total[0, -1, -1] += whole.sum()
        total[1, -1, -1] += (whole**2).sum()
    mean = total[0] / records
    return mean, np.sqrt(np.maximum(total[1] / records - mean**2, 0.0) / records)


def _squared_shifts(x: Floats, use: Bools, member: Bools) -> Floats:
    """The square of each record's shift in each product (n, F, F), without bias, of features (n, F, K)."""
    away = np.zeros((len(x), x.shape[1], x.shape[1]))
    noise = np.zeros_like(away)
    for side, sign in ((use & member, 1.0), (use & ~member, -1.0)):
        mine = x * side[:, None, :]
        count = side.sum(axis=1)[:, None, None].astype(np.float64)
        mean = mine @ np.swapaxes(mine, 1, 2) / count
        mine *= mine
        square = mine @ np.swapaxes(mine, 1, 2) / count
        away += sign * mean
        noise += (square - mean**2) / (count - 1)
    away *= away
    return np.asarray(away - noise)


def _beyond_chance(mean: Floats, error: Floats) -> Ints:
    """The pairs (P, 2) whose shifts differ between records: each by itself, or all if the rest together do."""
    features = len(mean) - 1
    first, second = np.triu_indices(features, k=1)
    size = mean[first, second]
    alone = size > -ndtri(CHANCE / 2 / len(size)) * error[first, second]
    left = mean[-1, -1] - size[alone].sum()
    others = (size > 0) & (left > -ndtri(CHANCE / 2) * error[-1, -1])
    chosen = np.flatnonzero(alone | others)
    chosen = chosen[np.argsort(-size[chosen], kind="stable")[:MOST]]
    return np.stack([first[chosen], second[chosen]], axis=1)
