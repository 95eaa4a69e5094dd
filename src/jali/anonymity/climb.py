"""Local search: boxes become purer, or lose less, by one value at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jali.anonymity.people import Boxes, Crowd, joined
from jali.core.values import Bools, Floats, Ints

SAME = 1e-9  # pureness and NCP that differ by less are equal


class Trials(NamedTuple):
    """Boxes that might replace others: which one each (P,) comes from, and the boxes."""

    of: Ints
    boxes: Boxes

    def pick(self, which: Bools | Ints) -> Trials:
        """The chosen trials."""
        return Trials(self.of[which], self.boxes.pick(which))


Judge = Callable[[Boxes, Ints], tuple[Floats, Bools]]  # pureness of boxes of counterfactuals (S,), and where exact
Moves = Callable[[Crowd, Boxes, Ints], Trials]


@dataclass(frozen=True, eq=False)
class Climb:
    """Boxes around combinations own (S, Q) of counterfactuals who (S,), improved in place until no one value helps.

    A category or the end of a range is dropped, but for the counterfactual's own value, as long as that helps; then a
    next one is added where a quasi-identifier has one value, or else one is added and another dropped. What remains is
    cut to the people it holds, k or more. Of all such boxes the best replaces the old one if it is purer, or as pure
    with less NCP. exact (S,): pureness is no estimate.
    """

    crowd: Crowd
    judge: Judge
    boxes: Boxes
    own: Ints
    who: Ints
    pure: Floats
    loss: Floats
    exact: Bools

    @classmethod
    def of(cls, crowd: Crowd, judge: Judge, boxes: Boxes, own: Ints, who: Ints) -> Climb:
        """The start of a search, with boxes of its own."""
        mine = boxes.pick(np.arange(len(who)))
        pure, exact = judge(mine, who)
        return cls(crowd, judge, mine, own, who, pure, crowd.ncp(mine), exact)

    def run(self, k: int) -> Climb:
        """Improve all boxes."""
        left = np.arange(len(self.who))
        while len(left):
            some = left
            while len(some):
                some = self._step(some, k, (_drops,))
            left = self._step(left, k, (_adds, _swaps))
        return self

    def _step(self, left: Ints, k: int, kinds: tuple[Moves, ...]) -> Ints:
        """Move those left (n,) of the boxes to the best trial of the first kind that helps; the ones that moved.

        The trials of all kinds are judged together, since a model is asked about many rows almost as quickly as of few.
        """
        made = []
        for moves in kinds:
            some = left[self.pure[left] < 1 - SAME] if moves is _adds else left
            of, boxes = held(self.crowd, moves(self.crowd, self.boxes.pick(some), self.own[some]), k)
            made.append(Trials(some[of], boxes))
        (of, boxes), kind = _joined(made), np.repeat(np.arange(len(made)), [len(trials.of) for trials in made])
        loss, (pure, exact) = self.crowd.ncp(boxes), self._pureness(of, boxes, kinds)
        good = np.flatnonzero(self._better(of, pure, loss))
        good = good[best(of[good] * len(kinds) + kind[good], pure[good], loss[good])]
        won, at = np.unique(of[good], return_index=True)
        self.boxes.put(won, boxes.pick(good[at]))
        self.pure[won], self.loss[won], self.exact[won] = (values[good[at]] for values in (pure, loss, exact))
        return won

    def _pureness(self, of: Ints, boxes: Boxes, kinds: tuple[Moves, ...]) -> tuple[Floats, Bools]:
        """Pureness (P,) of trials, and where it is exact: a part of a pure box is pure without asking."""
        pure, exact = np.ones(len(of)), np.ones(len(of), dtype=bool)
        ask = np.flatnonzero((self.pure[of] < 1 - SAME) | ~self.exact[of] | (kinds != (_drops,)))
        pure[ask], exact[ask] = self.judge(boxes.pick(ask), self.who[of[ask]])
        return pure, exact

    def _better(self, of: Ints, pure: Floats, loss: Floats) -> Bools:
        """Which boxes (P,) are better than those they would replace."""
        purer, as_pure = pure > self.pure[of] + SAME, pure > self.pure[of] - SAME
        return np.asarray(purer | (as_pure & (loss < self.loss[of] - SAME)))


def best(of: Ints, pure: Floats, loss: Floats) -> Ints:
    """Of each group of (P,) the position of the purest, and of equally pure ones that of least loss.

    >>> best(np.array([0, 0, 1]), np.array([0.5, 1.0, 0.5]), np.array([0.1, 0.9, 0.1]))
    array([1, 2])
    """
    order = np.lexsort((loss, -np.round(pure / SAME), of))
    return order[np.unique(of[order], return_index=True)[1]]


def held(crowd: Crowd, trials: Trials, k: int) -> Trials:
    """Trials of k people or more, cut to the people they hold."""
    some = [Trials(trials.of[:0], trials.boxes.pick(trials.of[:0]))]
    for block in crowd.blocks(len(trials.of)):
        inside = crowd.held(trials.boxes.pick(block))
        enough = crowd.count_of(inside) >= k
        some.append(Trials(trials.of[block][enough], crowd.hull(crowd.cells_of(inside[enough]))))
    return _joined(some)


def _joined(parts: list[Trials]) -> Trials:
    of, boxes = zip(*parts, strict=True)
    return Trials(np.concatenate(of), joined(boxes))


# --- changes of one value ---------------------------------------------------------------------------------------------


class _Changes(NamedTuple):
    """Changes of one quasi-identifier each, and the NCP (P,) that they add.

    what (P, 5): the box, the quasi-identifier, how far the low and the high end of its range move, and the category
    that is taken in or out, -1 for none.
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
        """Change one box each (P,)."""
        _, q, low, high, value = self.what.T
        at, named = np.arange(len(q)), np.flatnonzero(value >= 0)
        boxes.low[at, q] += low
        boxes.high[at, q] += high
        boxes.allowed[named, q[named], value[named]] ^= True


