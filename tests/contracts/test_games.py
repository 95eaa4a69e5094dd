"""What every membership design must do; the counting attack is the trap they must all avoid."""

from __future__ import annotations

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.stats.roc import auc

SPECS = [
    "rotate(models=12)",
    "rotate(models=12, share=0.2)",
    "rotate(models=12, reference=0.3)",
    "halves(targets=8, shadows=10)",
    "halves(targets=8, shadows=10, share=0.2)",
    "halves(targets=8, shadows=10, reference=0.3)",
    "disjoint(targets=8, shadows=10)",
    "folds(k=3, shadows=10)",
    "given_model(members=100, shadows=10)",
    "given_model(members=300, shadows=10)",
    "given_model(members=430, shadows=10)",
    "given_model(members=300, shadows=10, reference=0.5)",
    "given_model_offline(members=150, shadows=10)",
    "thirds(targets=4, shadows=5)",
    "thirds(targets=4, shadows=5, most=60)",
]
LEAKY = ["pawelczyk_released(targets=3)", "pawelczyk_released(targets=3, most=60)"]
ONE_SIDED = ["outsiders(targets=3)", "outsiders(targets=3, most=60)"]  # only non-members are asked about
games = pytest.mark.parametrize("text", SPECS)
every = pytest.mark.parametrize("text", SPECS + LEAKY + ONE_SIDED)


def data(n: int = 600, grouped: bool = False) -> Dataset:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, n // 3, n) if grouped else None
    return Dataset(
        rng.normal(size=(n, 3)), rng.integers(0, 2, n), Schema((Column("a"), Column("b"), Column("c"))), groups
    )


def draw(text: str, seed: int, grouped: bool = False):
    return registry.build("game", text).draw(data(grouped=grouped), np.random.default_rng(seed))


def test_every_design_is_in_this_table():
    assert {s.partition("(")[0] for s in SPECS + LEAKY + ONE_SIDED} == set(registry.names("game"))


@pytest.mark.parametrize("text", LEAKY)
def test_a_released_game_that_leaks_says_so(text):
    game = draw(text, 0)
    count = game.member[:, game.shadows[0]].sum(axis=1).astype(float)
    rows = game.scored[:, 0]
    assert auc(-count[rows], game.member[rows, game.targets[0]]) > 0.99
    assert "counting reveals membership" in registry.build("game", text).caution


@games
def test_counting_the_shadows_says_nothing(text):
    values = []
    for seed in range(20):
        game = draw(text, seed)
        for t, column in enumerate(game.targets):
            count = game.member[:, game.shadows[t]].sum(axis=1).astype(float)
            rows = game.scored[:, t]
            values.append(auc(count[rows], game.member[rows, column]))
    spread = np.std(values, ddof=1) / np.sqrt(len(values))
    assert abs(np.mean(values) - 0.5) <= max(4 * spread, 1e-9)


@games
def test_learning_to_count_says_nothing_either(text):
    """A classifier that sees every shadow column, trained on half of the scored rows, is a coin on the other half."""
    from sklearn.linear_model import LogisticRegression

    values = []
    for seed in range(10):
        game = draw(text, seed)
        rows = np.flatnonzero(game.scored[:, 0])
        seen, truth = game.member[:, game.shadows[0]][rows].astype(float), game.member[rows, game.targets[0]]
        half = np.random.default_rng(seed).permutation(len(rows)) < len(rows) // 2
        score = LogisticRegression().fit(seen[half], truth[half]).decision_function(seen[~half])
        values.append(auc(score, truth[~half]))
    assert abs(np.mean(values) - 0.5) < 0.05


@every
def test_shapes_and_roles(text):
    game = draw(text, 0)
    assert game.scored.any(axis=0).all()
    for t, column in enumerate(game.targets):
        truth = game.member[game.scored[:, t], column]
        assert truth.any() == (text not in ONE_SIDED)
        assert not truth.all()
        assert not game.shadows[t, column]
        assert game.shadows[t].any() == (text not in ONE_SIDED)
        assert game.cells()[game.scored[:, t]][:, game.shadows[t]].all()


