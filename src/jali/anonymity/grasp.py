"""CF-K: greedy randomised boxes around counterfactuals, for all counterfactuals and all starts at once.

Goethals, Sörensen and Martens, The Privacy Issue of Counterfactual Explanations, 2022, appendix A. A box starts as the
combination of the counterfactual and takes in one of the alpha nearest people with the promised outcome after the
other until it holds k people. Local search then improves it, and the best of several starts is kept: the purest, and
of equally pure ones that of least NCP.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from jali.anonymity.climb import SAME, Climb, best
from jali.anonymity.people import Boxes, Crowd, joined
from jali.anonymity.purity import STREAM, Found, Poll
from jali.core.errors import JaliError
from jali.core.values import Bools, Floats, Ints, Rng

RELEASED = 100  # combinations that the released code draws to estimate pureness
FEW = 2000  # combinations that a model is asked about in advance, which takes less time than to ask once more


class Cores(NamedTuple):
    """n counterfactuals to be generalised: raw rows (n, D), codes (n, Q), and the class each promises (n,)."""

    rows: Floats
    own: Ints
    wanted: Ints

    def streams(self) -> list[Rng]:
        """One stream for each, the same wherever it stands and whoever asks."""
        return [np.random.default_rng([STREAM, zlib.crc32(row.tobytes())]) for row in self.rows]


class Effort(NamedTuple):
    """k people, from the alpha nearest, in some starts."""

    k: int
    alpha: int
    starts: int


def grasp(crowd: Crowd, poll: Poll, cores: Cores, labels: Ints, effort: Effort) -> Found:
    """The best boxes of some starts, each improved; labels (N,): what the model says of the training rows.

    Pureness counts first, and nothing is purer than pure. So the starts are improved in NCP alone, for which the model
    need not be asked, and the least of the boxes that turn out to be pure is kept. Only where there is none are the
    starts improved in both, as published.
    """
    who, rngs = np.repeat(np.arange(len(cores.own)), effort.starts), cores.streams()
    boxes, there = grown(crowd, cores, able(crowd, labels), who, effort, _draws(rngs, effort))
    light = Climb.of(crowd, _trusted, boxes, cores.own[who], who).run(effort.k)
    few = boxes.combinations(crowd.ranged).sum() < FEW
    every = joined([light.boxes, boxes]) if few else light.boxes
    pure = _asked(poll, every, np.resize(who, len(every.low)))[0][: len(who)]
    left = np.flatnonzero(~np.isin(who, who[there & (pure > 1 - SAME)]))
    climb = Climb.of(crowd, partial(_asked, poll), boxes.pick(left), cores.own[who[left]], who[left]).run(effort.k)
    light.boxes.put(left, climb.boxes)
    light.loss[left], pure[left] = climb.loss, climb.pure
    return _kept(Found(light.boxes, pure, light.loss, there, np.zeros(len(who))), who, pure)


def _trusted(boxes: Boxes, who: Ints) -> tuple[Floats, Bools]:
    """Pureness of boxes (S,) of counterfactuals who (S,) if all of them keep their promise."""
    return np.ones(len(boxes.low)), np.ones(len(who), dtype=bool)


def _asked(poll: Poll, boxes: Boxes, who: Ints) -> tuple[Floats, Bools]:
    """Pureness of boxes (S,) of counterfactuals who (S,), and where it is exact; equal boxes are asked about once."""
    size = boxes.allowed.shape[1] * boxes.allowed.shape[2]
    told = np.column_stack([who, boxes.low, boxes.high, boxes.allowed.reshape(len(who), size)])
    whole = np.dtype((np.void, told.itemsize * told.shape[1]))  # a row as one value
    first, which = np.unique(told.view(whole), return_index=True, return_inverse=True)[1:]
    pure, exact = poll.pureness(boxes.pick(first), who[first])
    return pure[which.ravel()], exact[which.ravel()]


def as_released(
    crowd: Crowd, poll: Poll, cores: Cores, labels: Ints, effort: Effort, order: tuple[str, ...] = ()
) -> Found:
    """What the authors' code does, which differs from their paper; labels (N,): the true classes of the training rows.

    There is one start more, and no local search, since what it finds is not kept. People already in the box stand
    among the alpha nearest. Who matches a box is decided with the kinds of other columns (`mistaken`); who is near is
    decided with the right ones. What is shown is cut to the people matched. The purest start by 100 draws is kept.
    Where k people in the box are the alpha nearest, there is nobody left to take in.
    """
    effort = effort._replace(starts=effort.starts + 1)
    who, rngs = np.repeat(np.arange(len(cores.own)), effort.starts), cores.streams()
    matched = mistaken(crowd, order)
    boxes, there = grown(crowd, cores, able(crowd, labels), who, effort, _draws(rngs, effort), matched)
    boxes = _shown(matched, crowd, boxes)
    pure, _ = poll.pureness(boxes, who)
    seen = [rng.binomial(RELEASED, p) for rng, p in zip(rngs, pure.reshape(-1, effort.starts), strict=True)]
    found = Found(boxes, pure, crowd.ncp(boxes), there, np.zeros(len(who)))
    return _kept(found, who, np.concatenate([np.zeros(0), *seen]))


def mistaken(crowd: Crowd, order: tuple[str, ...] = ()) -> Crowd:
    """The crowd with the kinds by which the released code matches people.

    The p-th quasi-identifier of the authors' order is matched as a range if the p-th column of the whole table is a
    number, else by the values taken in. order: the names of the quasi-identifiers as the authors list them; empty if
    they list them in the order of the table.
    """
    columns = crowd.schema.columns
    names = [columns[j].name for j in crowd.quasi]
    listed = list(order) or names
    if sorted(listed) != sorted(names):
        raise JaliError(f"order must name each of the quasi-identifiers {', '.join(names)} once, not {order}.")
    kinds = [columns[listed.index(name)].kind for name in names]
    return replace(crowd, ranged=np.array([kind != "category" for kind in kinds]))


def able(crowd: Crowd, labels: Ints) -> Ints:
    """Of each class (rows) and cell how many training rows have this label (N,), (classes, C)."""
    shape = (len(crowd.schema.classes), len(crowd.cells))
    return np.bincount(labels * shape[1] + crowd.place, minlength=shape[0] * shape[1]).reshape(shape)


def grown(
    crowd: Crowd, cores: Cores, able: Ints, who: Ints, effort: Effort, draws: Floats, matched: Crowd | None = None
) -> tuple[Boxes, Bools]:
    """Boxes of k people around counterfactuals who (S,), and where there is one (S,).

    able (classes, C): the training rows that may be taken in. draws (S, k) from [0, 1) choose one of the alpha nearest
    to the box on quasi-identifiers that are not in it yet. matched: as released, the same people with the kinds that
    decide who is in a box; then those in it count among the alpha.
    """
    holder = crowd if matched is None else matched
    boxes, there = crowd.around(cores.own[who], max(crowd.wide, holder.wide)), np.ones(len(who), dtype=bool)
    for block in crowd.blocks(len(who)):
        left = np.arange(block.start, block.stop)
        for step in range(effort.k):
            inside = holder.covers(boxes.pick(left))
            few = inside @ crowd.count < effort.k
            left, inside = left[few], inside[few]
            if not len(left):
                break
            apart = (crowd.cells[:, crowd.fixed] != cores.own[who[left]][:, None, crowd.fixed]).any(axis=2)
            many = np.where(apart, 0, able[cores.wanted[who[left]]])
            far = crowd.gap(boxes.pick(left))
            cell = _neighbour(far, many, inside, effort.alpha, draws[left, step], matched is not None)
            there[left[cell < 0]] = False
            left, cell = left[cell >= 0], cell[cell >= 0]
            boxes.add(left, crowd.cells[cell])
    return boxes, there


def _neighbour(far: Floats, many: Ints, inside: Bools, alpha: int, draw: Floats, counted: bool) -> Ints:
    """The cell (S,) of one of the alpha nearest of many people (S, C) who are not inside (S, C), -1 where nobody is."""
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
    """Draws (S, k) of all starts."""
    return np.concatenate([np.zeros((0, effort.k)), *(rng.random((effort.starts, effort.k)) for rng in rngs)])


def _shown(matched: Crowd, crowd: Crowd, boxes: Boxes) -> Boxes:
    """The boxes that hold those whom boxes match under mistaken kinds."""
    return joined([crowd.hull(matched.covers(boxes.pick(block))) for block in crowd.blocks(len(boxes.low))])


def _kept(found: Found, who: Ints, pure: Floats) -> Found:
    """Of the starts of each counterfactual who (S,) the purest by pure (S,), if it has k people."""
    first = best(who, np.where(found.there, pure, -1.0), found.loss)
    return Found(found.boxes.pick(first), found.pure[first], found.loss[first], found.there[first], found.bound[first])
