"""What a tree around a record says about it: why this outcome, and what would give another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jali.core import Floats, Ints, Schema
from jali.explain._trees import Tree, fitted
from jali.rules import Rule


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


def told(tree: Tree, x: Floats) -> tuple[Rule, ...]:
    """The rule of the leaf of a record x (D,), then those rules with another outcome that need the fewest changes.

    Changes are the conditions of a premise that are not true of the record; all rules with the fewest are told.
    """
    rules = tree.rules()
    factual = next(rule for rule in rules if rule.covers(x[None])[0])
    others = [rule for rule in rules if rule.outcome != factual.outcome]
    changes = [sum(not condition.holds(x[None])[0] for condition in rule.premise) for rule in others]
    return (factual, *(rule for rule, count in zip(others, changes, strict=True) if count == min(changes)))


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