@every
def test_rows_of_one_group_stay_together(text):
    """A model that exists keeps the membership it has; its shadows and reserve keep groups whole."""
    game, table = draw(text, 0, grouped=True), data(grouped=True)
    drawn, used = game.member, np.ones(len(table.X), dtype=bool)
    if text.startswith("given_model"):
        drawn = game.member[:, 1:]
        # Rows of a member that did not train the model that exists train no shadow either.
        used = game.member[:, 0] | ~np.isin(table.groups, table.groups[game.member[:, 0]])
        assert not drawn[~used].any()
    for group in np.unique(table.groups)[:80]:
        rows = drawn[used & (table.groups == group)]
        assert (rows == rows[:1]).all()


@pytest.mark.parametrize(
    "text", ["rotate(models=12)", "halves(targets=8, shadows=10)", "given_model(members=200, shadows=5)"]
)
def test_people_set_aside_train_nothing_and_are_asked_about_under_every_target(text):
    game = registry.build("game", text).with_reference().draw(data(grouped=True), np.random.default_rng(0))
    groups = data(grouped=True).groups
    assert game.aside.sum() > 10
    assert not game.member[game.aside].any()
    assert not game.scored[game.aside].any()
    assert game.cells()[game.aside][:, game.targets].all()
    assert not np.isin(groups[game.aside], groups[~game.aside]).any()
    assert all((game.reference(t) >= game.aside).all() for t in range(len(game.targets)))


@pytest.mark.parametrize(
    "text", ["rotate(models=4)", "halves(targets=2, shadows=4)", "given_model(members=200, shadows=3)"]
)
def test_a_game_is_told_only_once_to_set_people_aside(text):
    plain = registry.build("game", text)
    assert plain.with_reference().with_reference() == plain.with_reference() != plain
    assert draw(text, 0).aside is None


def test_too_small_a_population_to_set_people_aside_is_refused():
    with pytest.raises(JaliError, match="are left to be judged"):
        draw("given_model(members=585, shadows=3, reference=0.5)", 0)


def test_a_model_without_shadows_keeps_every_member_as_a_candidate():
    game = draw("given_model(members=500, shadows=0, reference=0.5)", 0)
    assert game.member.shape == (600, 1)
    assert not game.shadows.any()
    assert game.scored[:500].all()
    assert game.scored.sum() == 550
    assert game.reference(0).sum() == 50


@every
def test_the_same_stream_gives_the_same_game(text):
    np.testing.assert_array_equal(draw(text, 3).member, draw(text, 3).member)
    assert (draw(text, 3).member != draw(text, 4).member).any()


@every
def test_too_few_rows_is_one_sentence(text):
    tiny = data(12)
    with pytest.raises(JaliError, match=r"rows|leave no population"):
        registry.build("game", text).draw(tiny, np.random.default_rng(0))


@every
def test_specification_and_docstring(text):
    part = registry.build("game", text)
    assert registry.build("game", registry.spec(part, every=True)) == part
    doc = type(part).__doc__ or ""
    assert ">>>" in doc


@pytest.mark.parametrize(
    "text", ["disjoint(targets=3, shadows=4)", "folds(k=3)", "given_model_offline(members=150)", "thirds(targets=1)"]
)
def test_no_shadow_sees_a_scored_row(text):
    game = draw(text, 0)
    assert not (game.member[:, game.shadows[0]].any(axis=1) & game.scored.any(axis=1)).any()


@pytest.mark.parametrize(
    "bad",
    [
        "rotate(models=1)",
        "rotate(share=1.5)",
        "halves(targets=0)",
        "disjoint(train=0.0)",
        "folds(k=1)",
        "given_model(members=0)",
        "given_model(members=9, shadows=0)",
        "given_model(members=9, reference=1.0)",
        "rotate(reference=1.0)",
        "halves(reference=-0.1)",
        "given_model_offline(members=0)",
        "thirds(most=-1)",
        "pawelczyk_released(most=-1)",
    ],
)
def test_impossible_numbers_are_refused(bad):
    with pytest.raises(JaliError, match="must"):
        registry.build("game", bad)
