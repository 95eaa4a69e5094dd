"""What a tree around a record says about it: why this outcome, and what would give another.

n records, D raw columns, R rules of a tree with another outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Floats, Ints, Schema
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate.records import Records
from jali.explain._surrogate.trees import Tree, fitted
from jali.text.rules import Rule, Term


@dataclass(frozen=True, eq=False)
class Local:
    """A tree that stands in for the black box around one record, and the rules of it that the record is told."""

    tree: Tree
    told: tuple[Rule, ...]

    def logits(self, X: Floats) -> Floats:
        """Log proportions (n, C) of the tree's leaves of raw rows (n, D)."""
        return self.tree.logits(X)

    def rules(self) -> tuple[Rule, ...]:
        """The factual rule, which is true of the record, then the counterfactual ones."""
        return self.told


@dataclass(frozen=True, eq=False)
class Options:
    """A record x (D,), the rule true of it, the R rules of another outcome, and how many changes (R,) each needs."""

    x: Floats
    factual: Rule
    others: tuple[Rule, ...]
    changes: Ints

    @classmethod
    def of(cls, tree: Tree, x: Floats) -> Options:
        """Those of a tree of single terms; changes are the terms of a premise that are not true of the record."""
        rules = tree.rules()
        false = [len(_broken(rule, x)) for rule in rules]
        factual = rules[false.index(0)]
        others = [k for k, rule in enumerate(rules) if rule.outcome != factual.outcome]
        changes = np.array([false[k] for k in others], dtype=np.int64)
        return cls(x, factual, tuple(rules[k] for k in others), changes)

    def rows(self, marginals: Marginals) -> Floats:
        """The record with the smallest changes (R, D) that make it obey each rule."""
        return np.reshape([nearest(rule, self.x, marginals) for rule in self.others], (-1, len(self.x)))

    def told(self, labels: Ints) -> tuple[Rule, ...]:
        """The factual rule, and of those that the black box confirms by its labels (R,) all with the fewest changes."""
        right = np.array([rule.outcome for rule in self.others], dtype=np.int64) == labels
        least = self.changes[right].min(initial=np.iinfo(np.int64).max)
        return (self.factual, *(self.others[k] for k in np.flatnonzero(right & (self.changes == least))))


def _broken(rule: Rule, x: Floats) -> list[Term]:
    """The terms of a premise that are not true of a record x (D,)."""
    terms = [term for term in rule.premise if isinstance(term, Term)]
    assert len(terms) == len(rule.premise)
    return [
        term
        for term in terms
        if not (term.low < x[term.column] <= term.high if term.codes is None else int(x[term.column]) in term.codes)
    ]


def nearest(rule: Rule, x: Floats, marginals: Marginals) -> Floats:
    """The record x (D,) with the smallest changes that make it obey a rule of single terms.

    Numbers move to the bound, or just above where that is excluded; of several categories the commonest is taken.
    """
    out = x.copy()
    for term in _broken(rule, x):
        out[term.column] = _value(term, float(x[term.column]), marginals)
    return out


def _value(term: Term, x: float, marginals: Marginals) -> float:
    if term.codes is not None:
        count = np.bincount(marginals.values[:, term.column].astype(np.int64), minlength=max(term.codes) + 1)
        return float(max(term.codes, key=lambda code: count[code]))
    whole = marginals.schema.columns[term.column].kind == "integer"
    if x > term.high:
        return float(np.floor(term.high)) if whole else term.high
    return float(np.floor(term.low) + 1) if whole else float(np.nextafter(term.low, np.inf))


def explained(trees: list[Tree], records: Records) -> list[Local]:
    """What each record is told by its tree, once the black box has been heard about the changes, all in one go."""
    options = [Options.of(tree, x) for tree, x in zip(trees, records.X, strict=True)]
    rows = [option.rows(records.marginals) for option in options]
    ends, whole = np.cumsum([len(some) for some in rows]), np.concatenate(rows)
    labels = np.split(records.ask(whole)[1] if len(whole) else np.zeros(0, dtype=np.int64), ends[:-1])
    return [Local(tree, option.told(label)) for tree, option, label in zip(trees, options, labels, strict=True)]


def merged(rows: list[Floats], labels: list[Ints], schema: Schema, seed: int) -> Tree:
    """One tree from several neighbourhoods: rows (S, D) and labels (S,) of each, the record first.

    A tree is grown on each. Where they disagree their mean proportions decide; the merged tree is grown on the rows of
    all neighbourhoods as these decide, the record itself as the black box says.
    """
    trees = [fitted(some, label, schema, seed) for some, label in zip(rows, labels, strict=True)]
    if len(trees) == 1:
        return trees[0]
    whole = np.concatenate(rows)
    vote = np.mean([np.exp(tree.logits(whole)) for tree in trees], axis=0).argmax(axis=1)
    vote[(whole == rows[0][0]).all(axis=1)] = labels[0][0]
    return fitted(whole, vote, schema, seed)
