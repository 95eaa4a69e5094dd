"""Local search: improve the pureness or the NCP of boxes by adding or dropping one value at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jali.anonymity.frequency_table import Boxes, FrequencyTable, joined
from jali.core.values import Bools, Floats, Ints

SAME = 1e-9  # values of pureness or NCP that differ by less count as equal


class Trials(NamedTuple):
    """Boxes (P,) that might replace others; of (P,): the box that each would replace."""

    of: Ints
    boxes: Boxes

    def pick(self, which: Bools | Ints) -> Trials:
        """The chosen trials."""
        return Trials(self.of[which], self.boxes.pick(which))


# The pureness (S,) of boxes of counterfactuals (S,), and where (S,) it is exact.
Pureness = Callable[[Boxes, Ints], tuple[Floats, Bools]]
Moves = Callable[[FrequencyTable, Boxes, Ints], Trials]


@dataclass(frozen=True, eq=False)
class Climb:
    """Boxes around combinations own (S, Q) of counterfactuals who (S,), improved in place.

    The search ends when no change of one value improves a box. First, categories and values at the ends of ranges are
    dropped as long as that helps; the counterfactual's own values stay. Then a value is added to a quasi-identifier
    that has only one, or one value is added and another dropped. Each changed box must hold at least k people and is
    shrunk to the smallest box that holds them. The best changed box replaces the old one if it is purer, or equally
    pure with less NCP. pure (S,): pureness, which is an estimate unless exact (S,). loss (S,): NCP.
    """

    table: FrequencyTable
    pureness: Pureness
    boxes: Boxes
    own: Ints
    who: Ints
    pure: Floats
    loss: Floats
    exact: Bools

    @classmethod
    def of(cls, table: FrequencyTable, pureness: Pureness, boxes: Boxes, own: Ints, who: Ints) -> Climb:
        """The start of a search, on a copy of the boxes."""
        mine = boxes.pick(np.arange(len(who)))
        pure, exact = pureness(mine, who)
        return cls(table, pureness, mine, own, who, pure, table.ncp(mine), exact)

    def run(self, k: int) -> Climb:
        """Improve all boxes, each of which keeps at least k people."""
        left = np.arange(len(self.who))
        while len(left):
            some = left
            while len(some):
                some = self._step(some, k, (_drops,))
            left = self._step(left, k, (_adds, _swaps))
        return self

    def _step(self, left: Ints, k: int, kinds: tuple[Moves, ...]) -> Ints:
        """Replace each box left (n,) by the best trial of the first kind of move that helps; return the replaced ones.

        The pureness of the trials of all kinds is computed together, because one large call of a model takes little
        more time than a small one.
        """
        made = []
        for moves in kinds:
            some = left[self.pure[left] < 1 - SAME] if moves is _adds else left
            of, boxes = held(self.table, moves(self.table, self.boxes.pick(some), self.own[some]), k)
            made.append(Trials(some[of], boxes))
        of, boxes = _joined(made)
        kind = np.repeat(np.arange(len(made)), [len(trials.of) for trials in made])
        loss = self.table.ncp(boxes)
        pure, exact = self._pureness(of, boxes, kinds)
        good = np.flatnonzero(self._better(of, pure, loss))
        good = good[best(of[good] * len(kinds) + kind[good], pure[good], loss[good])]
        replaced, at = np.unique(of[good], return_index=True)
        chosen = good[at]
        self.boxes.put(replaced, boxes.pick(chosen))
        self.pure[replaced] = pure[chosen]
        self.loss[replaced] = loss[chosen]
        self.exact[replaced] = exact[chosen]
        return replaced

    def _pureness(self, of: Ints, boxes: Boxes, kinds: tuple[Moves, ...]) -> tuple[Floats, Bools]:
        """Pureness (P,) of trials, and where it is exact; a part of a pure box is pure, without a call of the model."""
        pure = np.ones(len(of))
        exact = np.ones(len(of), dtype=bool)
        unknown = np.flatnonzero((self.pure[of] < 1 - SAME) | ~self.exact[of] | (kinds != (_drops,)))
        pure[unknown], exact[unknown] = self.pureness(boxes.pick(unknown), self.who[of[unknown]])
        return pure, exact

    def _better(self, of: Ints, pure: Floats, loss: Floats) -> Bools:
        """Which trials (P,) are better than the boxes that they would replace."""
        purer = pure > self.pure[of] + SAME
        as_pure = pure > self.pure[of] - SAME
        return np.asarray(purer | (as_pure & (loss < self.loss[of] - SAME)))


def best(of: Ints, pure: Floats, loss: Floats) -> Ints:
    """The position of the best box in each group: the purest, and among equally pure ones that of least loss.

    of (P,): the group of each box.

    >>> best(np.array([0, 0, 1]), np.array([0.5, 1.0, 0.5]), np.array([0.1, 0.9, 0.1]))
    array([1, 2])
    """
    order = np.lexsort((loss, -np.round(pure / SAME), of))
    return order[np.unique(of[order], return_index=True)[1]]


def held(table: FrequencyTable, trials: Trials, k: int) -> Trials:
    """The trials that hold at least k people, each shrunk to the smallest box that holds the same people."""
    some = [Trials(trials.of[:0], trials.boxes.pick(trials.of[:0]))]
    for block in table.blocks(len(trials.of)):
        inside = table.held(trials.boxes.pick(block))
        enough = table.count_of(inside) >= k
        some.append(Trials(trials.of[block][enough], table.hull(table.cells_of(inside[enough]))))
    return _joined(some)


def _joined(parts: list[Trials]) -> Trials:
    """Concatenate trials."""
    of, boxes = zip(*parts, strict=True)
    return Trials(np.concatenate(of), joined(boxes))


# --- changes of one value ---------------------------------------------------------------------------------------------


class _Changes(NamedTuple):
    """Changes of one quasi-identifier each, and the NCP (P,) that each adds.

    what (P, 5): the box, the quasi-identifier, the steps by which the low and the high end of its range move, and the
    category that is added or dropped, or -1.
    """

    what: Ints
    loss: Floats

    @property
    def of(self) -> Ints:
        """The boxes (P,)."""
        return self.what[:, 0]

    @property
    def q(self) -> Ints:
        """The quasi-identifiers (P,)."""
        return self.what[:, 1]

    def pick(self, which: Bools | Ints) -> _Changes:
        """The chosen changes."""
        return _Changes(self.what[which], self.loss[which])

    def make(self, boxes: Boxes) -> None:
        """Apply each change to one of the boxes (P,)."""
        q = self.q
        at = np.arange(len(q))
        boxes.low[at, q] += self.what[:, 2]
        boxes.high[at, q] += self.what[:, 3]
        value = self.what[:, 4]
        named = np.flatnonzero(value >= 0)
        boxes.allowed[named, q[named], value[named]] ^= True


def _drops(table: FrequencyTable, boxes: Boxes, own: Ints) -> Trials:
    """Boxes without one of their categories, or without some values at one end of a range."""
    return _made(boxes, _less(table, boxes, own))


def _adds(table: FrequencyTable, boxes: Boxes, own: Ints) -> Trials:  # noqa: ARG001 (as the other moves)
    """Boxes with one more value of a quasi-identifier that has only the counterfactual's own value."""
    more = _more(table, boxes)
    one = np.where(table.ranged, boxes.low == boxes.high, boxes.allowed.sum(axis=2) == 1)
    return _made(boxes, more.pick(one[more.of, more.q]))


