"""Boxes that resist the minimality attack: each of the k people in a box would get the same box.

The smallest box around one person identifies that person: an attacker computes the box for each person inside and drops
those whose box is different (Wong et al., Minimality Attack in Privacy Preserving Data Publishing, 2007). Here, all
people who would have the desired class with the private values of the counterfactual are partitioned by a rule that
treats them alike, and the answer is the box of a part. Only people whom the explainer may show count: those whom the
model gives the desired class and, by the rules of the explainer, some of them alone (confident or dense rows, or rows
with the right label). An attacker who knows the model's labels, or who may be shown, knows that nobody else is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from jali.anonymity.frequency_table import Boxes, FrequencyTable, joined
from jali.anonymity.grasp import Cores
from jali.anonymity.local_search import SAME
from jali.anonymity.pureness import CHUNK, Found, Poll
from jali.core.values import Bools, Floats, Ints

BLOCK = 500  # least number of people in a block, which is cut by quasi-identifiers alone, before the model is called


@dataclass(frozen=True, eq=False)
class Blocks:
    """The training people of each label who may be shown, partitioned into blocks by their quasi-identifiers alone.

    labels (N,): the model's classes of the training rows, -1 for rows that are never shown. may_show: whether the
    explainer could show rows (n, D) if people had them. made: the blocks of each label, computed when first needed.
    """

    table: FrequencyTable
    labels: Ints
    k: int
    may_show: Callable[[Floats], Bools]
    made: dict[int, Ints] = field(default_factory=dict, repr=False)

    def count(self, label: int) -> Ints:
        """How many people of each cell (C,) have the label."""
        return self.table.labelled(self.labels, label)

    def of(self, label: int) -> Ints:
        """The block (C,) of each cell in which a person has the label, and -1 for all other cells."""
        if label not in self.made:
            count = self.count(label)
            cut = partial(_cut, self.table, count, k=max(BLOCK, 2 * self.k))
            self.made[label] = self.table.parted(np.flatnonzero(count), cut)
        return self.made[label]


def mutual(poll: Poll, cores: Cores, people: Blocks) -> Found:
    """Boxes of at least k people, each of whom could be the person shown and would get the same box.

    There is no box if fewer than k people of a block have the desired class with the private values shown.
    """
    table = people.table
    n = len(cores.own)
    own = table.find(cores.own)
    boxes = table.around(cores.own)
    feasible = np.zeros(n, dtype=bool)
    for label in np.unique(cores.wanted):
        count = people.count(int(label))
        blocks = people.of(int(label))
        mine = np.flatnonzero(cores.wanted == label)
        mine = mine[blocks[own[mine]] >= 0]
        groups = _alike(table, cores, mine, blocks[own])
        able = [np.flatnonzero(blocks == blocks[own[who[0]]]) for who in groups]
        first = np.repeat([who[0] for who in groups], [len(cells) for cells in able]).astype(np.int64)
        good = _showable(poll, people, first, table.cells[np.concatenate([np.zeros(0, np.int64), *able])])
        ends = np.cumsum([len(cells) for cells in able])
        for who, cells, end in zip(groups, able, ends, strict=True):
            some = cells[good[end - len(cells) : end]]
            shown = who[np.isin(own[who], some)]
            for at, part in _parts(table, count, some, own[shown], people.k):
                feasible[shown[at]] = True
                boxes.put(shown[at], _hull(table, part))
    return Found(boxes, poll.pureness(boxes, np.arange(n))[0], table.ncp(boxes), feasible, np.zeros(n))


def _showable(poll: Poll, people: Blocks, who: Ints, codes: Ints) -> Bools:
    """Whether counterfactuals who (M,) with codes (M, Q) have the desired class and could be shown."""
    good = poll.good(who, codes)
    at = np.flatnonzero(good)
    for start in range(0, len(at), CHUNK):
        some = at[start : start + CHUNK]
        good[some] = people.may_show(poll.rows(who[some], codes[some]))
    return good


def _alike(table: FrequencyTable, cores: Cores, mine: Ints, block: Ints) -> list[Ints]:
    """Groups of the counterfactuals mine (m,) with equal private values in the same block; block (n,): that of each."""
    rows = np.column_stack([np.delete(cores.rows, table.quasi, axis=1), block])[mine]
    which = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    order = np.argsort(which, kind="stable")
    return np.split(mine[order], np.flatnonzero(np.diff(which[order])) + 1) if len(mine) else []


def _parts(table: FrequencyTable, count: Ints, cells: Ints, own: Ints, k: int) -> Iterator[tuple[Ints, Ints]]:
    """The counterfactuals in each part, and its cells, of a partition of cells (c,) into parts of at least k people.

    own (m,): the cells of the counterfactuals, which are given by their positions in it; parts without any are left
    out.
    """
    todo = [(cells, np.arange(len(own)))] if len(own) and count[cells].sum() >= k else []
    while todo:
        cells, who = todo.pop()
        left = _cut(table, count, cells, k)
        if left is None:
            yield who, cells
        else:
            here = np.isin(own[who], cells[left])
            sides = ((cells[left], who[here]), (cells[~left], who[~here]))
            todo += [side for side in sides if len(side[1])]


def _cut(table: FrequencyTable, people: Ints, cells: Ints, k: int) -> Bools | None:
    """Which cells (c,) are on one side of the cut that lowers NCP most; None if no cut lowers it.

    people (C,): the number of people in each cell; both sides must have at least k. NCP is summed over the people, each
    with the NCP of the box of their side. A number is cut between two values, a category into one value and the others.
    """
    count = people[cells]
    total = count.sum()
    best = None
    least = total * table.ncp(_hull(table, cells))[0] - SAME
    for q in range(len(table.quasi) if total >= 2 * k else 0):
        values, place = np.unique(table.cells[cells, q], return_inverse=True)
        if len(values) > 1:
            ranged = bool(table.ranged[q])
            many = np.bincount(place, count)
            one, other = _sides(table, cells, place, ranged)
            first = np.cumsum(many)[:-1] if ranged else many
            # Rounded, so that losses that are equal but for floating-point error are ties.
            loss = np.round(first * table.ncp(one) + (total - first) * table.ncp(other), 9)
            at = int(np.where(np.minimum(first, total - first) < k, np.inf, loss).argmin())
            if min(first[at], total - first[at]) >= k and loss[at] < least - SAME:
                least = loss[at]
                best = place <= at if ranged else place == at
    return best


def _sides(table: FrequencyTable, cells: Ints, place: Ints, ranged: bool) -> tuple[Boxes, Boxes]:
    """The boxes of both sides of every cut of one quasi-identifier.

    place (c,): which of its V > 1 values each cell has.
    """
    each = table.hulls(cells, place)
    upto = _upto(each)
    after = _turned(_upto(_turned(each)))
    if ranged:
        return upto.pick(slice(0, -1)), after.pick(slice(1, None))
    before = joined([after.pick(slice(1, 2)), upto.pick(slice(0, -1))])  # nothing is before the first value
    behind = joined([after.pick(slice(1, None)), upto.pick(slice(-2, -1))])
    low = np.minimum(before.low, behind.low)
    high = np.maximum(before.high, behind.high)
    return each, Boxes(low, high, before.allowed | behind.allowed)


def _hull(table: FrequencyTable, cells: Ints) -> Boxes:
    """The smallest box (1,) that holds the cells."""
    return table.hulls(cells, np.zeros(len(cells), dtype=np.int64))


def _upto(boxes: Boxes) -> Boxes:
    """For each box, the smallest box that holds it and all boxes before it."""
    low = np.minimum.accumulate(boxes.low)
    high = np.maximum.accumulate(boxes.high)
    return Boxes(low, high, np.logical_or.accumulate(boxes.allowed))


def _turned(boxes: Boxes) -> Boxes:
    """The boxes in reverse order."""
    return boxes.pick(slice(None, None, -1))
