"""Boxes of least NCP among those that hold k people and are pure enough, with a proof of optimality or a lower bound.

All boxes with less NCP than the best known one that are the smallest around the people they hold are listed in order of
NCP, and the model is asked about them in this order. The first box that is pure enough is the best of these. Where some
impurity is allowed, wider boxes around the same people can be purer; those of less NCP are then searched too. All
counterfactuals are searched side by side, so that each call of the model is about many rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jali.anonymity.branch_and_bound import Below, Listed, costs
from jali.anonymity.frequency_table import Boxes, FrequencyTable, joined
from jali.anonymity.grasp import Cores
from jali.anonymity.local_search import SAME, Trials, held
from jali.anonymity.pureness import Found, Poll
from jali.anonymity.widening import Widening
from jali.core.values import Bools, Floats, Ints

NODES = 10_000  # most partial decisions kept, and most boxes listed, for one counterfactual
TRIED = 2048  # most boxes whose pureness is computed for one counterfactual
SHARES = (0.4, 0.7, 1.0)  # limits as shares of the best known NCP: low ones come first, since few boxes are below them
BAD = 64  # combinations without the desired class by which boxes are excluded in one turn


def optimal(table: FrequencyTable, poll: Poll, cores: Cores, start: Found, k: int, floor: Floats) -> Found:
    """The boxes of least NCP with a pureness of at least floor (n,); never worse than a start that is pure enough.

    bound (n,) of the result is a lower bound on the NCP of any such box; it equals the loss if the box is proved
    optimal.
    """
    feasible = start.feasible & (start.pure > floor - SAME)
    limit = np.where(feasible, start.loss, 1 + 2 * SAME)  # no NCP is above 1
    found = Found(start.boxes.pick(np.arange(len(floor))), start.pure.copy(), limit, feasible, limit.copy())
    left = np.flatnonzero(limit > SAME)
    rejected: dict[int, list[Boxes]] = {i: [] for i in left.tolist()}
    for share in SHARES:
        turns = _turns(table, poll, cores, left, share * limit, k, floor)
        for turn in turns:
            turn.lower(found, np.array([turn.listed.bound]))
        todo = turns
        while todo := [turn for turn in todo if len(turn.queue)]:
            _ask(table, poll, found, todo, k)
        for turn in turns:
            rejected[turn.who] += turn.rejected
        left = np.array([turn.who for turn in turns if found.bound[turn.who] == limit[turn.who]], dtype=np.int64)
    for who, boxes in rejected.items():
        if boxes and floor[who] < 1 - SAME:
            Widening(table, poll, found, who, float(floor[who])).run(joined(boxes))
    return found


def _turns(
    table: FrequencyTable, poll: Poll, cores: Cores, left: Ints, limit: Floats, k: int, floor: Floats
) -> list[_Turn]:
    """The boxes below a limit (n,), for the counterfactuals left (m,)."""
    out = []
    for i, cells in zip(left.tolist(), _possible(table, poll, cores, left, limit, floor), strict=True):
        listed = Below(table, cores.own[i], cells, k, limit[i], NODES).listed()
        out.append(_Turn(i, listed, float(floor[i]), np.arange(len(listed.loss))))
    return out


@dataclass(eq=False)
class _Turn:
    """The boxes listed for counterfactual `who`; those in the queue are still to be tried, `size` of them next.

    rejected: the boxes that were tried and are not pure enough.
    """

    who: int
    listed: Listed
    floor: float
    queue: Ints
    size: int = 1
    tried: int = 0
    rejected: list[Boxes] = field(default_factory=list)

    def next(self) -> Boxes:
        """The boxes to try now."""
        return self.listed.boxes.pick(self.queue[: self.size])

    def settle(self, found: Found, pure: Floats, exact: Bools) -> None:
        """Keep the first of the boxes tried (s,) that is pure enough, or continue with the queue.

        A box that is rejected by an estimate (exact is false) may be pure enough, so it lowers the bound.
        """
        loss = self.listed.loss[self.queue[: self.size]]
        enough = pure > self.floor - SAME
        first = int(enough.argmax()) if enough.any() else len(loss)
        self.lower(found, loss[:first][~exact[:first]])
        self.rejected.append(self.listed.boxes.pick(self.queue[:first][pure[:first] >= 0]))
        if enough.any():
            found.boxes.put(np.array([self.who]), self.listed.boxes.pick(self.queue[first : first + 1]))
            found.pure[self.who] = pure[first]
            found.loss[self.who] = loss[first]
            found.feasible[self.who] = True
            self.lower(found, loss[first : first + 1])
        self.tried += len(loss)
        self.queue = self.queue[len(self.queue) if enough.any() else self.size :]
        self.size *= 2
        if self.tried >= TRIED:
            self.lower(found, self.listed.loss[self.queue[:1]])
            self.queue = self.queue[:0]

    def lower(self, found: Found, loss: Floats) -> None:
        """Lower the bound: a box with one of these losses may exist."""
        found.bound[self.who] = min(found.bound[self.who], loss.min(initial=np.inf))

    def avoid(self, bad: Ints, ranged: Bools) -> None:
        """Drop boxes that hold a combination (m, Q) without the desired class, if the floor allows none."""
        if self.floor > 1 - SAME:
            for codes in bad:
                self.queue = self.queue[~_holds(self.listed.boxes.pick(self.queue), codes, ranged)]


def _ask(table: FrequencyTable, poll: Poll, found: Found, turns: list[_Turn], k: int) -> None:
    """Try the next boxes of every turn."""
    boxes = [turn.next() for turn in turns]
    of = np.repeat(np.arange(len(turns)), [len(b.low) for b in boxes])
    whole = joined(boxes)
    cut = held(table, Trials(np.arange(len(of)), whole), k).boxes
    tight = table.ncp(cut) > table.ncp(whole) - SAME  # otherwise the smaller box was tried before
    pure = np.full(len(of), -1.0)
    exact = np.ones(len(of), dtype=bool)
    who = np.array([turn.who for turn in turns])[of]
    some = poll.points(whole.pick(tight))
    good = poll.good(who[tight][some.box], some.codes)
    pure[tight] = np.bincount(some.box, good, tight.sum()) / np.bincount(some.box, minlength=tight.sum())
    exact[tight] = some.exact
    for t, turn in enumerate(turns):
        turn.settle(found, pure[of == t], exact[of == t])
        turn.avoid(some.codes[~good & (of[tight][some.box] == t)][:BAD], table.ranged)


def _possible(
    table: FrequencyTable, poll: Poll, cores: Cores, which: Ints, limit: Floats, floor: Floats
) -> list[Bools]:
    """The cells (C,) that a box below the limit (n,) can hold, for each of the counterfactuals which (m,).

    If the box must be pure, it cannot hold a value that changes the class when it replaces the counterfactual's own
    value, and for a number no value beyond such a value either.
    """
    near = [costs(table, cores.own[i]) < limit[i] - SAME for i in which]
    for able, i in zip(near, which, strict=True):
        able[table.fixed] = False
        able[np.arange(len(able)), cores.own[i]] = True
    strict = [(i, *np.nonzero(able)) for i, able in zip(which, near, strict=True) if floor[i] > 1 - SAME]
    codes = [np.zeros((0, len(table.quasi)), dtype=np.int64)]
    for i, q, v in strict:
        codes.append(np.repeat(cores.own[None, i], len(q), axis=0))
        codes[-1][np.arange(len(q)), q] = v
    who = np.repeat([i for i, _, _ in strict], [len(q) for _, q, _ in strict]).astype(np.int64)
    good = poll.good(who, np.concatenate(codes))
    at = 0
    for able, i in zip(near, which, strict=True):
        if floor[i] > 1 - SAME:
            end = at + int(able.sum())
            able[able] = good[at:end]
            at = end
            able[np.arange(len(able)), cores.own[i]] = True
            _reached(able, cores.own[i], table.ranged)
    at_q = np.arange(len(table.quasi))
    return [np.asarray(able[at_q, table.cells].all(axis=1)) for able in near]


def _reached(able: Bools, own: Ints, ranged: Bools) -> None:
    """Clear the values (Q, V) of numbers that lie beyond a cleared value, seen from own (Q,)."""
    for q in np.flatnonzero(ranged):
        gaps = np.flatnonzero(~able[q])
        able[q, : gaps[gaps < own[q]].max(initial=-1) + 1] = False
        able[q, gaps[gaps > own[q]].min(initial=able.shape[1]) :] = False


def _holds(boxes: Boxes, codes: Ints, ranged: Bools) -> Bools:
    """Which boxes (K,) hold a combination (Q,)."""
    within = (boxes.low <= codes) & (codes <= boxes.high)
    last = boxes.allowed.shape[2] - 1
    listed = boxes.allowed[:, np.arange(len(codes)), codes.clip(max=last)]
    return np.asarray(np.where(ranged, within, listed).all(axis=1))
