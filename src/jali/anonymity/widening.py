"""Boxes that are wider than the people in them need, because that makes them purer.

A box that is not pure enough may lie inside one that is, at some NCP, even if no further person is in it. Every such
box is reached from the smallest box around its people by widening it one value at a time, and each step adds NCP. So a
search in order of NCP that starts from the boxes that were not pure enough finds the best of all boxes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

import numpy as np

from jali.anonymity.frequency_table import Boxes, FrequencyTable, joined
from jali.anonymity.local_search import SAME
from jali.anonymity.pureness import Found, Poll

MOST = 2048  # most boxes whose pureness is computed for one counterfactual
BATCH = 64  # boxes that the model is asked about at once


class Widening:
    """The search for counterfactual `who`, from boxes that hold k people and were not pure enough.

    A lower bound on the NCP of a pure box remains where the search ends early, or where pureness is an estimate.
    """

    def __init__(self, table: FrequencyTable, poll: Poll, found: Found, who: int, floor: float) -> None:
        self.table = table
        self.poll = poll
        self.found = found
        self.who = who
        self.floor = floor
        self.heap: list[tuple[float, int, Boxes]] = []
        self.seen: set[bytes] = set()

    def run(self, rejected: Boxes) -> None:
        """Widen the rejected boxes (S,) as long as that loses less than the best box, and keep the best."""
        for s in range(len(rejected.low)):
            self._widen(rejected.pick(slice(s, s + 1)))
        asked = 0
        while self.heap and self.heap[0][0] < self.found.loss[self.who] - SAME:
            if asked >= MOST:
                self._lower(self.heap[0][0])
                return
            some = [heapq.heappop(self.heap) for _ in range(min(BATCH, len(self.heap)))]
            asked += len(some)
            self._ask([loss for loss, _, _ in some], joined([box for _, _, box in some]))

    def _ask(self, losses: list[float], boxes: Boxes) -> None:
        """Keep the best box that is pure enough, and widen the others."""
        pure, exact = self.poll.pureness(boxes, np.full(len(losses), self.who))
        for at in np.argsort(losses, kind="stable"):
            one = boxes.pick(slice(at, at + 1))
            if losses[at] >= self.found.loss[self.who] - SAME:
                return
            if pure[at] > self.floor - SAME:
                self._keep(one, losses[at], float(pure[at]))
            else:
                if not exact[at]:
                    self._lower(losses[at])
                self._widen(one)

    def _keep(self, box: Boxes, loss: float, pure: float) -> None:
        """Make this the best box."""
        proved = self.found.bound[self.who] > loss - SAME
        self.found.boxes.put(np.array([self.who]), box)
        self.found.pure[self.who] = pure
        self.found.loss[self.who] = loss
        self.found.feasible[self.who] = True
        if proved:
            self.found.bound[self.who] = loss

    def _widen(self, box: Boxes) -> None:
        """Add all boxes with one value more to those that will be tried."""
        for wider in self._steps(box):
            loss = float(self.table.ncp(wider)[0])
            name = wider.low.tobytes() + wider.high.tobytes() + wider.allowed.tobytes()
            if name not in self.seen and loss < self.found.loss[self.who] - SAME:
                self.seen.add(name)
                heapq.heappush(self.heap, (loss, len(self.seen), wider))

    def _steps(self, box: Boxes) -> Iterator[Boxes]:
        """The boxes (1,) with one value more of one quasi-identifier that may be widened."""
        for q in np.flatnonzero(~self.table.fixed).tolist():
            if self.table.ranged[q]:
                if box.low[0, q] > 0:
                    yield _with(box, q, low=int(box.low[0, q]) - 1)
                if box.high[0, q] < len(self.table.values[q]) - 1:
                    yield _with(box, q, high=int(box.high[0, q]) + 1)
            else:
                known = np.arange(len(self.table.values[q]))
                for v in known[~box.allowed[0, q, : len(known)]].tolist():
                    yield _with(box, q, value=v)

    def _lower(self, loss: float) -> None:
        """Lower the bound: a pure box with this loss may exist."""
        self.found.bound[self.who] = min(self.found.bound[self.who], loss)


def _with(box: Boxes, q: int, low: int | None = None, high: int | None = None, value: int | None = None) -> Boxes:
    """A copy of a box (1,) with one end or one more value of quasi-identifier q."""
    out = box.pick(np.zeros(1, dtype=np.int64))
    if low is not None:
        out.low[0, q] = low
    if high is not None:
        out.high[0, q] = high
    if value is not None:
        out.allowed[0, q, value] = True
    return out
