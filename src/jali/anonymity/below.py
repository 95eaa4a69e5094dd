"""All boxes of k people around one combination that lose less than a limit, in order of loss.

A box that loses less than the limit can only hold cells whose own box, from the combination to the cell, does. Of
categories every value is taken in or left out, one after the other; then come the ranges of all numbers but one. A
partial decision is dropped if its loss, and what the k-th person still possible adds at least, reach the limit. The
ranges of the last number are swept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jali.anonymity.climb import SAME
from jali.anonymity.people import Boxes, Crowd, joined
from jali.core.values import Bools, Floats, Ints

SWEPT = 1 << 21  # ranges of the last number looked at in one go


class Listed(NamedTuple):
    """Boxes in order of loss (K,), and the least loss that a box below the limit and not among them may have."""

    boxes: Boxes
    loss: Floats
    bound: float


class _Nodes(NamedTuple):
    """M partial decisions: boxes, their loss (M,) so far, and the near cells (M, C) still possible."""

    boxes: Boxes
    loss: Floats
    open: Bools

    def pick(self, which: Bools | Ints) -> _Nodes:
        """The chosen ones."""
        return _Nodes(self.boxes.pick(which), self.loss[which], self.open[which])


class Below:
    """The search around one combination own (Q,), among the cells that are possible (C,).

    At most `most` decisions are kept open at a time and at most as many boxes are listed, those of least bound; the
    least of the others is what `bound` says, and infinite where nothing was left out.
    """

    def __init__(self, crowd: Crowd, own: Ints, possible: Bools, k: int, limit: float, most: int) -> None:
        self.crowd, self.own, self.k, self.limit, self.most, self.bound = crowd, own, k, limit, most, np.inf
        alone = costs(crowd, own)[np.arange(len(own)), crowd.cells]
        near = possible & (alone.sum(axis=1) < limit - SAME)
        self.cells, self.count, self.alone = crowd.cells[near], crowd.count[near], alone[near]

    def listed(self) -> Listed:
        """The boxes in order."""
        nodes = _Nodes(self.crowd.around(self.own[None]), np.zeros(1), np.ones((1, len(self.cells)), dtype=bool))
        order, last = self._order()
        for at, q in enumerate(order):
            rest = self.alone[:, [*order[at + 1 :], *last]].sum(axis=1)
            nodes = self._ranges(nodes, q, rest) if self.crowd.ranged[q] else self._values(nodes, q, rest)
        found = self._swept(nodes, last[0]) if last else nodes.pick(nodes.open @ self.count >= self.k)
        found = self._capped([(found, found.loss)])
        found = found.pick(np.argsort(found.loss, kind="stable"))
        return Listed(found.boxes, found.loss, self.bound)

    def _order(self) -> tuple[list[int], list[int]]:
        """Categories, the dearest first, then numbers; and apart the number with most values near, if there is one."""
        numbers = sorted(np.flatnonzero(self.crowd.ranged).tolist(), key=lambda q: len(np.unique(self.cells[:, q])))
        named = sorted(np.flatnonzero(~self.crowd.ranged).tolist(), key=lambda q: -self.crowd.step[q])
        return [*named, *numbers[:-1]], numbers[-1:]

    def _values(self, nodes: _Nodes, q: int, rest: Floats) -> _Nodes:
        """Take in or leave out each value of a category; rest (C,): what cells add by what is undecided yet."""
        code, step = self.cells[:, q], self.crowd.step[q]
        for v in np.setdiff1d(code, self.own[q]):
            mine, later = code == v, np.where((code > v) & (code != self.own[q]), step, 0.0)
            more = nodes.pick((nodes.open & mine).any(axis=1))
            more.loss[:] += np.where(_single(more, q), 2 * step, step)
            more.boxes.allowed[:, q, v] = True
            both = _joined([_Nodes(nodes.boxes, nodes.loss, nodes.open & ~mine), more])
            one = _single(both, q)
            first, second = both.pick(one), both.pick(~one)  # the second value of a category costs as much as two
            nodes = self._capped([self._bounded(first, rest + 2 * later), self._bounded(second, rest + later)])
        return nodes

    def _ranges(self, nodes: _Nodes, q: int, rest: Floats) -> _Nodes:
        """Choose the range of a number."""
        code, known, own = self.cells[:, q], self.crowd.values[q], self.own[q]
        ends, parts = np.unique(code), []
        for low in ends[ends <= own]:
            for high in ends[ends >= own]:
                loss = self.crowd.step[q] * (known[high] - known[low])
                some = nodes.pick(nodes.loss + loss < self.limit - SAME)
                some = _Nodes(some.boxes, some.loss + loss, some.open & (code >= low) & (code <= high))
                some.boxes.low[:, q], some.boxes.high[:, q] = low, high
                parts.append(self._bounded(some, rest))
        return self._capped(parts)

    def _swept(self, nodes: _Nodes, q: int) -> _Nodes:
        """Every range of the last number that holds k people, below the limit, with somebody at both ends."""
        code, known = self.cells[:, q], self.crowd.values[q]
        ends = np.unique(code)
        here = int(np.searchsorted(ends, self.own[q]))
        wide = self.crowd.step[q] * (known[ends[here:]] - known[ends[: here + 1], None])
        shows, none = (code[:, None] == ends).astype(np.int64), np.zeros((len(nodes.loss), 0), dtype=bool)
        size, parts = max(1, SWEPT // wide.size), [_Nodes(*nodes[:2], none).pick(ends[:0])]
        for some in np.split(np.arange(len(nodes.loss)), range(size, len(nodes.loss), size)):
            node, low, high = self._windows((nodes.open[some] * self.count) @ shows, nodes.loss[some], wide, here)
            out = _Nodes(*nodes[:2], none).pick(some[node])
            out.loss[:] += wide[low, high]
            out.boxes.low[:, q], out.boxes.high[:, q] = ends[low], ends[here + high]
            parts.append(self._capped([(out, out.loss)]))
        return _joined(parts)

    def _windows(self, many: Ints, loss: Floats, wide: Floats, here: int) -> tuple[Ints, ...]:
        """Node, low and high end of ranges over values with many people (M, V), one of them the combination's own."""
        upto, taken = np.cumsum(many, axis=1), many > 0
        taken[:, here] = True
        able = upto[:, None, here:] - (upto - many)[:, : here + 1, None] >= self.k
        able &= taken[:, None, here:] & taken[:, : here + 1, None]
        able &= loss[:, None, None] + wide < self.limit - SAME
        return able.nonzero()

    def _bounded(self, nodes: _Nodes, rest: Floats) -> tuple[_Nodes, Floats]:
        """The decisions that can still lead below the limit, and the least loss (M,) they can lead to.

        rest (C,): what taking a cell in adds at least. Of k people in a box, the k-th nearest of all is the nearest.
        """
        order = np.argsort(rest, kind="stable")
        upto = np.cumsum(nodes.open[:, order] * self.count[order], axis=1)
        enough = upto[:, -1] >= self.k if len(order) else np.zeros(len(nodes.loss), dtype=bool)
        nodes, upto = nodes.pick(enough), upto[enough]
        bound = nodes.loss + rest[order[(upto < self.k).sum(axis=1)]]
        able = bound < self.limit - SAME
        return nodes.pick(able), bound[able]

    def _capped(self, parts: list[tuple[_Nodes, Floats]]) -> _Nodes:
        """All decisions, or those of least bound."""
        nodes, bound = _joined([some for some, _ in parts]), np.concatenate([b for _, b in parts])
        if len(bound) <= self.most:
            return nodes
        order = np.argsort(bound, kind="stable")
        self.bound = min(self.bound, float(bound[order[self.most]]))
        return nodes.pick(order[: self.most])


def costs(crowd: Crowd, own: Ints) -> Floats:
    """What each value (Q, V) costs at least in a box with own (Q,); infinite where there is no such value."""
    out = np.full((len(own), max(map(len, crowd.values))), np.inf)
    for q, known in enumerate(crowd.values):
        far = np.abs(known - known[own[q]]) if crowd.ranged[q] else 2.0 * (np.arange(len(known)) != own[q])
        out[q, : len(known)] = far * crowd.step[q]
    return out


def _single(nodes: _Nodes, q: int) -> Bools:
    """Where (M,) a category has one value so far."""
    return np.asarray(nodes.boxes.allowed[:, q].sum(axis=1) == 1)


def _joined(parts: list[_Nodes]) -> _Nodes:
    boxes, loss, left = zip(*parts, strict=True)
    return _Nodes(joined(boxes), np.concatenate(loss), np.concatenate(left))