def _swaps(table: FrequencyTable, boxes: Boxes, own: Ints) -> Trials:
    """Boxes in which one value is added and another dropped, so that their NCP falls."""
    more = _more(table, boxes)
    less = _less(table, boxes, own)
    less = less.pick(np.argsort(less.of, kind="stable"))
    many = np.bincount(less.of, minlength=len(own))
    ends = np.searchsorted(less.of, more.of, "right")
    first = np.repeat(np.arange(len(more.of)), many[more.of])
    second = np.arange(len(first)) - np.repeat(np.cumsum(many[more.of]) - ends, many[more.of])
    # Exchanging one value of a category for another leaves its NCP as it is.
    apart = table.ranged[more.q[first]] | (more.q[first] != less.q[second])
    use = np.flatnonzero(apart & (more.loss[first] + less.loss[second] < -SAME))
    trials = _made(boxes, more.pick(first[use]))
    less.pick(second[use]).make(trials.boxes)
    return trials


def _made(boxes: Boxes, changes: _Changes) -> Trials:
    """Copies of the boxes with one change each."""
    out = boxes.pick(changes.of)
    changes.make(out)
    return Trials(changes.of, out)


def _less(table: FrequencyTable, boxes: Boxes, own: Ints) -> _Changes:
    """Every way to drop a category, or some values at one end of a range; own (S, Q) is never dropped."""
    out = []
    for q, ranged in enumerate(table.ranged):
        if ranged:
            below = own[:, q] - boxes.low[:, q]
            above = boxes.high[:, q] - own[:, q]
            by = _strides(max(below.max(initial=0), above.max(initial=0)))
            out.append(_moved(table, boxes, below[:, None] >= by, q, by, 0 * by))
            out.append(_moved(table, boxes, above[:, None] >= by, q, 0 * by, -by))
        else:
            spare = boxes.allowed[:, q].copy()
            spare[np.arange(len(own)), own[:, q]] = False
            out.append(_turned(table, boxes, spare, q))
    return _together(out)


