"""Boxes that everybody in them shares: whoever of k people an answer is about, it would be the same.

A box that is the least around one person tells who it was made for: make it again for everybody inside, and drop those
whose box comes out different (Wong et al., Minimality Attack in Privacy Preserving Data Publishing, 2007). Here the
people who have the promised outcome with the private values of the counterfactual are cut into parts, by rules that
look at all of them alike, and the answer is the box of a part.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jali.core import Bools, Ints
from jali.defend._climb import SAME
from jali.defend._crowd import Boxes, Crowd, joined, once
from jali.defend._grasp import Cores
from jali.defend._poll import Found, Poll

BLOCK = 500  # people at least in a part that is cut by quasi-identifiers alone, before a model is asked about it


def mutual(crowd: Crowd, poll: Poll, cores: Cores, k: int) -> Found:
    """Boxes of k people or more who all have the outcome promised, and who would all get this box.

    There is none where fewer than k people of a block have the outcome.
    """
    n, blocks = len(cores.own), once(crowd, ("blocks", k), lambda: _blocks(crowd, max(BLOCK, 2 * k)))
    boxes, there, own = crowd.around(cores.own), np.zeros(n, dtype=bool), crowd.find(cores.own)
    groups = _alike(crowd, cores, blocks[own])
    able = [np.flatnonzero(blocks == blocks[own[who[0]]]) for who in groups]
    sizes = [len(cells) for cells in able]
    first = np.repeat(np.array([who[0] for who in groups], dtype=np.int64), sizes)
    good = poll.good(first, crowd.cells[np.concatenate([np.zeros(0, np.int64), *able])])
    for who, cells, mine in zip(groups, able, np.split(good, np.cumsum(sizes)[:-1]), strict=False):
        who, cells = who[mine[np.searchsorted(cells, own[who])]], cells[mine]
        for some, part in _parts(crowd, cells, own[who], k) if crowd.count[cells].sum() >= k else ():
            there[who[some]] = True
            boxes.put(who[some], _hull(crowd, part))
    return Found(boxes, poll.pureness(boxes, np.arange(n))[0], crowd.ncp(boxes), there, np.zeros(n))


def _alike(crowd: Crowd, cores: Cores, block: Ints) -> list[Ints]:
    """Those of n counterfactuals that differ in nothing but their quasi-identifiers within a block (n,)."""
    rows = np.column_stack([np.delete(cores.rows, crowd.quasi, axis=1), cores.wanted, block])
    which = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(which, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(which[order])) + 1) if len(rows) else []


def _blocks(crowd: Crowd, least: int) -> Ints:
    """The block (C,) that each cell is in."""
    out, many, todo = np.zeros(len(crowd.cells), dtype=np.int64), 0, [np.arange(len(crowd.cells))]
    while todo:
        cells = todo.pop()
        left = _cut(crowd, cells, least)
        if left is None:
            out[cells], many = many, many + 1
        else:
            todo += [cells[left], cells[~left]]
    return out


def _parts(crowd: Crowd, cells: Ints, own: Ints, k: int) -> Iterator[tuple[Ints, Ints]]:
    """Parts of some cells (c,) that cannot be cut further, each with the positions of those of own (m,) in it."""
    todo = [(cells, np.arange(len(own)))] if len(own) else []
    while todo:
        cells, who = todo.pop()
        left = _cut(crowd, cells, k)
        if left is None:
            yield who, cells
        else:
            here = np.isin(own[who], cells[left])
            sides = ((cells[left], who[here]), (cells[~left], who[~here]))
            todo += [side for side in sides if len(side[1])]


def _cut(crowd: Crowd, cells: Ints, k: int) -> Bools | None:
    """Which of some cells (c,) go to one side of the cut that lowers NCP most, k people on both sides; None for none.

    NCP is that of the boxes of both sides, each for as many people as it has. Numbers are cut between two values,
    categories into one value and the others.
    """
    count = crowd.count[cells]
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
    each = _hulls(crowd, cells, place)
    upto, after = _upto(each), _turned(_upto(_turned(each)))
    if ranged:
        return upto.pick(slice(0, -1)), after.pick(slice(1, None))
    before = joined([after.pick(slice(1, 2)), upto.pick(slice(0, -1))])  # of the first value, what comes after it
    behind = joined([after.pick(slice(1, None)), upto.pick(slice(-2, -1))])
    low, high = np.minimum(before.low, behind.low), np.maximum(before.high, behind.high)
    return each, Boxes(low, high, before.allowed | behind.allowed)


def _hull(crowd: Crowd, cells: Ints) -> Boxes:
    """The least box (1,) that holds some cells."""
    return _hulls(crowd, cells, np.zeros(len(cells), dtype=np.int64))


def _hulls(crowd: Crowd, cells: Ints, place: Ints) -> Boxes:
    """The least boxes (V,) that hold the cells (c,) of each place, of which there are 0 to V - 1."""
    order, codes, named = np.argsort(place, kind="stable"), crowd.cells[cells], np.flatnonzero(~crowd.ranged)
    starts = np.searchsorted(place[order], np.arange(place.max() + 1))
    low, high = np.minimum.reduceat(codes[order], starts), np.maximum.reduceat(codes[order], starts)
    allowed = np.zeros((*low.shape, crowd.wide), dtype=bool)
    allowed[place[:, None], named, codes[:, named]] = True
    return Boxes(low, high, allowed)


def _upto(boxes: Boxes) -> Boxes:
    """The least boxes that hold a box and all before it."""
    low, high = np.minimum.accumulate(boxes.low), np.maximum.accumulate(boxes.high)
    return Boxes(low, high, np.logical_or.accumulate(boxes.allowed))


def _turned(boxes: Boxes) -> Boxes:
    return boxes.pick(slice(None, None, -1))
