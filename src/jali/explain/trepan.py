"""TREPAN: a tree that imitates the black box, grown by querying it."""

from __future__ import annotations

import hashlib
import heapq
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Gives, Surrogate, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Ints, Rng, Schema
from jali.explain._attribution.marginals import Marginals, required
from jali.explain._surrogate.splits import split
from jali.explain._surrogate.trees import Tree, implied
from jali.text.rules import Condition, Rule, narrowed

FEW = 30  # with fewer training rows at a node, rows drawn earlier also count for the distribution of columns there
TRIES = 10  # rounds of drawing; where few drawn rows satisfy an m-of-n premise, a node has fewer rows than `sample`


@dataclass(frozen=True)
class Trepan:
    """One global tree that imitates the black box, grown best first on the training rows and on synthetic rows.

    The next node to be split is the one with the largest reach * (1 - fidelity): the share of the training rows that
    reach it, times the share of its rows that the black box labels otherwise than the node's majority class. Before a
    node is scored, synthetic rows that satisfy all tests above it are added until it has `sample` rows, and the black
    box labels them: each is a training row at the node, in which every column is redrawn with probability `fresh` from
    its distribution among the training rows there. `fresh` = 1 makes columns independent, as published; a smaller value
    keeps some of the dependence between columns and gave higher fidelity (docs/surrogates.md). A test is a term on one
    column or "at least m of" up to `terms` of them, found by beam search for information gain. Growth ends at `size`
    tests, at `depth` (0: any), or where all leaves are pure.

    The tree is the same for every record: its random stream is seeded by the training rows and their labels. Bounds lie
    between values of training rows or of synthetic rows, and proportions count both.

    Craven and Shavlik, Extracting tree-structured representations of trained networks, NIPS 1995; attacked by Naretto,
    Monreale and Giannotti, Evaluating the privacy exposure of interpretable global and local explainers, 2024. The
    original estimates the density of numeric columns by kernels and tests whether a node needs estimates of its own;
    here every node has its own.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema(tuple(Column(name, "integer", 0, 1) for name in "abc"), classes=("no", "yes"))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 1.0]] * 3), np.array([0.0, -1.5]))
    >>> train = Dataset(np.eye(3).repeat(4, axis=0), [0] * 12, schema)
    >>> rng = np.random.default_rng(0)
    >>> ready = Trepan(sample=400).prepare(model, schema, train, rng)
    >>> made = ready.explain(train.X, rng)
    >>> made.models[0].rules()[0].sentence(schema)
    'If at least 2 of (a is at most 0; b is at most 0; c is at most 0), then no.'
    """

    size: int = 31
    depth: int = 5
    sample: int = 4000
    terms: int = 4
    fresh: float = 0.5
    local: ClassVar[bool] = False
    gives: ClassVar[Gives] = "surrogate"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if min(self.size, self.terms) < 1 or min(self.depth, self.sample) < 0:
            raise JaliError(
                "trepan: size and terms must be at least 1, depth and sample at least 0, "
                f"not {self.size}, {self.terms}, {self.depth} and {self.sample}."
            )
        if not 0 <= self.fresh <= 1:
            raise JaliError(
                f"trepan: fresh, the probability that a column is redrawn, must be from 0 to 1, not {self.fresh}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Grow the tree; its random stream is seeded by specification, training rows and labels, not taken from rng."""
        rows = required("trepan", train).X
        labels = model.logits(rows).argmax(axis=1)
        content = registry.spec(self, every=True).encode() + np.ascontiguousarray(rows).tobytes() + labels.tobytes()
        own = np.random.default_rng(int(hashlib.sha256(content).hexdigest(), 16))
        growth = _Growth(self, model, schema, len(rows), own)
        return _Prepared(growth.grown(_Node(rows, rows[:0], labels)))


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The tree of one model."""

    tree: Tree

    def explain(self, X: Floats, rng: Rng) -> Surrogate:  # noqa: ARG002
        """One tree for all rows (n, D)."""
        return Surrogate((self.tree,), np.zeros(len(X), dtype=np.int64), np.ones(len(X), dtype=bool))


@dataclass(frozen=True, eq=False)
class _Node:
    """The training rows own (a, D) and the drawn rows (b, D) that satisfy a premise, with their labels (a + b,)."""

    own: Floats
    drawn: Floats
    labels: Ints
    premise: tuple[Condition, ...] = ()
    depth: int = 0

    @property
    def rows(self) -> Floats:
        """All rows, the training rows first."""
        return np.concatenate([self.own, self.drawn])

    def counts(self, classes: int) -> Floats:
        """Rows of each class (C,)."""
        return np.bincount(self.labels, minlength=classes).astype(np.float64)

    def side(self, test: Condition, inside: bool, schema: Schema) -> _Node:
        """The child of the node where a test is true (inside), or where it is false."""
        own = test.holds(self.own) == inside
        drawn = test.holds(self.drawn) == inside
        premise = narrowed((*self.premise, *implied(test, inside, schema)))
        labels = self.labels[np.concatenate([own, drawn])]
        return _Node(self.own[own], self.drawn[drawn], labels, premise, self.depth + 1)


@dataclass(eq=False)
class _Growth:
    """A tree while it grows: its nodes, their tests and children, and a heap of the nodes that may still be split."""

    part: Trepan
    model: Model
    schema: Schema
    total: int
    rng: Rng
    nodes: list[_Node] = field(default_factory=list)
    tests: list[Condition | None] = field(default_factory=list)
    children: list[tuple[int, int]] = field(default_factory=list)
    ahead: list[tuple[float, int]] = field(default_factory=list)

    def grown(self, root: _Node) -> Tree:
        """The whole tree."""
        self._add(root)
        tests = 0
        while self.ahead and tests < self.part.size:
            at = heapq.heappop(self.ahead)[1]
            node = self.nodes[at]
            labels = np.eye(len(self.schema.classes))[node.labels]
            test = split(node.rows, labels, self.schema, self.part.terms, self.rng)
            if test is not None:
                tests += 1
                self.tests[at] = test
                yes = self._add(node.side(test, True, self.schema))
                no = self._add(node.side(test, False, self.schema))
                self.children[at] = yes, no
        ways = np.array(self.children, dtype=np.int64)
        counts = np.stack([node.counts(len(self.schema.classes)) for node in self.nodes])
        return Tree(tuple(self.tests), ways[:, 0], ways[:, 1], counts, self.schema)

    def _add(self, node: _Node) -> int:
        """Fill a node up to `sample` rows, queue it unless a split cannot improve it, and return its position."""
        node, at = self._enriched(node), len(self.nodes)
        counts = node.counts(len(self.schema.classes))
        loss = len(node.own) / self.total * (1 - counts.max() / counts.sum())
        if loss > 0 and not 0 < self.part.depth <= node.depth:
            heapq.heappush(self.ahead, (-loss, at))
        self.nodes.append(node)
        self.tests.append(None)
        self.children.append((-1, -1))
        return at

    def _enriched(self, node: _Node) -> _Node:
        need = self.part.sample - len(node.labels)
        if need <= 0:
            return node
        rows = self._draw(node, need)
        labels = np.concatenate([node.labels, self.model.logits(rows).argmax(axis=1)]) if len(rows) else node.labels
        return _Node(node.own, np.concatenate([node.drawn, rows]), labels, node.premise, node.depth)

    def _draw(self, node: _Node, need: int) -> Floats:
        """At most `need` new rows that satisfy the premise of a node."""
        source = node.own if len(node.own) >= FEW else node.rows
        marginals = Marginals.of(source, self.schema)
        rule = Rule(node.premise, 0)
        found = source[:0]
        for _ in range(TRIES):
            whole = source[self.rng.integers(len(source), size=need)]
            redrawn = self.rng.random(whole.shape) < self.part.fresh
            rows = np.where(redrawn, marginals.draw((need,), self.rng), whole)
            found = np.concatenate([found, rows[rule.covers(rows)]])[:need]
            if len(found) == need:
                break
        return found
