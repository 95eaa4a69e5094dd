"""Boxes that everybody in them shares: whoever of k people an answer is about, it would be the same.

A box that is the least around one person tells who it was made for: make it again for everybody inside, and drop those
whose box comes out different (Wong et al., Minimality Attack in Privacy Preserving Data Publishing, 2007). Here the
people who have the promised outcome with the private values of the counterfactual are cut into parts, by rules that
look at all of them alike, and the answer is the box of a part. Only people to whom the model gives that outcome count,
since nobody else is ever shown, and whoever holds its labels knows that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from jali.anonymity.climb import SAME
from jali.anonymity.grasp import Cores
from jali.anonymity.people import Boxes, Crowd, joined
from jali.anonymity.purity import Found, Poll
from jali.core.values import Bools, Ints

BLOCK = 500  # people at least in a part that is cut by quasi-identifiers alone, before a model is asked about it


@dataclass(frozen=True, eq=False)
class Blocks:
    """The people behind one model, those of each label cut into blocks by their quasi-identifiers alone.

    labels (N,): what the model says of the training rows. made: the blocks of each label, cut when first needed.
    """

    crowd: Crowd
    labels: Ints
    k: int
    made: dict[int, Ints] = field(default_factory=dict, repr=False)

    def count(self, label: int) -> Ints:
        """How many people of each cell (C,) have a label."""
        return self.crowd.labelled(self.labels, label)

    def of(self, label: int) -> Ints:
        """The block (C,) of each cell in which somebody has the label, -1 of others."""
        if label not in self.made:
            count = self.count(label)
            cut = partial(_cut, self.crowd, count, k=max(BLOCK, 2 * self.k))
            self.made[label] = self.crowd.parted(np.flatnonzero(count), cut)
        return self.made[label]


def mutual(poll: Poll, cores: Cores, people: Blocks) -> Found:
    """Boxes of k people or more who all could be the one shown, and who would all get this box.

    Nobody to whom the model gives another label than promised is ever shown. There is no box where fewer than k people
    of a block have the outcome with the private values shown.
    """
    crowd, k = people.crowd, people.k
    n, own = len(cores.own), crowd.find(cores.own)
    boxes, there = crowd.around(cores.own), np.zeros(n, dtype=bool)
    for label in np.unique(cores.wanted):
        count, blocks = people.count(int(label)), people.of(int(label))
        mine = np.flatnonzero(cores.wanted == label)
        mine = mine[blocks[own[mine]] >= 0]
        groups = _alike(crowd, cores, mine, blocks[own])
        able = [np.flatnonzero(blocks == blocks[own[who[0]]]) for who in groups]
        first = np.repeat([who[0] for who in groups], [len(cells) for cells in able]).astype(np.int64)
        good = poll.good(first, crowd.cells[np.concatenate([np.zeros(0, np.int64), *able])])
        ends = np.cumsum([len(cells) for cells in able])
        for who, cells, end in zip(groups, able, ends, strict=True):
            some = cells[good[end - len(cells) : end]]
            shown = who[np.isin(own[who], some)]
            for at, part in _parts(crowd, count, some, own[shown], k):
                there[shown[at]] = True
                boxes.put(shown[at], _hull(crowd, part))
    return Found(boxes, poll.pureness(boxes, np.arange(n))[0], crowd.ncp(boxes), there, np.zeros(n))


def _alike(crowd: Crowd, cores: Cores, mine: Ints, block: Ints) -> list[Ints]:
    """Those of some counterfactuals (m,) that differ in nothing but their quasi-identifiers within a block (n,)."""
    rows = np.column_stack([np.delete(cores.rows, crowd.quasi, axis=1), block])[mine]
    which = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(which, kind="stable")
    return np.split(mine[order], np.flatnonzero(np.diff(which[order])) + 1) if len(mine) else []


def _parts(crowd: Crowd, count: Ints, cells: Ints, own: Ints, k: int) -> Iterator[tuple[Ints, Ints]]:
    """Parts of k people of some cells (c,) that cannot be cut, each with the positions of those of own (m,) in it."""
    todo = [(cells, np.arange(len(own)))] if len(own) and count[cells].sum() >= k else []
    while todo:
        cells, who = todo.pop()
        left = _cut(crowd, count, cells, k)
        if left is None:
            yield who, cells
        else:
            here = np.isin(own[who], cells[left])
            sides = ((cells[left], who[here]), (cells[~left], who[~here]))
            todo += [side for side in sides if len(side[1])]


def _cut(crowd: Crowd, people: Ints, cells: Ints, k: int) -> Bools | None:
    """Which of some cells (c,) go to one side of the cut that lowers NCP most, k people on both sides; None for none.

    people (C,): how many are counted in each cell. NCP is that of the boxes of both sides, each for as many as it has.
    Numbers are cut between two values, categories into one value and the others.
    """
    count = people[cells]
    total, best = count.sum(), None
    least = total * crowd.ncp(_hull(crowd, cells))[0] - SAME
    for q in range(len(crowd.quasi) if total >= 2 * k else 0):
        values, place = np.unique(crowd.cells[cells, q], return_inverse=True)
        if len(values) > 1:
            ranged, many = bool(crowd.ranged[q]), np.bincount(place, count)
            one, other = _sides(crowd, cells, place, ranged)
            first = np.cumsum(many)[:-1] if ranged else many
            loss = np.round(first * crowd.ncp(one) + (total - first) * crowd.ncp(other), 9)  # so that ties are ties
            at = int(np.where(np.minimum(first, total - first) < k, np.inf, loss).argmin())
            if min(first[at], total - first[at]) >= k and loss[at] < least - SAME:
                least, best = loss[at], place <= at if ranged else place == at
    return best


def _sides(crowd: Crowd, cells: Ints, place: Ints, ranged: bool) -> tuple[Boxes, Boxes]:
    """Boxes of both sides of every cut by one quasi-identifier; place (c,): which of its V > 1 values a cell has."""
    each = crowd.hulls(cells, place)
    upto, after = _upto(each), _turned(_upto(_turned(each)))
    if ranged:
        return upto.pick(slice(0, -1)), after.pick(slice(1, None))
    before = joined([after.pick(slice(1, 2)), upto.pick(slice(0, -1))])  # of the first value, what comes after it
    behind = joined([after.pick(slice(1, None)), upto.pick(slice(-2, -1))])
    low, high = np.minimum(before.low, behind.low), np.maximum(before.high, behind.high)
    return each, Boxes(low, high, before.allowed | behind.allowed)


def _hull(crowd: Crowd, cells: Ints) -> Boxes:
    """The least box (1,) that holds some cells."""
    return crowd.hulls(cells, np.zeros(len(cells), dtype=np.int64))


def _upto(boxes: Boxes) -> Boxes:
    """The least boxes that hold a box and all before it."""
    low, high = np.minimum.accumulate(boxes.low), np.maximum.accumulate(boxes.high)
    return Boxes(low, high, np.logical_or.accumulate(boxes.allowed))


def _turned(boxes: Boxes) -> Boxes:
    return boxes.pick(slice(None, None, -1))