def _more(table: FrequencyTable, boxes: Boxes) -> _Changes:
    """Every way to add a category, or the next value at one end of a range."""
    out = []
    for q, known in enumerate(table.values):
        if table.fixed[q]:
            out.append(_turned(table, boxes, np.zeros((len(boxes.low), table.wide), dtype=bool), q))
        elif table.ranged[q]:
            able = np.column_stack([boxes.low[:, q] > 0, boxes.high[:, q] < len(known) - 1])
            out.append(_moved(table, boxes, able, q, np.array([-1, 0]), np.array([0, 1])))
        else:
            out.append(_turned(table, boxes, ~boxes.allowed[:, q] & (np.arange(table.wide) < len(known)), q))
    return _together(out)


def _together(parts: list[_Changes]) -> _Changes:
    """Concatenate changes."""
    what, loss = zip(*parts, strict=True)
    return _Changes(np.concatenate(what), np.concatenate(loss))


def _strides(most: int) -> Ints:
    """How many values to drop at once: powers of two, and three times these, up to `most`."""
    some = {m << e for m in (1, 3) for e in range(int(most).bit_length()) if m << e <= most}
    return np.array(sorted(some), dtype=np.int64)


def _moved(table: FrequencyTable, boxes: Boxes, which: Bools, q: int, low: Ints, high: Ints) -> _Changes:
    """Move the ends of a range by the steps low and high (B,); which (S, B): the steps to try for each box."""
    of, by = which.nonzero()
    known = table.values[q]
    start = boxes.low[of, q]
    end = boxes.high[of, q]
    wider = known[end + high[by]] - known[end] + known[start] - known[start + low[by]]
    return _Changes(_table(of, q, low[by], high[by], -1), table.step[q] * wider)


def _turned(table: FrequencyTable, boxes: Boxes, which: Bools, q: int) -> _Changes:
    """Add or drop each of the chosen categories (S, V); the second value of a category counts twice in NCP."""
    of, value = which.nonzero()
    many = boxes.allowed[:, q].sum(axis=1)[of]
    inside = boxes.allowed[of, q, value]
    loss = np.where(inside, np.where(many == 2, -2, -1), np.where(many == 1, 2, 1)) * table.step[q]
    return _Changes(_table(of, q, 0, 0, value), loss)


def _table(*columns: Ints | int) -> Ints:
    """Columns side by side; the first sets the number of rows, and a single number fills its column."""
    out = np.empty((np.size(columns[0]), len(columns)), dtype=np.int64)
    for at, column in enumerate(columns):
        out[:, at] = column
    return out
