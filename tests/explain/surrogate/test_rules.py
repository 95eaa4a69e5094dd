from __future__ import annotations

import numpy as np

from jali.core.values import Column, Schema
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate.records import Records
from jali.explain._surrogate.rules import Local, Options, explained, merged, nearest
from jali.explain._surrogate.trees import Tree, fitted
from jali.text.rules import Rule, Term

SCHEMA = Schema((Column("a"), Column("b"), Column("c")), classes=("no", "yes", "perhaps"))


def staircase() -> Tree:
    """a <= 1: no; else b <= 1: yes; else c <= 1: perhaps, else yes."""
    tests = (Term(0, high=1.0), None, Term(1, high=1.0), None, Term(2, high=1.0), None, None)
    counts = [[3, 3, 3], [2, 0, 0], [0, 1, 1], [0, 1, 0], [0, 1, 1], [0, 0, 1], [0, 1, 0]]
    return Tree(tests, [1, -1, 3, -1, 5, -1, -1], [2, -1, 4, -1, 6, -1, -1], counts, SCHEMA)


def rules(x, black_box=None, tree=None):
    """What a record is told if the black box says this of changed rows; without it, whatever the tree says."""
    tree, marginals = tree or staircase(), Marginals.of(np.zeros((2, 3)), SCHEMA)
    option = Options.of(tree, np.array(x, dtype=float))
    return option.shown((black_box or tree).logits(option.rows(marginals)).argmax(axis=1))


def test_the_factual_rule_and_the_fewest_changes_by_hand():
    assert rules([0, 0, 0]) == (Rule((Term(0, high=1.0),), 0), Rule((Term(0, low=1.0), Term(1, high=1.0)), 1))


def test_all_rules_with_equally_few_changes_are_told():
    assert [rule.outcome for rule in rules([0, 2, 0])] == [0, 2]
    assert [rule.sentence(SCHEMA) for rule in rules([2, 2, 2])] == [
        "If a is above 1 and b is above 1 and c is above 1, then yes.",
        "If a is at most 1, then no.",
        "If a is above 1 and b is above 1 and c is at most 1, then perhaps.",
    ]


class Says:
    """A black box that gives all rows one class, but for the record itself."""

    def __init__(self, outcome: int) -> None:
        self.outcome = outcome

    def logits(self, X):
        return np.eye(3)[np.full(len(X), self.outcome)]


def test_what_the_black_box_does_not_confirm_is_not_told():
    assert [rule.outcome for rule in rules([2, 2, 2], Says(2))] == [1, 2]
    assert [rule.outcome for rule in rules([2, 2, 2], Says(1))] == [1]
    two = rules([0, 2, 0], Says(1))  # with one change there is 2 alone, so the rules with two changes are told
    assert [rule.outcome for rule in two] == [0, 1, 1]


def test_the_smallest_change_by_hand():
    schema = Schema(
        (Column("a"), Column("b", "integer"), Column("c", "category", categories=tuple("xyz"))), classes=("no", "yes")
    )
    marginals = Marginals.of(np.array([[0.0, 0, 0], [1.0, 5, 2], [2.0, 9, 2], [3.0, 9, 1]]), schema)
    x = np.array([1.0, 4.0, 0.0])
    rule = Rule((Term(0, low=1.0), Term(1, high=2.5), Term(2, codes=(1, 2))), 1)
    np.testing.assert_array_equal(nearest(rule, x, marginals), [np.nextafter(1.0, 2.0), 2.0, 2.0])
    rule = Rule((Term(0, high=0.5), Term(1, low=6.5), Term(2, codes=(0, 1))), 1)
    np.testing.assert_array_equal(nearest(rule, x, marginals), [0.5, 7.0, 0.0])
    np.testing.assert_array_equal(x, [1.0, 4.0, 0.0])


def test_a_leaf_alone_has_no_counterfactual():
    assert rules([0, 0, 0], tree=Tree((None,), [-1], [-1], [[1, 0, 0]], SCHEMA)) == (Rule((), 0),)


def test_a_local_model_predicts_with_the_whole_tree():
    tree = staircase()
    local, X = Local(tree, rules([0, 0, 0]), ()), np.random.default_rng(0).uniform(0, 2, (50, 3))
    np.testing.assert_array_equal(local.logits(X), tree.logits(X))
    assert len(local.rules()) < len(tree.rules())


def neighbourhood(seed: int):
    """Rows in a plane, with another class on one side of a line, and a few labels that only this draw has."""
    rng = np.random.default_rng(seed)
    rows = rng.uniform(0, 2, (300, 3))
    rows[0] = 0.5
    labels = (rows[:, 0] > 1).astype(np.int64)
    flip = rng.choice(np.arange(1, 300), 15, replace=False)
    labels[flip] = 1 - labels[flip]
    return rows, labels


def test_the_black_box_is_asked_once_about_the_changes_of_all_records():
    class Counting(Says):
        calls = 0

        def logits(self, X):
            self.calls += 1
            return super().logits(X)

    box, X = Counting(2), np.array([[2.0, 2, 2], [0, 2, 0], [2, 0, 0]])
    leaf = Tree((None,), [-1], [-1], [[1, 0, 0]], SCHEMA)
    records = Records(box, X, Marginals.of(X, SCHEMA))
    two = explained([staircase(), leaf, staircase()], records, X, np.zeros(3, dtype=int))
    assert box.calls == 1
    assert [[rule.outcome for rule in local.rules()] for local in two] == [[1, 2], [0], [1, 2]]
    assert explained([leaf] * 3, records, X, np.zeros(3, dtype=int))[0].rules() == (Rule((), 0),)
    assert box.calls == 1


def test_one_neighbourhood_is_not_merged():
    rows, labels = neighbourhood(0)
    X = neighbourhood(9)[0]
    np.testing.assert_array_equal(
        merged([rows], [labels], SCHEMA, 0).logits(X), fitted(rows, labels, SCHEMA, 0).logits(X)
    )


def test_a_vote_of_trees_drops_what_only_one_of_them_saw():
    drawn, X = [neighbourhood(seed) for seed in range(5)], neighbourhood(9)[0]
    truth = X[:, 0] > 1
    one = [(fitted(*pool, SCHEMA, 0).logits(X).argmax(axis=1) == truth).mean() for pool in drawn]
    tree = merged([d[0] for d in drawn], [d[1] for d in drawn], SCHEMA, 0)
    assert (tree.logits(X).argmax(axis=1) == truth).mean() > max(one)


def test_the_record_keeps_the_label_of_the_black_box_in_a_merged_tree():
    drawn = [neighbourhood(seed) for seed in range(3)]
    for _, labels in drawn:
        labels[0] = 2
    tree = merged([d[0] for d in drawn], [d[1] for d in drawn], SCHEMA, 0)
    assert tree.logits(drawn[0][0][:1]).argmax() == 2
