"""Products of two signals whose mean differs between members and others by another amount for each record.

Two columns may go together for members and apart for others where a record has one sign, and the other way round where
it has the other. No column then has a shift, and over all records no product has one either (`quadratic` reads those).
Read by record, a product has a shift of its own, which shadow models show like that of any signal. (Squares are not
read: `ratios` has the spread of each record.)
"""

from __future__ import annotations

import math
from collections.abc import Callable
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
FEWEST = 50  # records without which there is no look: their standard error says how little fewer tell
FIRST_LOOK = 400  # records that the look at all pairs takes at least
ENOUGH = 1.5  # times as many records as the look at all pairs may take need no second look
LIKELY = 4 * MOST  # pairs that are looked at again on other records, where the first look took a part of them
CELLS = 6_000_000  # numbers of features x records x models that a look reads, about: copies of them are large
TOGETHER = 2_000_000  # numbers that are there at once
FEWEST_MODELS = 2  # on either side of a record, so that its spread is seen


@dataclass(frozen=True)
class Products:
    """Which products of two signals are read.

    pair (P, 2): positions among `used`. used (U,): features that take part. deviation (U,): of each, within records.
    means (2, U): that of others and of members in all records together, in deviations. They are taken off before
    signals are multiplied: beside a large shift of the one, the noise of the other would be most of their product.
    """

    pair: Ints
    used: Ints
    deviation: Floats
    means: Floats

    @staticmethod
    def none() -> Products:
        """No product."""
        return Products(np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0), np.empty((2, 0)))

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
        x = cut(rest[moving], deviation)
        means = _common_means(x, use, member)
        chosen = _chosen(placed(_less(x, means, member), use, member), use, member)
        if not len(chosen):
            return Products.none()
        used, pair = np.unique(chosen, return_inverse=True)
        return Products(pair.reshape(-1, 2), moving[used], deviation[used], means[:, used])

    @property
    def size(self) -> int:
        """The features that their sums take: the signals themselves, and the products."""
        return len(self.used) + len(self.pair)

    def __call__(self, rest: Floats, member: Bools) -> Floats:
        """The signals that take part, and then the products (U + P, n, K), of features less a level (F, n, K).

        member (n, K): whose common mean is taken off.
        """
        return self._and_products(_less(cut(rest[self.used], self.deviation), self.means, member))

    def ratio(self, here: Floats, outside: Side, inside: Side) -> Floats:
        """The sum of the ratios of all products (N,) under a model with these features less a level (F, N).

        outside, inside: what shadow models say of the signals and of the products, as `__call__` gives them.
        """
        many = len(self.used)
        middle = _middle(outside.pick(slice(many)), inside.pick(slice(many)))
        x = cut(here[self.used], self.deviation) - middle
        sides = [self._about(middle, side) for side in (outside, inside)]
        of_other, of_member = [self._and_products(x - mean[:, None])[many:] for mean in self.means]
        return np.asarray(own_shift(of_member, of_other, *sides).sum(axis=0))

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
    """Halfway between members and others (F, N): the mean of a record's cells, each moved by half of its shift.

    A record that more models trained on than not would else lie nearer to members, and so would all its products.
    """
    shift = _shift(outside, inside)
    cells = np.maximum(inside.count + outside.count, 1)
    both = inside.count * (inside.mean - shift / 2) + outside.count * (outside.mean + shift / 2)
    return np.asarray(both / cells)


def _less(x: Floats, means: Floats, member: Bools) -> Floats:
    """Features (F, n, K) less the common mean of others or of members (2, F), by whom a cell belongs to (n, K)."""
    return np.asarray(x - np.where(member, means[1][:, None, None], means[0][:, None, None]))


def _common_means(x: Floats, use: Bools, member: Bools) -> Floats:
    """The means (2, F) over records of the mean of out-cells and of in-cells, of features (F, N, K)."""
    means = []
    for mine in (use & ~member, use & member):
        weight = mine / np.maximum(mine.sum(axis=1, keepdims=True), 1)
        means.append(np.einsum("fnk,nk->f", x, weight) / len(use))
    return np.stack(means)


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


def own_shift(of_member: Floats, of_other: Floats, outside: Side, inside: Side) -> Floats:
    """(a p - b q) / v - (a^2 - b^2) / 2v, with the mean a of products among members and b among others (P, N).

    of_member, of_other: the products p and q under a model that did and that did not train on the record; they are the
    same where signals have no common shift, and then this is (d / v)(p - c), with the shift d = a - b of each record
    and the middle c between a and b. For two normal signals whose correlation is r for members and -r for others this
    is the likelihood ratio to first order in r. Shifts and middles are shrunken towards common ones: how far those of
    records are believed comes from their scatter, less the noise in it. (The mean among others, shrunken in the place
    of the middle, would follow the shift.)
    """
    shift = _shift(outside, inside)
    cells = inside.count + outside.count
    variance = np.maximum((inside.pooled + outside.pooled) / 2, TINY)
    middle = _believed(_middle(outside, inside), variance / np.maximum(cells, 1), cells > 0)
    member = middle + shift / 2
    other = middle - shift / 2
    return np.asarray((member * (of_member - member / 2) - other * (of_other - other / 2)) / variance)


