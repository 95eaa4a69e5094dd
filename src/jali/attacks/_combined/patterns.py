"""Leaks that hardly move a mean: which digits and signs members have, and values that come back exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, ndtri

from jali.attacks._combined.facts import Fact
from jali.core.guesses import Shadows
from jali.core.values import Bools, Floats, Ints

SIGN = -1  # the place that stands for the sign
PLACES = (SIGN, *range(8))  # decimals that are read
CHANCE = 1e-4  # probability that anything is read where there is nothing
CELLS = 60_000  # from which digits are learnt, at most
STEADY = 0.1  # quantile of the records' deviations that a digit's cycle must not exceed
CLOSE = 6  # further decimals to which a number is rounded before its digits are cut off: 0.29 is 0.28999...
PSEUDO = 20.0  # cells that the rate of both sides together counts for
OFTEN = 0.01  # share of cells that must equal the answer of another model, and share that must not
RECORDS = 2_000  # records on which that is looked up, at most
USUALLY = 0.1  # share from which on a record's commonest answer is its usual one, and no accident of rounding
COLUMNS = 8  # signals whose exact values are compared, at most
BY_CHANCE = 1e-3  # probability that some of these are taken to tell members where none does
TINY = 1e-12
MODELS = 2.0  # that the rate of all records counts for


def digit(value: Floats, place: int) -> Ints:
    """The digit of a number at one place after the point; for the sign 0, 1 or 2.

    >>> digit(np.array([0.29, -1.37]), 2), digit(np.array([0.29, -1.37]), SIGN)
    (array([9, 7]), array([2, 0]))
    """
    if place == SIGN:
        return (np.sign(value) + 1).astype(np.int64)
    moved = np.round(np.minimum(np.abs(value), 1e6) * 10.0**place, CLOSE)
    return np.floor(moved).astype(np.int64) % 10


@dataclass(frozen=True)
class Digits:
    """Log-likelihood ratios (D, 10) of digits: signals (D,) and places (D,) where members have clearly others.

    One ratio for all records, from the frequencies among in- and out-cells of shadow models. Membership is random, so
    that without a leak the two differ by chance alone (Pearson's chi-squared, divided by the number of looks). Only
    digits that run through all ten while a value moves by a deviation are read: those before them say how large the
    value is, which is read better elsewhere.
    """

    signal: Ints
    place: Ints
    ratio: Floats

    @staticmethod
    def of(shadows: Shadows, facts: Sequence[Fact]) -> Digits:
        """The digits that tell members in some shadow models; none where the signals have no such leak."""
        use = shadows.answered
        cells = np.flatnonzero(use.ravel())
        cells = cells[:: -(-len(cells) // CELLS) or 1]
        member = shadows.member.ravel()[cells]
        looks = len(shadows.value) * len(PLACES)
        found = []
        for s, (value, fact) in enumerate(zip(shadows.value, facts, strict=True)):
            if "digits" not in fact:
                mine = value.ravel()[cells]
                fact["digits"] = [(place, _counts(mine, member, place)) for place in _fine(value, use)]
            for place, counts in fact["digits"]:
                if _by_chance(counts) < CHANCE / looks:
                    found.append((s, place, _log_ratio(counts)))
        signals = np.array([s for s, _, _ in found], dtype=np.int64)
        places = np.array([place for _, place, _ in found], dtype=np.int64)
        return Digits(signals, places, np.array([ratio for _, _, ratio in found]).reshape(-1, 10))

    def __call__(self, value: Floats) -> Floats:
        """The sum of the ratios (N,) of signals (S, N)."""
        out = np.zeros(value.shape[1])
        for s, place, ratio in zip(self.signal.tolist(), self.place.tolist(), self.ratio, strict=True):
            out += ratio[digit(value[s], place)]
        return out


def _counts(value: Floats, member: Bools, place: int) -> Floats:
    """How often each digit is at a place of values (n,), among others and among members (2, 10)."""
    return np.bincount(digit(value, place) + 10 * member, minlength=20).reshape(2, 10).astype(np.float64)


def _fine(value: Floats, use: Bools) -> list[int]:
    """The sign, and the places whose digits are not those of the size of a value (N, K), by the steadiest records."""
    some = value[:: -(-len(value) // RECORDS)]
    cells = use[:: -(-len(value) // RECORDS)]
    size = max(float(np.abs(some).max(initial=0.0)), 1.0)  # squares of very large numbers would overflow
    deviation = size * np.nanstd(np.where(cells, some / size, np.nan)[cells.sum(axis=1) > 1], axis=1)
    moving = deviation[deviation > 0]
    if not len(moving):
        return []
    usual = float(np.quantile(moving, STEADY))
    return [place for place in PLACES if place == SIGN or 10.0 ** (1 - place) <= usual]


def _by_chance(counts: Floats) -> float:
    """The p-value of Pearson's chi-squared test that two rows of counts (2, D) have the same frequencies."""
    known = counts[:, counts.sum(axis=0) > 0]
    if known.shape[1] < 2 or not known.sum(axis=1).all():
        return 1.0
    expected = known.sum(axis=1, keepdims=True) * known.sum(axis=0) / known.sum()
    return float(chdtrc(known.shape[1] - 1, ((known - expected) ** 2 / expected).sum()))


def _log_ratio(counts: Floats) -> Floats:
    """Log of the rate among members less that among others (D,), both shrunken towards their common one."""
    common = (counts.sum(axis=0) + 1) / (counts.sum() + counts.shape[1])
    rate = (counts + PSEUDO * common) / (counts.sum(axis=1, keepdims=True) + PSEUDO)
    return np.asarray(np.log(rate[1]) - np.log(rate[0]))


def repeated(shadows: Shadows, facts: Sequence[Fact]) -> tuple[Ints, Floats]:
    """The signals (C,) of which some answers equal that of another model about the same record, and some do not.

    Those that repeat most come first; second, the share of such answers (C,). Zeros do not count: which answers are
    zero is a pattern of its own.
    """
    use = shadows.answered
    records = np.flatnonzero(use.sum(axis=1) > 1)
    records = records[:: -(-len(records) // RECORDS) or 1]
    if not len(records):
        return np.array([], dtype=np.int64), np.array([])
    cells = use[records]
    for value, fact in zip(shadows.value, facts, strict=True):
        if "repeated" not in fact:
            fact["repeated"] = _share(value[records], cells)
    shares = np.array([fact["repeated"] for fact in facts])
    found = np.flatnonzero((shares > OFTEN) & (shares < 1 - OFTEN))
    found = np.array([s for s in found.tolist() if _more_than_two(shadows.value[s][use])], dtype=np.int64)
    found = found[np.argsort(-shares[found], kind="stable")]
    return found, shares[found]


def _share(value: Floats, use: Bools) -> float:
    """The share of cells (n, K) that equal the answer of another model about the record."""
    some = np.sort(np.where(use & (value != 0), value, np.nan), axis=1)
    same = some[:, 1:] == some[:, :-1]
    return float(same.sum() / max(1, np.count_nonzero(~np.isnan(some))))


def _more_than_two(value: Floats) -> bool:
    """Whether more than two different values are among these (n,)."""
    return bool(((value > value.min()) & (value < value.max())).any())


@dataclass(frozen=True)
class Exact:
    """Signals (C,) whose exact values are compared, with the weight of each (C,); the largest is 1.

    usual (C,): which of them come back so often that an answer may be the usual one.
    """

    signal: Ints
    weight: Floats
    usual: Bools

    @staticmethod
    def of(shadows: Shadows, facts: Sequence[Fact]) -> Exact:
        """Those that tell members, weighed by how far they do; if none does, those that repeat most.

        The weight is what the records' shifts make of their scatter, noise included. A signal that repeats and tells
        nothing has a weight near 0: with as much as the others it would drown them.
        """
        found, share = repeated(shadows, facts)
        usual = share > USUALLY
        use = shadows.answered
        counts = [(use & side).sum(axis=1) for side in (shadows.member, ~shadows.member)]
        records = np.flatnonzero(np.minimum(*counts) > 1)
        records = records[:: -(-len(records) // RECORDS) or 1]
        if len(found) > 1 and len(records) > 1:
            both = [squared_shift(shadows.value[s, records], use[records], shadows.member[records]) for s in found]
            shift = np.array([square for square, _ in both])
            noise = np.array([each.mean() for _, each in both])
            if _beyond_chance(shift):
                mean = shift.mean(axis=1)
                best = np.argsort(-mean / _error(shift), kind="stable")[:COLUMNS]
                best = best[mean[best] > 0]
                trust = mean[best] / (mean[best] + noise[best])
                return Exact(found[best], trust / trust.max(), usual[best])
        return Exact(found[:COLUMNS], np.ones(len(found[:COLUMNS])), usual[:COLUMNS])


def squared_shift(value: Floats, use: Bools, member: Bools) -> tuple[Floats, Floats]:
    """Of each record (n,): the square of the shift of all its answers' shares, without bias, and the noise taken off.

    sum_a (p_a - q_a)^2 - sum_a p_a (1 - p_a) / (k_in - 1) - sum_a q_a (1 - q_a) / (k_out - 1) for values (n, K), p_a
    and q_a the shares of in- and out-models that answer a. Answers that came once are taken for one, as `Repeats` does.
    Whatever the answers are, its mean is 0 if only chance decides who is a member. Each side of a record needs two
    models.
    """
    kind = _kinds(value)
    once = _of_each_kind(kind, use) == 1
    shares = []
    noise = np.zeros(len(value))
    for side in (use & member, use & ~member):
        count = side.sum(axis=1)
        found = _of_each_kind(kind, side)
        alone = (found * once).sum(axis=1, keepdims=True)
        share = np.concatenate([found * ~once, alone], axis=1) / count[:, None]
        noise += (1 - (share**2).sum(axis=1)) / (count - 1)
        shares.append(share)
    return ((shares[0] - shares[1]) ** 2).sum(axis=1) - noise, noise


def _beyond_chance(shift: Floats) -> bool:
    """Whether squared shifts (C, n) of some signal are above 0 beyond chance, or those of all signals together."""
    alone = shift.mean(axis=1) > -ndtri(BY_CHANCE / 2 / len(shift)) * _error(shift)
    whole = shift.sum(axis=0)
    return bool(alone.any() or whole.mean() > -ndtri(BY_CHANCE / 2) * _error(whole))


def _error(shift: Floats) -> Floats:
    """The standard error of the mean over records (..., n)."""
    return np.asarray(np.maximum(shift.std(axis=-1) / np.sqrt(shift.shape[-1]), TINY))


@dataclass(frozen=True)
class Repeats:
    """Exact values of some signals under shadow models: value (C, N, K), used cells (N, K), member (N, K), sets (T, K).

    exact: which signals these are, and their weights.
    """

    exact: Exact
    value: Floats
    use: Bools
    member: Bools
    sets: Bools

    @cached_property
    def kind(self) -> npt.NDArray[np.unsignedinteger[Any]]:
        """Cells of a record with the same value have the same number (C, N, K), and it is below K."""
        out = np.empty(self.value.shape, dtype=np.min_scalar_type(self.use.shape[1]))
        for c, value in enumerate(self.value):
            out[c] = _kinds(value)
        return out

    def __call__(self, t: int, value: Floats) -> tuple[Floats, Floats]:
        """How often in- and out-models of one set gave exactly these answers (S, N), and how usual these are.

        First, a log-likelihood ratio (N,). An answer that some model of the set gave has its rate among either side;
        one that none gave has the rate of answers that came once. Both are shrunken towards the rate of all records.
        Second, without asking who was a member, the number of models with this answer by that of the commonest one
        (N,): members may get the usual answer more often, whichever that is.
        """
        ratio = np.zeros(value.shape[1])
        usual = np.zeros(value.shape[1])
        mine = self.use & self.sets[t]
        inside = mine & self.member
        outside = mine & ~self.member
        models = [_count(side) for side in (inside, outside)]
        whole = [np.log(many + MODELS) for many in models]
        cells = max(1, int(sum(many.sum() for many in models)))
        for c, (s, weight) in enumerate(zip(self.exact.signal.tolist(), self.exact.weight.tolist(), strict=True)):
            hits = self.value[c] == value[s][:, None]
            found = [_count(hits & side) for side in (inside, outside)]
            if self.exact.usual[c]:
                usual += weight * (found[0] + found[1]) / np.maximum(_of_each_kind(self.kind[c], mine).max(axis=1), 1)
            unseen = np.flatnonzero(found[0] + found[1] == 0)
            once = self._once(c, mine, unseen)
            for many, side in zip(found, (inside, outside), strict=True):
                many[unseen] = _count(once & side[unseen])
            rate = max(sum(many.sum() for many in found) / cells, 1e-6)
            of_in, of_out = [np.log(many + MODELS * rate) - log for many, log in zip(found, whole, strict=True)]
            ratio += weight * (of_in - of_out)
        return ratio, usual

    def _once(self, c: int, mine: Bools, rows: Ints) -> Bools:
        """The cells of some records (n, K) whose answer no other cell of the record has, of those that are used."""
        kind = self.kind[c, rows]
        out = np.ones(kind.shape, dtype=bool)
        # Most often all answers about a record differ, and then there is nothing to count.
        some = np.flatnonzero(kind.max(axis=1, initial=0) < kind.shape[1] - 1)
        cell = kind[some] + np.arange(len(some))[:, None] * kind.shape[1]
        many = np.bincount(cell[mine[rows[some]]], minlength=cell.size)
        out[some] = many[cell] == 1
        return out


def _kinds(value: Floats) -> Ints:
    """Numbers (N, K) from 0 up that are the same where the values of a record are.

    >>> _kinds(np.array([[0.5, 0.2, 0.5], [3.0, 2.0, 1.0]]))
    array([[1, 0, 1],
           [2, 1, 0]])
    """
    order = np.argsort(value, axis=1)
    ranked = np.take_along_axis(value, order, axis=1)
    step = np.zeros(value.shape, dtype=np.int64)
    np.cumsum(ranked[:, 1:] != ranked[:, :-1], axis=1, out=step[:, 1:])
    out = np.empty_like(step)
    np.put_along_axis(out, order, step, axis=1)
    return out


def _of_each_kind(kind: npt.NDArray[np.integer[Any]], cells: Bools) -> Ints:
    """How many of some cells (N, K) of each record are of each kind (N, K).

    >>> _of_each_kind(np.array([[1, 0, 1], [2, 1, 0]]), np.array([[True, True, True], [False, True, True]]))
    array([[1, 2, 0],
           [1, 1, 0]])
    """
    at = kind + np.arange(len(kind))[:, None] * kind.shape[1]
    return np.bincount(at[cells], minlength=at.size).reshape(at.shape)


def _count(cells: Bools) -> Floats:
    """How many cells (N, K) of each record there are (N,); a product is faster than a sum over a short axis.

    >>> _count(np.array([[True, False, True], [False, False, False]]))
    array([2., 0.])
    """
    with np.errstate(invalid="ignore"):  # some processors report invalid numbers of products in which there are none
        return np.asarray(cells @ np.ones(cells.shape[1], dtype=np.float32), dtype=np.float64)
