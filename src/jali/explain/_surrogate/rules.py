"""The factual and counterfactual rules that a tree around a record gives for it.

n records, D raw columns, R rules of a tree with another outcome.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core.values import Dataset, Floats, Ints, Schema
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate.pruning import pruned_rules, pruned_tree
from jali.explain._surrogate.records import Records
from jali.explain._surrogate.trees import Tree, fitted
from jali.text.rules import Held, Rule, Term, holding

NONE = "No rule with another outcome was found that the model confirms."


@dataclass(frozen=True, eq=False)
class Local:
    """A tree that imitates the black box around one record, the rules of it that are shown, and how far each holds."""

    tree: Tree
    shown: tuple[Rule, ...]
    held: tuple[Held, ...]

    @property
    def countered(self) -> bool:
        """Whether there is a counterfactual rule."""
        return len(self.shown) > 1

    def logits(self, X: Floats) -> Floats:
        """Log proportions (n, C) of the tree's leaves of raw rows (n, D)."""
        return self.tree.logits(X)

    def rules(self) -> tuple[Rule, ...]:
        """The factual rule, which is true of the record, then the counterfactual ones."""
        return self.shown

    def pruned(self, train: Dataset, labels: Ints, k: int) -> Local:
        """The same with rules that each speak of at least k training people; labels (N,): the model's classes."""
        shown, held = pruned_rules(self.shown, train, labels, k)
        return Local(pruned_tree(self.tree, train, labels, k), shown, tuple(held))

    def sentences(self, x: Floats, schema: Schema) -> list[str]:
        """The rules in words for the record x (D,), each with the share of the training rows for which it holds."""
        factual = self.shown[0].sentence(schema, self.held[0])
        others = zip(self.shown[1:], self.held[1:], strict=True)
        return [factual, *([rule.change(x, schema, held) for rule, held in others] or [NONE])]


@dataclass(frozen=True, eq=False)
class Options:
    """A record x (D,), the rule that covers it, R rules of another outcome, and how many changes (R,) each needs."""

    x: Floats
    factual: Rule
    others: tuple[Rule, ...]
    changes: Ints

    @classmethod
    def of(cls, tree: Tree, x: Floats) -> Options:
        """The options of a tree of single terms; changes are the terms of a premise that are false for the record."""
        rules = tree.rules()
        false = [len(_violated(rule, x)) for rule in rules]
        factual = rules[false.index(0)]
        others = [k for k, rule in enumerate(rules) if rule.outcome != factual.outcome]
        changes = np.array([false[k] for k in others], dtype=np.int64)
        return cls(x, factual, tuple(rules[k] for k in others), changes)

    def rows(self, marginals: Marginals) -> Floats:
        """The record after the smallest changes (R, D) that make each rule cover it."""
        return np.reshape([nearest(rule, self.x, marginals) for rule in self.others], (-1, len(self.x)))

    def shown(self, labels: Ints) -> tuple[Rule, ...]:
        """The factual rule, then the rules with the fewest changes among those that the labels (R,) confirm."""
        right = np.array([rule.outcome for rule in self.others], dtype=np.int64) == labels
        least = self.changes[right].min(initial=np.iinfo(np.int64).max)
        return (self.factual, *(self.others[k] for k in np.flatnonzero(right & (self.changes == least))))


def _violated(rule: Rule, x: Floats) -> list[Term]:
    """The terms of a premise that are false for a record x (D,)."""
    terms = [term for term in rule.premise if isinstance(term, Term)]
    assert len(terms) == len(rule.premise)
    return [
        term
        for term in terms
        if not (term.low < x[term.column] <= term.high if term.codes is None else int(x[term.column]) in term.codes)
    ]


def nearest(rule: Rule, x: Floats, marginals: Marginals) -> Floats:
    """The record x (D,) after the smallest changes that make a rule of single terms cover it.

    Numbers move to the bound, or just above it where the bound is excluded; of several categories the most frequent one
    is taken.
    """
    out = x.copy()
    for term in _violated(rule, x):
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


def explained(trees: list[Tree], records: Records, train: Floats, decided: Ints) -> list[Local]:
    """The rules shown to each record, after one query of the black box about the changes of all records.

    train (N, D), decided (N,): the training rows and their classes by the black box, on which rules are checked.
    """
    options = [Options.of(tree, x) for tree, x in zip(trees, records.X, strict=True)]
    rows = [option.rows(records.marginals) for option in options]
    ends = np.cumsum([len(some) for some in rows])
    whole = np.concatenate(rows)
    labels = np.split(records.ask(whole)[1] if len(whole) else np.zeros(0, dtype=np.int64), ends[:-1])
    shown = [option.shown(label) for option, label in zip(options, labels, strict=True)]
    return [Local(tree, some, holding(some, train, decided)) for tree, some in zip(trees, shown, strict=True)]


def merged(rows: list[Floats], labels: list[Ints], schema: Schema, seed: int) -> Tree:
    """One tree from several neighbourhoods: rows (S, D) and labels (S,) of each, the record first.

    A tree is grown on each neighbourhood. All rows are then labelled by the mean proportions of these trees, the record
    itself by the black box, and the merged tree is grown on them.
    """
    trees = [fitted(some, label, schema, seed) for some, label in zip(rows, labels, strict=True)]
    if len(trees) == 1:
        return trees[0]
    whole = np.concatenate(rows)
    vote = np.mean([np.exp(tree.logits(whole)) for tree in trees], axis=0).argmax(axis=1)
    vote[(whole == rows[0][0]).all(axis=1)] = labels[0][0]
    return fitted(whole, vote, schema, seed)
