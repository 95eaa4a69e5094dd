"""Boosted trees of our own: by hand on two columns, and beside scikit-learn's."""

import numpy as np
import pytest

from jali.attacks._combined import trees
from jali.stats.roc import auc


def drawn(n, seed, columns=6):
    """Membership shows in the first column where the second is positive, and a little in the third."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.5
    table = rng.normal(size=(columns, n))
    table[0] += truth * (table[1] > 0)
    table[2] += 0.3 * truth
    table[3] = np.round(table[3])
    return table, truth


def test_one_column_of_two_values_gives_the_log_odds_of_each():
    column = np.repeat([0.0, 1.0], 1000)
    truth = np.concatenate([np.arange(1000) < 250, np.arange(1000) < 750])
    model = trees.fit(np.stack([np.zeros(2000), column]), truth)
    assert {split.column for tree in model.trees for split in tree.splits} == {1}
    found = model(np.array([[0.0, 0.0], [0.2, 0.8]]))
    np.testing.assert_allclose(found, [-np.log(3), np.log(3)], atol=0.01)


def test_the_first_split_is_the_one_of_highest_gain():
    table, truth = drawn(3000, 0, columns=4)
    first = trees.fit(table, truth).trees[0]
    gradient = truth.mean() - truth
    gains = {}
    for column in range(4):
        for after, edge in enumerate(trees._edges(table[column])):
            high = table[column] > edge
            sums = [(gradient[side].sum() ** 2 / max(side.sum(), 1)) for side in (high, ~high)]
            gains[column, after] = sum(sums) if min(high.sum(), (~high).sum()) >= 50 else 0.0
    best = max(gains, key=lambda key: gains[key])
    assert (first.splits[0].column, first.splits[0].after) == best
    leaf = np.zeros(3000, dtype=int)
    for split in first.splits:
        inside = (leaf == split.leaf) & (table[split.column] > trees._edges(table[split.column])[split.after])
        leaf[inside] = split.to
    assert np.bincount(leaf).min() >= 50
    assert len(np.unique(leaf)) == trees.LEAVES
    rate = truth.mean()
    for k, value in enumerate(first.value):
        mine = truth[leaf == k]
        assert value == pytest.approx(0.2 * (mine.mean() - rate) / (rate * (1 - rate)))


@pytest.mark.parametrize("columns", [6, 20])
def test_they_recognise_as_many_members_as_those_of_scikit_learn(columns):
    from sklearn.ensemble import HistGradientBoostingClassifier

    settings = {"learning_rate": 0.2, "max_leaf_nodes": 8, "min_samples_leaf": 50, "max_bins": 64}
    apart = []
    for seed in range(3):
        table, truth = drawn(12_000, seed, columns)
        new, judged = drawn(20_000, 100 + seed, columns)
        theirs = HistGradientBoostingClassifier(max_iter=40, early_stopping=False, random_state=0, **settings)
        theirs.fit(table.T, truth)
        apart.append(auc(trees.fit(table, truth)(new), judged) - auc(theirs.decision_function(new.T), judged))
    assert np.mean(apart) == pytest.approx(0.0, abs=0.003)


def test_the_order_of_cells_is_no_matter():
    table, truth = drawn(5000, 1)
    order = np.random.default_rng(2).permutation(5000)
    model = trees.fit(table, truth)
    np.testing.assert_allclose(trees.fit(table[:, order], truth[order])(table), model(table), atol=1e-9)


def test_a_table_without_information_gives_one_log_odds():
    truth = np.arange(4000) % 4 == 0
    found = trees.fit(np.zeros((2, 4000)), truth)(np.zeros((2, 3)))
    np.testing.assert_allclose(found, np.log(1 / 3), atol=1e-9)
