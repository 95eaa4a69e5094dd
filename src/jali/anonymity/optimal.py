"""Boxes of least NCP among those of k people that are pure enough, with a proof or a bound.

All boxes that lose less than the best known one are listed in order of loss, and the model is asked until one is pure
enough: it is optimal. The counterfactuals take turns together, so that the model is asked about many rows at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.anonymity.below import Below, Listed, costs
from jali.anonymity.climb import SAME, Trials, held
from jali.anonymity.grasp import Cores
from jali.anonymity.people import Boxes, Crowd, joined
from jali.anonymity.purity import Found, Poll
from jali.core.values import Bools, Floats, Ints

NODES = 10_000  # decisions kept open at a time, and boxes listed, for one counterfactual
TRIED = 2048  # boxes whose pureness is asked for, for one counterfactual
SHARES = (0.4, 0.7, 1.0)  # of the loss to undercut: boxes far below it are looked for first, since they are few
BAD = 64  # combinations without the outcome promised that are held against all boxes left, in one turn


def optimal(crowd: Crowd, poll: Poll, cores: Cores, start: Found, k: int, floor: Floats) -> Found:
    """The least boxes of pureness floor (n,) or more, never worse than those to start from where these are pure enough.

    Boxes are cut to the people they hold, so that their NCP is that of these people. bound (n,) of the answer: no such
    box can lose less; it equals the loss where the box is proved optimal.
    """
    there = start.there & (start.pure > floor - SAME)
    limit = np.where(there, start.loss, 1 + 2 * SAME)  # no box loses more than 1
    found = Found(start.boxes.pick(np.arange(len(floor))), start.pure.copy(), limit, there, limit.copy())
    left = np.flatnonzero(limit > SAME)
    for share in SHARES:
        turns = _turns(crowd, poll, cores, left, share * limit, k, floor)
        for turn in turns:
            turn.lower(found, np.array([turn.listed.bound]))
        todo = turns
        while todo := [turn for turn in todo if len(turn.queue)]:
            _ask(crowd, poll, found, todo, k)
        left = np.array([turn.who for turn in turns if found.bound[turn.who] == limit[turn.who]], dtype=np.int64)
    return found


def _turns(crowd: Crowd, poll: Poll, cores: Cores, left: Ints, limit: Floats, k: int, floor: Floats) -> list[_Turn]:
    """The boxes below a limit (n,) of those counterfactuals (m,) that are left."""
    out = []
    for i, cells in zip(left.tolist(), _possible(crowd, poll, cores, left, limit, floor), strict=True):
        listed = Below(crowd, cores.own[i], cells, k, limit[i], NODES).listed()
        out.append(_Turn(i, listed, float(floor[i]), np.arange(len(listed.loss))))
    return out


@dataclass(eq=False)
class _Turn:
    """The boxes listed for counterfactual `who`; those in the queue are still to be tried, `size` of them next."""

    who: int
    listed: Listed
    floor: float
    queue: Ints
    size: int = 1
    tried: int = 0

    def next(self) -> Boxes:
        """The boxes to try now."""
        return self.listed.boxes.pick(self.queue[: self.size])

    def settle(self, found: Found, pure: Floats, exact: Bools) -> None:
        """Take the first of the boxes tried (s,) that is pure enough, or go on; an estimate refuses without proof."""
        loss, enough = self.listed.loss[self.queue[: self.size]], pure > self.floor - SAME
        first = int(enough.argmax()) if enough.any() else len(loss)
        self.lower(found, loss[:first][~exact[:first]])
        if enough.any():
            found.boxes.put(np.array([self.who]), self.listed.boxes.pick(self.queue[first : first + 1]))
            found.pure[self.who], found.loss[self.who], found.there[self.who] = pure[first], loss[first], True
            self.lower(found, loss[first : first + 1])
        self.tried += len(loss)
        self.queue = self.queue[len(self.queue) if enough.any() else self.size :]
        self.size *= 2
        if self.tried >= TRIED:
            self.lower(found, self.listed.loss[self.queue[:1]])
            self.queue = self.queue[:0]

    def lower(self, found: Found, loss: Floats) -> None:
        """Say that a box of one of these losses may exist."""
        found.bound[self.who] = min(found.bound[self.who], loss.min(initial=np.inf))

    def avoid(self, bad: Ints, ranged: Bools) -> None:
        """Leave out what holds one of the combinations (m, Q) without the outcome, if all must have it."""
        if self.floor > 1 - SAME:
            for codes in bad:
                self.queue = self.queue[~_holds(self.listed.boxes.pick(self.queue), codes, ranged)]


def _ask(crowd: Crowd, poll: Poll, found: Found, turns: list[_Turn], k: int) -> None:
    """Try the next boxes of every turn."""
    boxes = [turn.next() for turn in turns]
    of = np.repeat(np.arange(len(turns)), [len(b.low) for b in boxes])
    whole = joined(boxes)
    cut = held(crowd, Trials(np.arange(len(of)), whole), k).boxes
    tight = crowd.ncp(cut) > crowd.ncp(whole) - SAME  # else the box it is cut to was tried before
    pure, exact = np.full(len(of), -1.0), np.ones(len(of), dtype=bool)
    who = np.array([turn.who for turn in turns])[of]
    some = poll.points(whole.pick(tight))
    good = poll.good(who[tight][some.box], some.codes)
    pure[tight] = np.bincount(some.box, good, tight.sum()) / np.bincount(some.box, minlength=tight.sum())
    exact[tight] = some.exact
    for t, turn in enumerate(turns):
        turn.settle(found, pure[of == t], exact[of == t])
        turn.avoid(some.codes[~good & (of[tight][some.box] == t)][:BAD], crowd.ranged)


def _possible(crowd: Crowd, poll: Poll, cores: Cores, which: Ints, limit: Floats, floor: Floats) -> list[Bools]:
    """Of some counterfactuals (m,) the cells (C,) that a box below the limit (n,) can hold if it must be pure.

    No pure box holds a value that alone, in the place of the counterfactual's own, breaks the promise, nor a number
    beyond such a value.
    """
    near = [costs(crowd, cores.own[i]) < limit[i] - SAME for i in which]
    for able, i in zip(near, which, strict=True):
        able[crowd.fixed] = False
        able[np.arange(len(able)), cores.own[i]] = True
    strict = [(i, *np.nonzero(able)) for i, able in zip(which, near, strict=True) if floor[i] > 1 - SAME]
    codes = [np.zeros((0, len(crowd.quasi)), dtype=np.int64)]
    for i, q, v in strict:
        codes.append(np.repeat(cores.own[None, i], len(q), axis=0))
        codes[-1][np.arange(len(q)), q] = v
    who = np.repeat([i for i, _, _ in strict], [len(q) for _, q, _ in strict]).astype(np.int64)
    good, at = poll.good(who, np.concatenate(codes)), 0
    for able, i in zip(near, which, strict=True):
        if floor[i] > 1 - SAME:
            able[able] = good[at : (at := at + int(able.sum()))]
            able[np.arange(len(able)), cores.own[i]] = True
            _reached(able, cores.own[i], crowd.ranged)
    at_q = np.arange(len(crowd.quasi))
    return [np.asarray(able[at_q, crowd.cells].all(axis=1)) for able in near]


def _reached(able: Bools, own: Ints, ranged: Bools) -> None:
    """Take out, of the values (Q, V) of numbers, those beyond one that is not able, seen from own (Q,)."""
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