def _shift(outside: Side, inside: Side) -> Floats:
    """The shift of each record (F, N), as far as it is believed; the mean shift where a side is missing."""
    noise = np.maximum(inside.pooled, TINY) / np.maximum(inside.count, 1)
    noise = noise + np.maximum(outside.pooled, TINY) / np.maximum(outside.count, 1)
    return _believed(inside.mean - outside.mean, noise, (inside.count > 0) & (outside.count > 0))


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
    most = max(FIRST_LOOK, CELLS // max(1, features * use.shape[1]))
    return rows[:: -(-len(rows) // most) or 1]


@dataclass(frozen=True)
class _Scatter:
    """Of pairs of features (P, 2): the mean square of the records' shifts without their noise, and its error (P,).

    whole: the same two numbers for all pairs together.
    """

    pair: Ints
    size: Floats
    error: Floats
    whole: tuple[float, float]

    def likely(self) -> Ints:
        """The pairs (L, 2) that may tell something: those farthest above zero, in standard errors."""
        far = self.size / np.maximum(self.error, TINY)
        best = np.argsort(-far, kind="stable")[:LIKELY]
        return self.pair[best[far[best] > 0]]

    def beyond_chance(self) -> Ints:
        """The pairs whose shifts differ between records: each by itself, or all if the rest together do."""
        alone = self.size > -ndtri(CHANCE / 2 / max(len(self.size), 1)) * self.error
        left = self.whole[0] - self.size[alone].sum()
        others = (self.size > 0) & (left > -ndtri(CHANCE / 2) * self.whole[1])
        chosen = np.flatnonzero(alone | others)
        return self.pair[chosen[np.argsort(-self.size[chosen], kind="stable")[:MOST]]]


def _chosen(x: Floats, use: Bools, member: Bools) -> Ints:
    """The pairs (P, 2) of features (F, N, K) that are read.

    Where there are too many pairs for a look at all records, some records say which pairs are likely, and others
    whether these differ beyond chance: a limit for thousands of pairs would miss most leaks on a part of the records.
    """
    every = max(FIRST_LOOK, NUMBERS // max(1, len(x) ** 2 * use.shape[1]))
    if len(use) <= ENOUGH * every:
        some = slice(0, every)
        return _scatter(x[:, some], use[some], member[some]).beyond_chance()
    first = np.arange(0, len(use), -(-len(use) // every))
    likely = _scatter(x[:, first], use[first], member[first]).likely()
    if not len(likely):
        return likely
    rest = np.setdiff1d(np.arange(len(use)), first)
    rest = rest[:: -(-len(rest) * len(likely) * use.shape[1] // NUMBERS)]
    return _scatter_of(likely, x[:, rest], use[rest], member[rest]).beyond_chance()


def _scatter(x: Floats, use: Bools, member: Bools) -> _Scatter:
    """The scatter of all pairs of two features (F, N, K).

    For each record (mean_in - mean_out)^2 - s_in^2 / k_in - s_out^2 / k_out, which is unbiased for the square of its
    shift.
    """
    features, records, models = x.shape
    first, second = np.triu_indices(features, k=1)

    def squares(mine: slice) -> Floats:
        return _squared_shifts(np.moveaxis(x[:, mine], 0, 1), use[mine], member[mine])[:, first, second]

    return _summed(squares, np.stack([first, second], axis=1), records, features * (features + models))


def _scatter_of(pair: Ints, x: Floats, use: Bools, member: Bools) -> _Scatter:
    """The same of some pairs (P, 2)."""
    first, second = pair.T

    def squares(mine: slice) -> Floats:
        product = x[first, mine] * x[second, mine]
        away = np.zeros(product.shape[:2])
        noise = np.zeros_like(away)
        for side, sign in ((use[mine] & member[mine], 1.0), (use[mine] & ~member[mine], -1.0)):
            count = side.sum(axis=1)
            mean = np.einsum("pnk,nk->pn", product, side.astype(np.float64)) / count
            square = np.einsum("pnk,pnk,nk->pn", product, product, side.astype(np.float64)) / count
            away += sign * mean
            noise += (square - mean**2) / (count - 1)
        return np.asarray((away**2 - noise).T)

    return _summed(squares, pair, x.shape[1], 3 * len(pair) * x.shape[2])


def _summed(squares: Callable[[slice], Floats], pair: Ints, records: int, each: int) -> _Scatter:
    """The scatter of pairs from squared shifts (n, P) of some records at a time; each: numbers that a record takes."""
    total = np.zeros((2, len(pair)))
    whole = np.zeros(2)
    step = max(1, TOGETHER // max(1, each))
    for start in range(0, records, step):
        square = squares(slice(start, min(start + step, records)))
        total += square.sum(axis=0), (square**2).sum(axis=0)
        together = square.sum(axis=1)
        whole += together.sum(), (together**2).sum()
    mean = total[0] / records
    middle = whole[0] / records
    error = np.sqrt(np.maximum(total[1] / records - mean**2, 0.0) / records)
    return _Scatter(pair, mean, error, (middle, math.sqrt(max(whole[1] / records - middle**2, 0.0) / records)))


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
