"""CF-K: a greedy randomised search (GRASP) for boxes around counterfactuals, for all of them and all starts at once.

Goethals, Sörensen and Martens, The Privacy Issue of Counterfactual Explanations, 2022, appendix A. A box starts as the
combination of the counterfactual. It is widened to include one of the alpha nearest people with the desired class,
again and again, until it holds k people. Local search then improves it. The best of several starts is kept: the purest
box, and among equally pure boxes the one with least NCP.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from jali.anonymity.frequency_table import Boxes, FrequencyTable, joined
from jali.anonymity.local_search import SAME, Climb, best
from jali.anonymity.pureness import STREAM, Found, Poll
from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints, Rng

RELEASED = 100  # combinations that the code released by the authors draws to estimate pureness
FEW = 2000  # so few combinations are classified in advance, which takes less time than a second call of the model


class Cores(NamedTuple):
    """n counterfactuals to generalise: raw rows (n, D), codes (n, Q) of quasi-identifiers, and desired classes (n,)."""

    rows: Floats
    own: Ints
    wanted: Ints

    def streams(self) -> list[Rng]:
        """One random stream for each counterfactual, which depends on its row alone."""
        return [np.random.default_rng([STREAM, zlib.crc32(row.tobytes())]) for row in self.rows]


class Effort(NamedTuple):
    """Settings of the search: k people in a box, the next one from the alpha nearest, and the number of starts."""

    k: int
    alpha: int
    starts: int


def grasp(table: FrequencyTable, poll: Poll, cores: Cores, labels: Ints, effort: Effort) -> Found:
    """The best box of several starts, each improved by local search.

    labels (N,): the model's classes of the training rows. Pureness counts before NCP, and a pure box cannot become
    purer. So the starts are first improved in NCP alone, which needs no call of the model, and the pure box with least
    NCP is kept. Only counterfactuals without a pure box are searched again for both pureness and NCP, as published.
    """
    who = np.repeat(np.arange(len(cores.own)), effort.starts)
    draws = _draws(cores.streams(), effort)
    boxes, feasible = grown(table, cores, able(table, labels), who, effort, draws)
    light = Climb.of(table, _assumed_pure, boxes, cores.own[who], who).run(effort.k)
    few = boxes.combinations(table.ranged).sum() < FEW
    every = joined([light.boxes, boxes]) if few else light.boxes
    pure = _pureness(poll, every, np.resize(who, len(every.low)))[0][: len(who)]
    left = np.flatnonzero(~np.isin(who, who[feasible & (pure > 1 - SAME)]))
    climb = Climb.of(table, partial(_pureness, poll), boxes.pick(left), cores.own[who[left]], who[left]).run(effort.k)
    light.boxes.put(left, climb.boxes)
    light.loss[left] = climb.loss
    pure[left] = climb.pure
    return _kept(Found(light.boxes, pure, light.loss, feasible, np.zeros(len(who))), who, pure)


def _assumed_pure(boxes: Boxes, who: Ints) -> tuple[Floats, Bools]:
    """Pureness 1 for all boxes (S,) of counterfactuals who (S,), so that a search improves NCP alone."""
    return np.ones(len(boxes.low)), np.ones(len(who), dtype=bool)


def _pureness(poll: Poll, boxes: Boxes, who: Ints) -> tuple[Floats, Bools]:
    """Pureness of boxes (S,) of counterfactuals who (S,), and where it is exact; equal boxes are evaluated once."""
    size = boxes.allowed.shape[1] * boxes.allowed.shape[2]
    rows = np.column_stack([who, boxes.low, boxes.high, boxes.allowed.reshape(len(who), size)])
    whole = np.dtype((np.void, rows.itemsize * rows.shape[1]))  # a row as one value
    first, which = np.unique(rows.view(whole), return_index=True, return_inverse=True)[1:]
    pure, exact = poll.pureness(boxes.pick(first), who[first])
    return pure[which.ravel()], exact[which.ravel()]


def as_released(
    table: FrequencyTable, poll: Poll, cores: Cores, labels: Ints, effort: Effort, order: tuple[str, ...] = ()
) -> Found:
    """CF-K as released by the authors, which differs from their paper; labels (N,): true classes of the training rows.

    The code released by the authors makes one more start. It has no local search, because the result of the local
    search is discarded. The alpha nearest people include those already in the box, so that sometimes nobody is left to
    include. Whether a person matches a box is decided with the kinds of other columns (`mistaken`); distances use the
    right kinds. The answer is the smallest box of the people matched. The start with the highest pureness in 100 draws
    is kept.
    """
    effort = effort._replace(starts=effort.starts + 1)
    who = np.repeat(np.arange(len(cores.own)), effort.starts)
    rngs = cores.streams()
    matched = mistaken(table, order)
    boxes, feasible = grown(table, cores, able(table, labels), who, effort, _draws(rngs, effort), matched)
    boxes = _shown(matched, table, boxes)
    pure, _ = poll.pureness(boxes, who)
    seen = [rng.binomial(RELEASED, p) for rng, p in zip(rngs, pure.reshape(-1, effort.starts), strict=True)]
    found = Found(boxes, pure, table.ncp(boxes), feasible, np.zeros(len(who)))
    return _kept(found, who, np.concatenate([np.zeros(0), *seen]))


def mistaken(table: FrequencyTable, order: tuple[str, ...] = ()) -> FrequencyTable:
    """The frequency table with the column kinds that the code released by the authors uses to match people.

    That code matches the p-th quasi-identifier of the authors' list as a range if the p-th column of the whole data set
    is a number, and by its list of values otherwise. order: the names of the quasi-identifiers as the authors list
    them; empty if that is the order of the columns.
    """
    columns = table.schema.columns
    names = [columns[j].name for j in table.quasi]
    listed = list(order) or names
    if sorted(listed) != sorted(names):
        raise JaliError(f"order must name each of the quasi-identifiers {', '.join(names)} once, not {order}.")
    kinds = [columns[listed.index(name)].kind for name in names]
    return replace(table, ranged=np.array([kind != "category" for kind in kinds]))


def able(table: FrequencyTable, labels: Ints) -> Ints:
    """How many training rows of each class are in each cell, (classes, C); labels (N,): those of the training rows."""
    shape = (len(table.schema.classes), len(table.cells))
    return np.bincount(labels * shape[1] + table.place, minlength=shape[0] * shape[1]).reshape(shape)


def grown(
    table: FrequencyTable,
    cores: Cores,
    able: Ints,
    who: Ints,
    effort: Effort,
    draws: Floats,
    matched: FrequencyTable | None = None,
) -> tuple[Boxes, Bools]:
    """Boxes of k people around counterfactuals who (S,), and where (S,) one was found.

    able (classes, C): how many training rows may be included, by desired class. draws (S, k), uniform on [0, 1), choose
    among the alpha training rows nearest to the box that are not in it yet. matched: if given, the column kinds that
    decide who is in a box, as released by the authors; the alpha nearest then include the people already in the box.
    """
    holder = table if matched is None else matched
    boxes = table.around(cores.own[who], max(table.wide, holder.wide))
    feasible = np.ones(len(who), dtype=bool)
    for block in table.blocks(len(who)):
        left = np.arange(block.start, block.stop)
        for step in range(effort.k):
            inside = holder.covers(boxes.pick(left))
            few = inside @ table.count < effort.k
            left = left[few]
            inside = inside[few]
            if not len(left):
                break
            apart = (table.cells[:, table.fixed] != cores.own[who[left]][:, None, table.fixed]).any(axis=2)
            many = np.where(apart, 0, able[cores.wanted[who[left]]])
            far = table.gap(boxes.pick(left))
            cell = _neighbour(far, many, inside, effort.alpha, draws[left, step], matched is not None)
            feasible[left[cell < 0]] = False
            left = left[cell >= 0]
            boxes.add(left, table.cells[cell[cell >= 0]])
    return boxes, feasible


def _neighbour(far: Floats, many: Ints, inside: Bools, alpha: int, draw: Floats, counted: bool) -> Ints:
    """The cell (S,) of one of the alpha nearest people, chosen by draw (S,), or -1 if there is nobody.

    far (S, C): distances of cells. many (S, C): how many people of a cell may be chosen. inside (S, C): the cells in
    the box, whose people are never chosen; counted: whether they are among the alpha nearest.
    """
    far[(many == 0) | (inside & (not counted))] = np.inf
    most = min(alpha, far.shape[1])
    near = np.argpartition(far, most - 1, axis=1)[:, :most]
    near = np.take_along_axis(near, np.lexsort((near, np.take_along_axis(far, near, axis=1))), axis=1)
    rows = np.where(np.isinf(np.take_along_axis(far, near, axis=1)), 0, np.take_along_axis(many, near, axis=1))
    rows = np.diff(np.minimum(np.cumsum(rows, axis=1), alpha), axis=1, prepend=0)
    total = np.cumsum(np.where(np.take_along_axis(inside, near, axis=1), 0, rows), axis=1)
    at = (total <= (draw * total[:, -1])[:, None]).sum(axis=1).clip(max=most - 1)
    return np.where(total[:, -1] > 0, near[np.arange(len(near)), at], -1)


def _draws(rngs: list[Rng], effort: Effort) -> Floats:
    """Uniform draws (S, k) for all starts of all counterfactuals."""
    return np.concatenate([np.zeros((0, effort.k)), *(rng.random((effort.starts, effort.k)) for rng in rngs)])


def _shown(matched: FrequencyTable, table: FrequencyTable, boxes: Boxes) -> Boxes:
    """The smallest boxes that hold the people whom boxes match under mistaken kinds."""
    return joined([table.hull(matched.covers(boxes.pick(block))) for block in table.blocks(len(boxes.low))])


def _kept(found: Found, who: Ints, pure: Floats) -> Found:
    """The best start of each counterfactual who (S,): the one with k people that is purest by pure (S,)."""
    first = best(who, np.where(found.feasible, pure, -1.0), found.loss)
    return Found(
        found.boxes.pick(first), found.pure[first], found.loss[first], found.feasible[first], found.bound[first]
    )
