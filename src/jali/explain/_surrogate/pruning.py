"""Trees and rules cut back until every rule speaks of at least k training people, with coarse bounds and shares."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jali.anonymity.grid import Grid
from jali.anonymity.measures import people
from jali.core.values import Bools, Dataset, Floats, Ints
from jali.explain._surrogate.trees import Tree
from jali.text.rules import AtLeast, Condition, Held, Rule, Term

STEPS = 20  # shares of classes are told in twentieths


def pruned_tree(tree: Tree, train: Dataset, labels: Ints, k: int) -> Tree:
    """The tree with bounds on a grid, cut where a child would hold fewer than k people, and shares in twentieths.

    Bounds move, so classes are counted again: labels (N,), those that the model predicts for the training rows.
    """
    grid = Grid.of(train, k)
    tests = [None if test is None else on_grid(test, grid) for test in tree.tests]
    made = _Made(tree, tests, train, labels, k)
    made.add(0, np.ones(len(train), dtype=bool))
    ways = np.array(made.children, dtype=np.int64)
    return Tree(tuple(made.tests), ways[:, 0], ways[:, 1], np.stack(made.counts), tree.schema)


class _Made:
    """The nodes that are kept, in the order in which they are reached."""

    def __init__(self, tree: Tree, tests: list[Condition | None], train: Dataset, labels: Ints, k: int) -> None:
        self.tree = tree
        self.planned = tests
        self.train = train
        self.labels = labels
        self.k = k
        self.tests: list[Condition | None] = []
        self.children: list[tuple[int, int]] = []
        self.counts: list[Floats] = []

    def add(self, node: int, rows: Bools) -> int:
        """Keep a node that holds these training rows (N,), and its children if each has k people."""
        at = len(self.tests)
        self.tests.append(None)
        self.children.append((-1, -1))
        counts = np.bincount(self.labels[rows], minlength=len(self.tree.schema.classes))
        self.counts.append(coarse(counts.astype(np.float64)))
        test = self.planned[node]
        if test is None:
            return at
        inside = test.holds(self.train.X)
        sides = np.stack([rows & inside, rows & ~inside])
        if people(sides, self.train).min() >= self.k:
            self.tests[at] = test
            yes = self.add(int(self.tree.yes[node]), sides[0])
            no = self.add(int(self.tree.no[node]), sides[1])
            self.children[at] = yes, no
        return at


def pruned_rules(rules: tuple[Rule, ...], train: Dataset, labels: Ints, k: int) -> tuple[tuple[Rule, ...], list[Held]]:
    """The rules of one record on a grid; the first, which covers it, is widened until k people are covered.

    Others that cover fewer are left out. How far a rule holds is told in twentieths.
    """
    grid = Grid.of(train, k)
    first, *others = [replace(rule, premise=tuple(on_grid(c, grid) for c in rule.premise)) for rule in rules]
    kept = (_widened(first, train, k), *(rule for rule in others if _covered(rule, train) >= k))
    return kept, [_told(rule, train, labels) for rule in kept]


def on_grid(condition: Condition, grid: Grid) -> Condition:
    """The condition with its bounds moved outwards to the edges of cells, and categories completed to whole cells."""
    if isinstance(condition, AtLeast):
        return AtLeast(condition.m, tuple(_term(term, grid) for term in condition.terms))
    return _term(condition, grid)


def _term(term: Term, grid: Grid) -> Term:
    cells = grid.columns[term.column]
    if term.codes is not None:
        allowed = np.zeros((1, len(cells.cell)), dtype=bool)
        allowed[0, list(term.codes)] = True
        whole = grid.whole(allowed, term.column)[0]
        return term if whole.all() and not allowed.all() else replace(term, codes=tuple(np.flatnonzero(whole).tolist()))
    return replace(term, low=_edge(term.low, cells.high), high=_edge(term.high, cells.high))


def _edge(bound: float, ends: Floats) -> float:
    """The end of a cell that is nearest to a bound; infinite bounds stay."""
    return float(ends[np.abs(ends - bound).argmin()]) if np.isfinite(bound) else bound


def _widened(rule: Rule, train: Dataset, k: int) -> Rule:
    """The rule without the conditions that keep it from covering k people, the most restrictive first."""
    while rule.premise and _covered(rule, train) < k:
        options = [Rule(rule.premise[:i] + rule.premise[i + 1 :], rule.outcome) for i in range(len(rule.premise))]
        rule = max(options, key=lambda option: _covered(option, train))
    return rule


def _covered(rule: Rule, train: Dataset) -> int:
    return int(people(rule.covers(train.X)[None], train)[0])


def _told(rule: Rule, train: Dataset, labels: Ints) -> Held:
    """How far a rule holds, as a share of 20 rows."""
    inside = rule.covers(train.X)
    share = float((labels[inside] == rule.outcome).mean())
    return Held(STEPS, round(STEPS * share))


def coarse(counts: Floats) -> Floats:
    """Counts (C,) as shares in twentieths; the most frequent class stays the most frequent.

    >>> coarse(np.array([37.0, 1.0]))
    array([0.95, 0.05])
    >>> coarse(np.array([51.0, 49.0]))
    array([0.55, 0.45])
    """
    share = np.round(STEPS * counts / counts.sum()) / STEPS
    top = int(counts.argmax())
    share[top] += 1 - share.sum()
    rivals = np.where(np.arange(len(share)) == top, -1.0, share)
    if share[top] <= rivals.max():
        share[rivals.argmax()] -= 1 / STEPS
        share[top] += 1 / STEPS
    return np.asarray(share)
