"""Local search: boxes become purer, or lose less, by one value at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jali.core import Bools, Floats, Ints
from jali.defend._crowd import Boxes, Crowd, joined
from jali.defend._poll import Poll

SAME = 1e-9  # pureness and NCP that differ by less are equal


class Trials(NamedTuple):
    """Boxes that might replace others: which one each (P,) comes from, and the boxes."""

    of: Ints
    boxes: Boxes

    def pick(self, which: Bools | Ints) -> Trials:
        """The chosen trials."""
        return Trials(self.of[which], self.boxes.pick(which))


Moves = Callable[[Crowd, Boxes, Ints], Trials]


@dataclass(frozen=True, eq=False)
class Climb:
    """Boxes around combinations own (S, Q) of counterfactuals who (S,), improved in place until no one value helps.

    A category or the end of a range is dropped, but for the counterfactual's own value, or a next one is added where a
    quasi-identifier has one value; if neither helps, one is added and another dropped. What remains is cut to the
    people it holds, k or more. Of all such boxes the best replaces the old one if it is purer, or as pure with less
    NCP. exact (S,): pureness is no estimate.
    """

    crowd: Crowd
    poll: Poll
    boxes: Boxes
    own: Ints
    who: Ints
    pure: Floats
    loss: Floats
    exact: Bools

    @classmethod
    def of(cls, crowd: Crowd, poll: Poll, boxes: Boxes, own: Ints, who: Ints) -> Climb:
        """The start of a search."""
        pure, exact = poll.pureness(boxes, who)
        return cls(crowd, poll, boxes, own, who, pure, crowd.ncp(boxes), exact)

    def run(self, k: int) -> None:
        """Improve all boxes."""
        left = np.arange(len(self.who))
        while len(left):
            moved = np.zeros(len(self.who), dtype=bool)
            for moves in (_drops, _adds, _swaps):
                moved[self._step(left[~moved[left]], k, moves)] = True
            left = np.flatnonzero(moved)

    def _step(self, left: Ints, k: int, moves: Moves) -> Ints:
        """Move those left (n,) of the boxes to the best of their trials; the ones that moved."""
        left = left[self.pure[left] < 1 - SAME] if moves is _adds else left
        of, boxes = held(self.crowd, moves(self.crowd, self.boxes.pick(left), self.own[left]), k)
        of, loss = left[of], self.crowd.ncp(boxes)
        pure, exact = self._pureness(of, boxes, moves)
        first = best(of, pure, loss)
        first = first[self._better(of[first], pure[first], loss[first])]
        won = of[first]
        self.boxes.put(won, boxes.pick(first))
        self.pure[won], self.loss[won], self.exact[won] = pure[first], loss[first], exact[first]
        return won

    def _pureness(self, of: Ints, boxes: Boxes, moves: Moves) -> tuple[Floats, Bools]:
        """Pureness (P,) of trials, and where it is exact: a part of a pure box is pure without asking."""
        pure, exact = np.ones(len(of)), np.ones(len(of), dtype=bool)
        ask = np.flatnonzero((self.pure[of] < 1 - SAME) | ~self.exact[of] | (moves is not _drops))
        pure[ask], exact[ask] = self.poll.pureness(boxes.pick(ask), self.who[of[ask]])
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
        part = trials.pick(np.arange(block.start, block.stop))
        inside = crowd.covers(part.boxes)
        enough = inside @ crowd.count >= k
        some.append(Trials(part.of[enough], crowd.hull(inside[enough])))
    return _joined(some)


def _joined(parts: list[Trials]) -> Trials:
    of, boxes = zip(*parts, strict=True)
    return Trials(np.concatenate(of), joined(boxes))


def _drops(crowd: Crowd, boxes: Boxes, own: Ints) -> Trials:
    """Boxes without one of their categories, or without some values at an end of a range."""
    out = [_shifted(boxes, np.zeros(len(own), dtype=bool), 0, 0, 0)]
    for q, ranged in enumerate(crowd.ranged):
        if ranged:
            below, above = own[:, q] - boxes.low[:, q], boxes.high[:, q] - own[:, q]
            out += [_shifted(boxes, below >= by, q, 0, by) for by in _strides(below.max(initial=0))]
            out += [_shifted(boxes, above >= by, q, 1, -by) for by in _strides(above.max(initial=0))]
        else:
            spare = boxes.allowed[:, q].copy()
            spare[np.arange(len(own)), own[:, q]] = False
            out.append(_turned(boxes, spare, q))
    return _joined(out)


def _adds(crowd: Crowd, boxes: Boxes, own: Ints) -> Trials:
    """Boxes with one value more of a quasi-identifier that has only the counterfactual's own."""
    out = []
    for q, known in enumerate(crowd.values):
        if crowd.ranged[q]:
            one = boxes.low[:, q] == boxes.high[:, q]
            out.append(_shifted(boxes, one & (own[:, q] > 0), q, 0, -1))
            out.append(_shifted(boxes, one & (own[:, q] < len(known) - 1), q, 1, 1))
        else:
            one = boxes.allowed[:, q].sum(axis=1, keepdims=True) == 1
            out.append(_turned(boxes, one & ~boxes.allowed[:, q] & (np.arange(crowd.wide) < len(known)), q))
    return _joined(out)


def _swaps(crowd: Crowd, boxes: Boxes, own: Ints) -> Trials:
    """Boxes with one value more and another one less that lose less."""
    wider = []
    for q, known in enumerate(crowd.values):
        if crowd.ranged[q]:
            wider.append(_shifted(boxes, boxes.low[:, q] > 0, q, 0, -1))
            wider.append(_shifted(boxes, boxes.high[:, q] < len(known) - 1, q, 1, 1))
        else:
            wider.append(_turned(boxes, ~boxes.allowed[:, q] & (np.arange(crowd.wide) < len(known)), q))
    more = _joined(wider)
    less = _drops(crowd, more.boxes, own[more.of])
    of = more.of[less.of]
    return Trials(of, less.boxes).pick(crowd.ncp(less.boxes) < crowd.ncp(boxes)[of] - SAME)


def _strides(most: int) -> list[int]:
    """How many values to drop at once: few, or powers of two and three times these."""
    return sorted({m << e for m in (1, 3) for e in range(int(most).bit_length()) if m << e <= most})


def _shifted(boxes: Boxes, which: Bools, q: int, end: int, by: int) -> Trials:
    """Some boxes with the low (0) or high (1) end of a range moved."""
    of = np.flatnonzero(which)
    out = boxes.pick(of)
    out[end][:, q] += by
    return Trials(of, out)


def _turned(boxes: Boxes, which: Bools, q: int) -> Trials:
    """Boxes with a category, for each of which (S, V), no longer allowed or newly so."""
    of, value = which.nonzero()
    out = boxes.pick(of)
    out.allowed[np.arange(len(of)), q, value] ^= True
    return Trials(of, out)
