"""A frequency table of the training people by quasi-identifiers, and boxes of combinations of quasi-identifiers.

Quasi-identifiers are coded: the code of a value is its position among the sorted values that occur in the training
rows. A cell is a combination of quasi-identifiers that occurs. Sizes: S boxes, Q quasi-identifiers, C cells, V values
of a quasi-identifier, N training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.explanation import Regions
from jali.core.values import Bools, Dataset, Floats, Ints, Schema

HELD = 1 << 22  # pairs of a box and a cell that are compared at once, to bound the memory
Words = npt.NDArray[np.uint64]  # one bit for each cell


class Boxes(NamedTuple):
    """S sets of combinations: a number has codes from low to high (S, Q), a category those allowed (S, Q, V)."""

    low: Ints
    high: Ints
    allowed: Bools

    def pick(self, which: Bools | Ints | slice) -> Boxes:
        """The chosen boxes; they are copies unless `which` is a slice."""
        return Boxes(self.low[which], self.high[which], self.allowed[which])

    def put(self, which: Bools | Ints, others: Boxes) -> None:
        """Overwrite the chosen boxes with other boxes."""
        for mine, theirs in zip(self, others, strict=True):
            mine[which] = theirs

    def combinations(self, ranged: Bools) -> Floats:
        """How many combinations each box holds (S,); ranged (Q,): quasi-identifiers that are ranges in a box."""
        size = np.where(ranged, self.high - self.low + 1, self.allowed.sum(axis=2))
        return np.asarray(size.astype(np.float64).prod(axis=1))

    def add(self, which: Ints, codes: Ints) -> None:
        """Widen the chosen boxes (n,) until each holds its combination (n, Q)."""
        self.low[which] = np.minimum(self.low[which], codes)
        self.high[which] = np.maximum(self.high[which], codes)
        last = self.allowed.shape[2] - 1  # numbers may have larger codes, but `allowed` is not read for them
        self.allowed[which[:, None], np.arange(codes.shape[1]), codes.clip(max=last)] = True


def joined(parts: Sequence[Boxes]) -> Boxes:
    """Concatenate boxes."""
    return Boxes(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


@dataclass(frozen=True, eq=False)
class FrequencyTable:
    """How many training people have each combination of quasi-identifiers.

    quasi (Q,): the columns that are quasi-identifiers. values: the sorted values of each quasi-identifier that occur.
    cells (C, Q): the codes of the combinations that occur. count (C,): the number of people in each cell. place (N,):
    the cell of each training row. first: the row at which each person is counted. weight (Q,): the weight of each
    quasi-identifier in NCP; weights sum to one. ranged (Q,): quasi-identifiers that are ranges in a box, which are the
    numbers. fixed (Q,): quasi-identifiers that are never widened, because a counterfactual has the value of its record.
    """

    schema: Schema
    quasi: Ints
    values: tuple[Floats, ...]
    cells: Ints
    count: Ints
    place: Ints
    first: Ints
    weight: Floats
    ranged: Bools
    fixed: Bools

    @classmethod
    def of(cls, train: Dataset, weights: tuple[float, ...] = (), agree: bool = False) -> FrequencyTable:
        """Count the people of a training set; rows of one group are one person, counted at the first of them.

        agree: counterfactuals have the record's values in all immutable columns, so these columns are fixed.
        """
        quasi = quasi_columns(train.schema)
        weight = shares(train.schema, quasi, weights)
        known = tuple(train.levels[j] for j in quasi)
        codes = [np.searchsorted(values, train.X[:, j]) for j, values in zip(quasi, known, strict=True)]
        cells, place = _distinct(np.stack(codes, axis=1).astype(np.int64))
        first = np.arange(len(train))
        if train.groups is not None:
            first = np.unique(train.groups, return_index=True)[1]
        count = np.bincount(place[first], minlength=len(cells))
        ranged = np.array([train.schema.columns[j].kind != "category" for j in quasi])
        fixed = np.array([agree and not train.schema.columns[j].mutable for j in quasi])
        return cls(train.schema, quasi, known, cells, count, place, first, weight, ranged, fixed)

    @cached_property
    def step(self) -> Floats:
        """NCP (Q,) of widening a number by one unit, or of allowing one more value of a category."""
        spans = [np.ptp(v) or 1.0 if r else len(v) for v, r in zip(self.values, self.ranged, strict=True)]
        return np.asarray(self.weight / np.array(spans, dtype=np.float64))

    @cached_property
    def wide(self) -> int:
        """The number of values of the category that has most, at least one."""
        return max([len(v) for v, r in zip(self.values, self.ranged, strict=True) if not r], default=1)

    def coded(self, rows: Floats) -> Ints:
        """Codes (n, Q) of raw rows (n, D); each of their quasi-identifiers must have a value that occurs."""
        out = np.empty((len(rows), len(self.quasi)), dtype=np.int64)
        for q, (j, known) in enumerate(zip(self.quasi, self.values, strict=True)):
            out[:, q] = np.searchsorted(known, rows[:, j]).clip(max=len(known) - 1)
            if (known[out[:, q]] != rows[:, j]).any():
                name = self.schema.columns[j].name
                raise JaliError(
                    f"A counterfactual has a value of the quasi-identifier {name!r} that no training row has: "
                    "pass the training rows that the wrapped explainer took it from."
                )
        return out

    def agreeing(self, cells: Ints) -> list[Ints]:
        """Split cells (c,) into groups that have equal values in all fixed quasi-identifiers."""
        if not len(cells):
            return []
        which = np.unique(self.cells[cells][:, self.fixed], axis=0, return_inverse=True)[1].reshape(-1)
        return [cells[which == part] for part in range(which.max() + 1)] if self.fixed.any() else [cells]

    def parted(self, cells: Ints, cut: Callable[[Ints], Bools | None]) -> Ints:
        """The number of the part (C,) that each of the given cells is in, and -1 for all other cells.

        Cells that agree in the fixed quasi-identifiers start as one part. `cut` returns which cells of a part go to one
        side, or None if the part must not be cut further.
        """
        out = np.full(len(self.cells), -1, dtype=np.int64)
        parts = 0
        todo = self.agreeing(cells)
        while todo:
            some = todo.pop()
            left = cut(some)
            if left is None:
                out[some] = parts
                parts += 1
            else:
                todo += [some[left], some[~left]]
        return out

    def hulls(self, cells: Ints, place: Ints) -> Boxes:
        """The smallest boxes (V,) that hold the cells (c,) of each group; place (c,): the groups, from 0 to V - 1."""
        order = np.argsort(place, kind="stable")
        codes = self.cells[cells]
        named = np.flatnonzero(~self.ranged)
        starts = np.searchsorted(place[order], np.arange(place.max() + 1))
        low = np.minimum.reduceat(codes[order], starts)
        high = np.maximum.reduceat(codes[order], starts)
        allowed = np.zeros((*low.shape, self.wide), dtype=bool)
        allowed[place[:, None], named, codes[:, named]] = True
        return Boxes(low, high, allowed)

    def labelled(self, labels: Ints, label: int) -> Ints:
        """How many people of each cell (C,) have the given label; labels (N,): those of the training rows."""
        return np.bincount(self.place[self.first[labels[self.first] == label]], minlength=len(self.cells))

    def find(self, codes: Ints) -> Ints:
        """The cell (n,) of each combination (n, Q); every combination must occur."""
        blocks = [self.covers(self.around(codes[block])).argmax(axis=1) for block in self.blocks(len(codes))]
        return np.concatenate(blocks)

    def around(self, codes: Ints, wide: int = 0) -> Boxes:
        """Boxes that hold one combination (S, Q) each; `allowed` has room for at least `wide` values."""
        boxes = Boxes(codes.copy(), codes.copy(), np.zeros((*codes.shape, max(self.wide, wide)), dtype=bool))
        boxes.add(np.arange(len(codes)), codes)
        return boxes

    def blocks(self, boxes: int) -> Iterator[slice]:
        """Slices of so few boxes that comparing them with all cells fits into memory."""
        size = max(1, HELD // len(self.cells))
        return (slice(start, min(start + size, boxes)) for start in range(0, max(1, boxes), size))

    @cached_property
    def _having(self) -> tuple[Words, ...]:
        """Of each quasi-identifier and value, as bits (., W), the cells below it (number) or equal to it (category)."""
        out = []
        for code, known, ranged in zip(self.cells.T, self.values, self.ranged, strict=True):
            value = np.arange(len(known) + 1)[:, None]
            out.append(_packed(code < value if ranged else code == value))
        return tuple(out)

    @cached_property
    def _counts(self) -> Words:
        """The binary digits (., W) of the number of people in each cell, the lowest digit first."""
        digits = np.arange(int(self.count.max(initial=1)).bit_length())[:, None]
        return _packed((self.count >> digits) & 1 > 0)

    def held(self, boxes: Boxes) -> Words:
        """The cells in each box as bits (S, W), because 64 cells at a time are quicker to compare and to count."""
        out = np.full((len(boxes.low), self._counts.shape[1]), ~np.uint64(0))
        for q, having in enumerate(self._having):
            if self.ranged[q]:
                out &= having[boxes.high[:, q] + 1] & ~having[boxes.low[:, q]]
            elif len(out):
                box, value = boxes.allowed[:, q].nonzero()
                starts = np.searchsorted(box, np.arange(len(out)))
                out &= np.bitwise_or.reduceat(having[value], starts, axis=0)
        return out

    def covers(self, boxes: Boxes) -> Bools:
        """Which cells lie in which box, (S, C)."""
        return self.cells_of(self.held(boxes))

    def cells_of(self, held: Words) -> Bools:
        """Unpack bits (S, W) to one flag for each cell (S, C)."""
        return np.unpackbits(held.view(np.uint8), axis=1, count=len(self.cells)).view(bool)

    def count_of(self, held: Words) -> Ints:
        """How many people (S,) are in the cells given as bits (S, W)."""
        out = np.zeros(len(held), dtype=np.int64)
        for digit, mask in enumerate(self._counts):
            out += np.bitwise_count(held & mask).sum(axis=1, dtype=np.int64) << digit
        return out

    def people(self, boxes: Boxes) -> Ints:
        """How many people each box holds, (S,)."""
        parts = [self.count_of(self.held(boxes.pick(block))) for block in self.blocks(len(boxes.low))]
        return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

    def hull(self, inside: Bools) -> Boxes:
        """The smallest boxes that hold the cells inside (S, C); each box must have at least one cell."""
        size = (len(inside), len(self.quasi))
        out = Boxes(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros((*size, self.wide), dtype=bool))
        box, cell = inside.nonzero()
        starts = np.searchsorted(box, np.arange(len(inside)))
        for q in range(len(self.quasi)):
            code = self.cells[cell, q]
            if not self.ranged[q]:
                out.allowed[box, q, code] = True
            elif len(starts):
                out.low[:, q] = np.minimum.reduceat(code, starts)
                out.high[:, q] = np.maximum.reduceat(code, starts)
        return out

    def gap(self, boxes: Boxes) -> Floats:
        """HEOM distance (S, C) of cells from boxes: a number adds its gap divided by its range, a category 0 or 1."""
        named = np.flatnonzero(~self.ranged)
        shows = (self.cells[:, named, None] == np.arange(boxes.allowed.shape[2])).reshape(len(self.cells), -1)
        out: Floats = (~boxes.allowed[:, named]).reshape(len(boxes.low), -1).astype(np.float64) @ shows.T
        for q in np.flatnonzero(self.ranged):
            known = self.values[q]
            below = known[boxes.low[:, q, None]] - known
            above = known - known[boxes.high[:, q, None]]
            far = np.maximum(np.maximum(below, above), 0.0) / (np.ptp(known) or 1.0)
            out += far[:, self.cells[:, q]]
        return out

    def ncp(self, boxes: Boxes) -> Floats:
        """Normalised certainty penalty (S,) of boxes."""
        out = np.zeros(len(boxes.low))
        for q, known in enumerate(self.values):
            many = boxes.allowed[:, q].sum(axis=1)
            loss = known[boxes.high[:, q]] - known[boxes.low[:, q]] if self.ranged[q] else np.where(many > 1, many, 0)
            out += self.step[q] * loss
        return out

    def regions(self, boxes: Boxes, rows: Floats) -> Regions:
        """Boxes (S, Q) as regions; columns that are not quasi-identifiers keep their values from raw rows (S, D)."""
        plain = Regions.of(rows, self.schema)
        low = plain.low.copy()
        high = plain.high.copy()
        allowed = plain.allowed.copy()
        for q, (j, known) in enumerate(zip(self.quasi, self.values, strict=True)):
            if self.ranged[q]:
                low[:, j] = known[boxes.low[:, q]]
                high[:, j] = known[boxes.high[:, q]]
            else:
                allowed[:, j] = False
                allowed[:, j, known.astype(np.int64)] = boxes.allowed[:, q, : len(known)]
        return Regions(low, high, allowed, self.schema)


def quasi_columns(schema: Schema) -> Ints:
    """Positions (Q,) of the quasi-identifiers; a schema without any is refused."""
    quasi = np.flatnonzero([column.role == "quasi" for column in schema.columns])
    if not len(quasi):
        raise JaliError(
            "k-anonymity needs quasi-identifiers, and no column of this table is one: give the columns by which "
            'people can be identified, such as age and postcode, the role "quasi".'
        )
    return quasi


def shares(schema: Schema, columns: Ints, weights: tuple[float, ...]) -> Floats:
    """Weights (Q,) of the given columns, scaled to sum to one; they are equal if `weights` is empty."""
    if not weights:
        return np.full(len(columns), 1 / max(1, len(columns)))
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != columns.shape or not (given > 0).all() or not np.isfinite(given).all():
        names = ", ".join(schema.columns[j].name for j in columns)
        raise JaliError(f"weights must be one positive number for each of {names}, in this order, not {weights}.")
    return np.asarray(given / given.sum())


def _packed(which: Bools) -> Words:
    """Pack rows of flags (R, C) into bits (R, W)."""
    wide = -which.shape[1] % 64
    return np.packbits(np.pad(which, ((0, 0), (0, wide))), axis=1).view(np.uint64)


def _distinct(codes: Ints) -> tuple[Ints, Ints]:
    """The distinct rows (C, Q) of codes (N, Q) in sorted order, and the position (N,) of each row among them."""
    place = np.zeros(len(codes), dtype=np.int64)
    for column in codes.T:  # column by column, so that no number exceeds N times V
        place = np.unique(place * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return codes[np.unique(place, return_index=True)[1]], place