def _drops(crowd: Crowd, boxes: Boxes, own: Ints) -> Trials:
    """Boxes without one of their categories, or without some values at an end of a range."""
    return _made(boxes, _less(crowd, boxes, own))


def _adds(crowd: Crowd, boxes: Boxes, own: Ints) -> Trials:  # noqa: ARG001 (as the other moves)
    """Boxes with one value more of a quasi-identifier that has only the counterfactual's own."""
    more = _more(crowd, boxes)
    one = np.where(crowd.ranged, boxes.low == boxes.high, boxes.allowed.sum(axis=2) == 1)
    return _made(boxes, more.pick(one[more.of, more.q]))


def _swaps(crowd: Crowd, boxes: Boxes, own: Ints) -> Trials:
    """Boxes with one value more and another one less that lose less."""
    more, less = _more(crowd, boxes), _less(crowd, boxes, own)
    less = less.pick(np.argsort(less.of, kind="stable"))
    many, ends = np.bincount(less.of, minlength=len(own)), np.searchsorted(less.of, more.of, "right")
    first = np.repeat(np.arange(len(more.of)), many[more.of])
    second = np.arange(len(first)) - np.repeat(np.cumsum(many[more.of]) - ends, many[more.of])
    apart = crowd.ranged[more.q[first]] | (more.q[first] != less.q[second])  # one category for another loses as much
    use = np.flatnonzero(apart & (more.loss[first] + less.loss[second] < -SAME))
    trials = _made(boxes, more.pick(first[use]))
    less.pick(second[use]).make(trials.boxes)
    return trials


def _made(boxes: Boxes, changes: _Changes) -> Trials:
    out = boxes.pick(changes.of)
    changes.make(out)
    return Trials(changes.of, out)


def _less(crowd: Crowd, boxes: Boxes, own: Ints) -> _Changes:
    """Every way to drop a category, or some values at an end of a range, but for own (S, Q)."""
    out = []
    for q, ranged in enumerate(crowd.ranged):
        if ranged:
            below, above = own[:, q] - boxes.low[:, q], boxes.high[:, q] - own[:, q]
            by = _strides(max(below.max(initial=0), above.max(initial=0)))
            out.append(_moved(crowd, boxes, below[:, None] >= by, q, by, 0 * by))
            out.append(_moved(crowd, boxes, above[:, None] >= by, q, 0 * by, -by))
        else:
            spare = boxes.allowed[:, q].copy()
            spare[np.arange(len(own)), own[:, q]] = False
            out.append(_turned(crowd, boxes, spare, q))
    return _together(out)


def _more(crowd: Crowd, boxes: Boxes) -> _Changes:
    """Every way to take in a category, or the next value at an end of a range."""
    out = []
    for q, known in enumerate(crowd.values):
        if crowd.fixed[q]:
            out.append(_turned(crowd, boxes, np.zeros((len(boxes.low), crowd.wide), dtype=bool), q))
        elif crowd.ranged[q]:
            able = np.column_stack([boxes.low[:, q] > 0, boxes.high[:, q] < len(known) - 1])
            out.append(_moved(crowd, boxes, able, q, np.array([-1, 0]), np.array([0, 1])))
        else:
            out.append(_turned(crowd, boxes, ~boxes.allowed[:, q] & (np.arange(crowd.wide) < len(known)), q))
    return _together(out)


def _together(parts: list[_Changes]) -> _Changes:
    what, loss = zip(*parts, strict=True)
    return _Changes(np.concatenate(what), np.concatenate(loss))


def _strides(most: int) -> Ints:
    """How many values to drop at once: few, or powers of two and three times these."""
    some = {m << e for m in (1, 3) for e in range(int(most).bit_length()) if m << e <= most}
    return np.array(sorted(some), dtype=np.int64)


def _moved(crowd: Crowd, boxes: Boxes, which: Bools, q: int, low: Ints, high: Ints) -> _Changes:
    """Move the ends of a range of some boxes by some of the steps low and high (B,), which (S, B)."""
    of, by = which.nonzero()
    known, at, to = crowd.values[q], boxes.low[of, q], boxes.high[of, q]
    wider = known[to + high[by]] - known[to] + known[at] - known[at + low[by]]
    return _Changes(_table(of, q, low[by], high[by], -1), crowd.step[q] * wider)


def _turned(crowd: Crowd, boxes: Boxes, which: Bools, q: int) -> _Changes:
    """Take each of some categories (S, V) in, or out; the second value of a category counts twice."""
    of, value = which.nonzero()
    many, inside = boxes.allowed[:, q].sum(axis=1)[of], boxes.allowed[of, q, value]
    loss = np.where(inside, np.where(many == 2, -2, -1), np.where(many == 1, 2, 1)) * crowd.step[q]
    return _Changes(_table(of, q, 0, 0, value), loss)


def _table(*columns: Ints | int) -> Ints:
    """Columns side by side, the first of all rows, others of one number for all of them."""
    out = np.empty((np.size(columns[0]), len(columns)), dtype=np.int64)
    for at, column in enumerate(columns):
        out[:, at] = column
    return out
