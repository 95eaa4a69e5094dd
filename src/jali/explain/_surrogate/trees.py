"""Decision trees over raw columns, which predict and can be read as rules; grown by scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jali.core.encoding import Encoding
from jali.core.values import Bools, Dataset, Floats, Ints, Schema, frozen
from jali.text.rules import AtLeast, Condition, Rule, Term, narrowed

FLOOR = 1e-12  # least probability of a class, so that every logit is finite


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of K nodes, the root first.

    A row goes to the child yes (K,) where the node's test is true, else to no (K,); leaves have no test. counts (K, C):
    weighted number of rows of each class at a node. The proportions in a leaf are the class probabilities of its rows,
    at least 1e-12.

    >>> from jali.core.values import Column
    >>> schema = Schema((Column("a"),))
    >>> tree = fitted(np.array([[1.0], [2.0], [4.0], [8.0]]), np.array([0, 0, 1, 1]), schema, seed=0)
    >>> np.exp(tree.logits(np.array([[2.0], [5.0]]))).round(3)
    array([[1., 0.],
           [0., 1.]])
    >>> [rule.sentence(schema) for rule in tree.rules()]
    ['If a is at most 3, then 0.', 'If a is above 3, then 1.']
    """

    tests: tuple[Condition | None, ...]
    yes: Ints
    no: Ints
    counts: Floats
    schema: Schema

    def __post_init__(self) -> None:
        size = len(self.tests)
        object.__setattr__(self, "yes", frozen(self.yes, np.int64, (size,), "yes"))
        object.__setattr__(self, "no", frozen(self.no, np.int64, (size,), "no"))
        object.__setattr__(self, "counts", frozen(self.counts, np.float64, (size, len(self.schema.classes)), "counts"))

    def apply(self, X: Floats) -> Ints:
        """The leaf (n,) of each raw row (n, D)."""
        out = np.zeros(len(X), dtype=np.int64)
        todo = [(0, np.arange(len(X)))]
        while todo:
            node, rows = todo.pop()
            test = self.tests[node]
            if test is None:
                out[rows] = node
                continue
            inside = _holds(test, X, rows)
            todo += [(int(self.yes[node]), rows[inside]), (int(self.no[node]), rows[~inside])]
        return out

    def logits(self, X: Floats) -> Floats:
        """Log class proportions (n, C) in the leaves of raw rows (n, D)."""
        share = self.counts / self.counts.sum(axis=1, keepdims=True)
        return np.asarray(np.log(np.maximum(share, FLOOR))[self.apply(X)])

    def rules(self) -> tuple[Rule, ...]:
        """One rule for each leaf, depth first, the yes branch before the no branch."""
        return tuple(self.rule(path) for path in self.paths())

    def rule(self, path: tuple[tuple[int, bool], ...]) -> Rule:
        """The rule of the leaf that a path ends at."""
        premise = [c for node, inside in path[:-1] for c in implied(self.tests[node], inside, self.schema)]
        return Rule(narrowed(premise), int(self.counts[path[-1][0]].argmax()))

    def paths(self) -> Iterator[tuple[tuple[int, bool], ...]]:
        """The path to each leaf: nodes from the root, each with whether its test is true on the path."""
        todo: list[tuple[tuple[int, bool], ...]] = [((0, True),)]
        while todo:
            path = todo.pop()
            node = path[-1][0]
            if self.tests[node] is None:
                yield path
                continue
            for child, inside in ((self.no[node], False), (self.yes[node], True)):
                todo.append((*path[:-1], (node, inside), (int(child), True)))

    def pruned(self, train: Dataset, labels: Ints, k: int) -> Tree:
        """The tree whose rules each speak of at least k training people, with coarse bounds and shares."""
        from jali.explain._surrogate.pruning import pruned_tree

        return pruned_tree(self, train, labels, k)

    @property
    def depth(self) -> int:
        """The largest number of tests on a path to a leaf."""
        return max(len(path) for path in self.paths()) - 1


def implied(test: Condition | None, inside: bool, schema: Schema) -> tuple[Condition, ...]:
    """The conditions implied by a test being true (inside) or false (then at least n - m + 1 of n terms are false)."""
    assert test is not None
    terms, m = (test.terms, test.m) if isinstance(test, AtLeast) else ((test,), 1)
    if not inside:
        terms, m = tuple(negated(term, schema) for term in terms), len(terms) - m + 1
    return terms if m == len(terms) else (AtLeast(m, terms),)


def negated(term: Term, schema: Schema) -> Term:
    """The term that is true where this one is false; a number must have one finite bound."""
    if term.codes is not None:
        width = len(schema.columns[term.column].categories)
        return Term(term.column, codes=tuple(code for code in range(width) if code not in term.codes))
    return Term(term.column, low=term.high) if np.isfinite(term.high) else Term(term.column, high=term.low)


def _holds(test: Condition, X: Floats, rows: Ints) -> Bools:
    """Whether a test is true (r,) of the chosen rows of X; only the columns that it names are read."""
    if isinstance(test, Term):
        return test.allows(X[rows, test.column])
    return np.asarray(np.sum([term.allows(X[rows, term.column]) for term in test.terms], axis=0) >= test.m)


def fitted(rows: Floats, labels: Ints, schema: Schema, seed: int, depth: int = 0, leaf: int = 1) -> Tree:
    """The tree that scikit-learn grows on raw rows (n, D) with class numbers (n,); depth 0 means unlimited.

    It splits numbers at a bound and one category from the others, because it is grown on the encoded features.
    """
    from sklearn.tree import DecisionTreeClassifier

    encoding = Encoding(schema)
    grown = DecisionTreeClassifier(max_depth=depth or None, min_samples_leaf=leaf, random_state=seed)
    inner = grown.fit(encoding.encode(rows), labels).tree_
    counts = np.zeros((inner.node_count, len(schema.classes)))
    counts[:, grown.classes_] = inner.value[:, 0] * inner.weighted_n_node_samples[:, None]
    named = np.isin(inner.feature, [start + k for j, start in encoding.coded for k in range(_width(schema, j))])
    # scikit-learn's left branch means "not this category", so for categories the right one is yes
    yes = np.where(named, inner.children_right, inner.children_left)
    no = np.where(named, inner.children_left, inner.children_right)
    tests = tuple(_test(encoding, int(f), float(t)) for f, t in zip(inner.feature, inner.threshold, strict=True))
    return Tree(tests, yes, no, counts, schema)


def _width(schema: Schema, column: int) -> int:
    return len(schema.columns[column].categories)


def _test(encoding: Encoding, place: int, threshold: float) -> Term | None:
    """The test of a raw column where a node splits an encoded feature; None at leaves, whose feature is -2."""
    if place < 0:
        return None
    j = int(encoding.source[place])
    column = encoding.schema.columns[j]
    if column.kind == "category":
        return Term(j, codes=(place - int(np.searchsorted(encoding.source, j)),))
    return Term(j, high=threshold * column.spread + column.centre)
