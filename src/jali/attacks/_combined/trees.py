"""Gradient-boosted trees on binned columns, for tables of some ten thousand cells.

They are those of scikit-learn's HistGradientBoostingClassifier (Friedman 2001; histograms as in LightGBM, Ke et al.
2017), which takes longer to load than a small file of evidence takes to be attacked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jali.core.values import Bools, Floats, Ints

ROUNDS = 40
RATE = 0.2
LEAVES = 8
BINS = 64
LEAST = 12.5  # sum of p (1 - p) in a leaf at least: that of 50 cells with even odds
SAMPLE = 10_000  # cells from which the edges of bins are taken
# Gradients and weights are rounded to whole numbers and summed together, as one number: sums of whole numbers are exact
# in any order. With so many cells, a sum of weights stays below SHIFT.
STEP = 2.0**10
FINE = 2.0**12
SHIFT = 2.0**26
MOST = 30_000  # cells for which that holds
TINY = 1e-12
NOTHING = np.empty((2, 0, 0))

Codes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Split:
    """One split of a leaf: cells of the leaf whose column has a bin above `after` go to leaf `to`."""

    leaf: int
    column: int
    after: int
    to: int


@dataclass(frozen=True)
class Tree:
    """Splits in the order in which they were made, and the value of each leaf."""

    splits: tuple[Split, ...]
    value: Floats

    def __call__(self, codes: Codes) -> Floats:
        """The value (n,) of each cell, from the bins of its columns (Q, n)."""
        leaf = np.zeros(codes.shape[1], dtype=np.uint8)
        for split in self.splits:
            leaf[(leaf == split.leaf) & (codes[split.column] > split.after)] = split.to
        return self.value[leaf]


@dataclass(frozen=True)
class Boosted:
    """Trees on columns cut at edges (Q, BINS - 1); their sum is a log-odds."""

    edges: Floats
    start: float
    trees: tuple[Tree, ...]

    def __call__(self, table: Floats) -> Floats:
        """The log-odds (n,) of the cells of a table (Q, n)."""
        used = sorted({split.column for tree in self.trees for split in tree.splits})
        codes = np.zeros(table.shape, dtype=np.uint8)
        for column in used:
            codes[column] = np.searchsorted(self.edges[column], table[column], side="left")
        return np.asarray(self.start + sum(tree(codes) for tree in self.trees))


def fit(table: Floats, truth: Bools) -> Boosted:
    """Boosted trees that tell members among the cells of a table (Q, n) with memberships (n,)."""
    step = -(-table.shape[1] // MOST)
    table = table[:, ::step]
    truth = truth[::step]
    edges = np.stack([_edges(column) for column in table])
    codes = np.stack([np.searchsorted(*pair, side="left") for pair in zip(edges, table, strict=True)])
    flat = np.ascontiguousarray((codes + BINS * np.arange(len(codes))[:, None]).T)
    few = codes.astype(np.uint8)
    rate = float(np.clip(truth.mean(), TINY, 1 - TINY))
    start = float(np.log(rate) - np.log1p(-rate))
    odds = np.full(len(truth), start)
    trees = []
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-odds))
        tree = _grown(flat, few, p - truth, p * (1 - p))
        odds += tree(few)
        trees.append(tree)
    return Boosted(edges, start, tuple(trees))


def _edges(column: Floats) -> Floats:
    """The edges (BINS - 1,) of bins with equally many cells each, or of one per value where there are few values."""
    some = np.sort(column[:: -(-len(column) // SAMPLE)])
    different = some[np.append(True, some[1:] != some[:-1])]
    if len(different) <= BINS:
        out = np.full(BINS - 1, np.inf)
        out[: len(different) - 1] = (different[1:] + different[:-1]) / 2
        return out
    at = np.arange(1, BINS) * len(some) // BINS
    return (some[at] + some[at - 1]) / 2


@dataclass(frozen=True)
class Leaf:
    """The cells of a leaf, and in each column and bin the sums of gradients and of weights (2, Q, BINS)."""

    rows: Ints
    sums: Floats

    def best(self) -> tuple[float, int, int]:
        """What the best split gains, in which column, and after which bin; a gain of 0 where there is none."""
        left, below = np.cumsum(self.sums, axis=2)[:, :, :-1]
        total, whole = self.sums[:, 0].sum(axis=1)
        above = whole - below
        gain = left**2 / np.maximum(below, TINY)
        gain += (total - left) ** 2 / np.maximum(above, TINY)
        gain -= total**2 / max(whole, TINY)
        gain[np.minimum(below, above) < LEAST] = 0.0
        at = int(gain.argmax())
        return float(gain.flat[at]), at // gain.shape[1], at % gain.shape[1]


def _grown(flat: Ints, codes: Codes, gradient: Floats, weight: Floats) -> Tree:
    """One tree: the leaf whose best split gains most is split, until there are enough."""
    packed = np.rint(gradient * STEP) * SHIFT + np.rint(weight * FINE)
    leaves = [_leaf(flat, np.arange(len(flat)), packed)]
    found = [leaves[0].best()]
    splits: list[Split] = []
    while len(leaves) < LEAVES:
        k = max(range(len(found)), key=lambda i: found[i][0])
        gain, column, after = found[k]
        if gain <= TINY:
            break
        splits.append(Split(k, column, after, len(leaves)))
        above = (codes[column] > after)[leaves[k].rows]
        low = leaves[k].rows[~above]
        high = leaves[k].rows[above]
        if len(leaves) == LEAVES - 1:  # nothing is split after this one
            leaves[k] = Leaf(low, NOTHING)
            leaves.append(Leaf(high, NOTHING))
            break
        leaves[k], other = _halved(leaves[k], low, high, flat, packed)
        leaves.append(other)
        found[k] = leaves[k].best()
        found.append(other.best())
    sums = [(gradient[leaf.rows].sum(), weight[leaf.rows].sum()) for leaf in leaves]
    return Tree(tuple(splits), np.array([-RATE * g / max(w, TINY) for g, w in sums]))


def _halved(leaf: Leaf, low: Ints, high: Ints, flat: Ints, packed: Floats) -> tuple[Leaf, Leaf]:
    """Both parts of a leaf; only the smaller one is summed, and the other has what is left."""
    if len(low) < len(high):
        small = _leaf(flat, low, packed)
        return small, Leaf(high, leaf.sums - small.sums)
    small = _leaf(flat, high, packed)
    return Leaf(low, leaf.sums - small.sums), small


def _leaf(flat: Ints, rows: Ints, packed: Floats) -> Leaf:
    """A leaf with these cells; flat (n, Q): the bin of each cell and column, numbered through all columns."""
    mine = flat if len(rows) == len(flat) else flat[rows]
    columns = flat.shape[1]
    both = np.bincount(mine.ravel(), np.repeat(packed[rows], columns), columns * BINS).reshape(columns, BINS)
    gradient = np.floor(both / SHIFT)
    return Leaf(rows, np.stack([gradient / STEP, (both - gradient * SHIFT) / FINE]))
