"""All boxes of k people around one combination whose NCP is below a limit, in order of NCP (branch and bound).

A box below the limit can only hold cells for which the smallest box from the combination to the cell is below the
limit. The search decides about each value of each category, whether the box includes it, and then about the ranges of
all numbers but one. It drops a partial decision if a lower bound on its NCP reaches the limit: the NCP so far plus the
least that the k-th person still possible adds. All ranges of the last number are tried at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jali.anonymity.frequency_table import Boxes, FrequencyTable, joined
from jali.anonymity.local_search import SAME
from jali.core.values import Bools, Floats, Ints

SWEPT = 1 << 21  # ranges of the last number that are tried at once, to bound the memory


class Listed(NamedTuple):
    """Boxes in order of loss (K,); bound: a lower bound on the loss of boxes below the limit that are not listed."""

    boxes: Boxes
    loss: Floats
    bound: float


class _Nodes(NamedTuple):
    """M partial decisions: boxes, their loss (M,) so far, and the cells (M, C) that each may still include."""

    boxes: Boxes
    loss: Floats
    open: Bools

    def pick(self, which: Bools | Ints) -> _Nodes:
        """The chosen decisions."""
        return _Nodes(self.boxes.pick(which), self.loss[which], self.open[which])


class Below:
    """The search around one combination own (Q,); possible (C,): the cells that a box may hold.

    At most `most` decisions are kept at a time, and at most `most` boxes are listed: those with the least lower bounds.
    `bound` is the least lower bound of what was dropped for this reason, and infinite if nothing was.
    """

    def __init__(self, table: FrequencyTable, own: Ints, possible: Bools, k: int, limit: float, most: int) -> None:
        self.table = table
        self.own = own
        self.k = k
        self.limit = limit
        self.most = most
        self.bound = np.inf
        alone = costs(table, own)[np.arange(len(own)), table.cells]
        near = possible & (alone.sum(axis=1) < limit - SAME)
        self.cells = table.cells[near]
        self.count = table.count[near]
        self.alone = alone[near]

    def listed(self) -> Listed:
        """The boxes in order of loss."""
        nodes = _Nodes(self.table.around(self.own[None]), np.zeros(1), np.ones((1, len(self.cells)), dtype=bool))
        order, last = self._order()
        for at, q in enumerate(order):
            rest = self.alone[:, [*order[at + 1 :], *last]].sum(axis=1)
            nodes = self._ranges(nodes, q, rest) if self.table.ranged[q] else self._values(nodes, q, rest)
        found = self._swept(nodes, last[0]) if last else nodes.pick(nodes.open @ self.count >= self.k)
        found = self._capped([(found, found.loss)])
        found = found.pick(np.argsort(found.loss, kind="stable"))
        return Listed(found.boxes, found.loss, self.bound)

    def _order(self) -> tuple[list[int], list[int]]:
        """The order of decisions, and apart from it the last number.

        Categories come first, beginning with the one of most NCP per value, and then numbers. The last number is the
        one with most values among the cells; its list is empty if there are no numbers.
        """
        numbers = sorted(np.flatnonzero(self.table.ranged).tolist(), key=lambda q: len(np.unique(self.cells[:, q])))
        named = sorted(np.flatnonzero(~self.table.ranged).tolist(), key=lambda q: -self.table.step[q])
        return [*named, *numbers[:-1]], numbers[-1:]

    def _values(self, nodes: _Nodes, q: int, rest: Floats) -> _Nodes:
        """Include or exclude each value of a category; rest (C,): the least NCP that undecided columns add."""
        code = self.cells[:, q]
        step = self.table.step[q]
        for v in np.setdiff1d(code, self.own[q]):
            mine = code == v
            later = np.where((code > v) & (code != self.own[q]), step, 0.0)
            more = nodes.pick((nodes.open & mine).any(axis=1))
            more.loss[:] += np.where(_single(more, q), 2 * step, step)
            more.boxes.allowed[:, q, v] = True
            both = _joined([_Nodes(nodes.boxes, nodes.loss, nodes.open & ~mine), more])
            one = _single(both, q)
            # A category with one value has no NCP, so its second value adds two steps and each further value one.
            first = self._bounded(both.pick(one), rest + 2 * later)
            further = self._bounded(both.pick(~one), rest + later)
            nodes = self._capped([first, further])
        return nodes

    def _ranges(self, nodes: _Nodes, q: int, rest: Floats) -> _Nodes:
        """Choose the range of a number; rest (C,) as in `_values`."""
        code = self.cells[:, q]
        known = self.table.values[q]
        ends = np.unique(code)
        parts = []
        for low in ends[ends <= self.own[q]]:
            for high in ends[ends >= self.own[q]]:
                loss = self.table.step[q] * (known[high] - known[low])
                some = nodes.pick(nodes.loss + loss < self.limit - SAME)
                some = _Nodes(some.boxes, some.loss + loss, some.open & (code >= low) & (code <= high))
                some.boxes.low[:, q] = low
                some.boxes.high[:, q] = high
                parts.append(self._bounded(some, rest))
        return self._capped(parts)

    def _swept(self, nodes: _Nodes, q: int) -> _Nodes:
        """Every range of the last number that holds k people, with a person at both ends, and is below the limit."""
        code = self.cells[:, q]
        known = self.table.values[q]
        ends = np.unique(code)
        here = int(np.searchsorted(ends, self.own[q]))
        wide = self.table.step[q] * (known[ends[here:]] - known[ends[: here + 1], None])
        at_end = (code[:, None] == ends).astype(np.int64)
        closed = _Nodes(nodes.boxes, nodes.loss, np.zeros((len(nodes.loss), 0), dtype=bool))
        size = max(1, SWEPT // wide.size)
        parts = [closed.pick(ends[:0])]
        for some in np.split(np.arange(len(nodes.loss)), range(size, len(nodes.loss), size)):
            people = (nodes.open[some] * self.count) @ at_end
            node, low, high = self._windows(people, nodes.loss[some], wide, here)
            out = closed.pick(some[node])
            out.loss[:] += wide[low, high]
            out.boxes.low[:, q] = ends[low]
            out.boxes.high[:, q] = ends[here + high]
            parts.append(self._capped([(out, out.loss)]))
        return _joined(parts)

    def _windows(self, people: Ints, loss: Floats, wide: Floats, here: int) -> tuple[Ints, ...]:
        """Node, low end and high end of all ranges that hold k people and are below the limit.

        people (M, V): how many people have each value. loss (M,): the NCP without this number. wide: the NCP that each
        range adds. here: the position of the combination's own value, which every range includes.
        """
        upto = np.cumsum(people, axis=1)
        taken = people > 0
        taken[:, here] = True
        able = upto[:, None, here:] - (upto - people)[:, : here + 1, None] >= self.k
        able &= taken[:, None, here:] & taken[:, : here + 1, None]
        able &= loss[:, None, None] + wide < self.limit - SAME
        return able.nonzero()

    def _bounded(self, nodes: _Nodes, rest: Floats) -> tuple[_Nodes, Floats]:
        """The decisions that can still lead below the limit, and a lower bound (M,) on the loss that they lead to.

        rest (C,): the least loss that including a cell adds. One of k people in a box is at least as far away as the
        k-th nearest person of all, so that this person's rest is a lower bound.
        """
        order = np.argsort(rest, kind="stable")
        upto = np.cumsum(nodes.open[:, order] * self.count[order], axis=1)
        enough = upto[:, -1] >= self.k if len(order) else np.zeros(len(nodes.loss), dtype=bool)
        nodes = nodes.pick(enough)
        upto = upto[enough]
        bound = nodes.loss + rest[order[(upto < self.k).sum(axis=1)]]
        able = bound < self.limit - SAME
        return nodes.pick(able), bound[able]

    def _capped(self, parts: list[tuple[_Nodes, Floats]]) -> _Nodes:
        """All decisions, or the `most` of them with the least lower bounds."""
        nodes = _joined([some for some, _ in parts])
        bound = np.concatenate([lower for _, lower in parts])
        if len(bound) <= self.most:
            return nodes
        order = np.argsort(bound, kind="stable")
        self.bound = min(self.bound, float(bound[order[self.most]]))
        return nodes.pick(order[: self.most])


def costs(table: FrequencyTable, own: Ints) -> Floats:
    """The least NCP (Q, V) of a box that holds own (Q,) and this value; infinite where there is no such value."""
    out = np.full((len(own), max(map(len, table.values))), np.inf)
    for q, known in enumerate(table.values):
        far = np.abs(known - known[own[q]]) if table.ranged[q] else 2.0 * (np.arange(len(known)) != own[q])
        out[q, : len(known)] = far * table.step[q]
    return out


def _single(nodes: _Nodes, q: int) -> Bools:
    """Where (M,) a category has only one value so far."""
    return np.asarray(nodes.boxes.allowed[:, q].sum(axis=1) == 1)


def _joined(parts: list[_Nodes]) -> _Nodes:
    """Concatenate decisions."""
    boxes = joined([part.boxes for part in parts])
    loss = np.concatenate([part.loss for part in parts])
    return _Nodes(boxes, loss, np.concatenate([part.open for part in parts]))
