"""The direction comes from held-out shadows: reversed leaks are found, others kept, and without a leak it is a coin."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks.directed import Directed
from jali.attacks.offline_lrt import OfflineLRT
from jali.attacks.threshold import Threshold
from jali.audit.requirements import feasible
from jali.audit.trials import Trial, guess
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Shadows, Target
from jali.core.values import Column, Dataset, Evidence, Game, Schema
from jali.games.thirds import Thirds
from jali.stats.roc import auc
from tests.conftest import target_and_shadows

INNER = pytest.mark.parametrize("inner", [OfflineLRT(), OfflineLRT("student"), Threshold()], ids=registry.spec)


def thirds(shift: float, seed: int = 0, n: int = 900, targets: int = 1, **sizes: float) -> tuple[Evidence, Game]:
    """Signals of training, evaluation and adversary populations, observed for 60 %: an unfavourable prediction."""
    rng = np.random.default_rng(seed)
    data = Dataset(np.zeros((n, 1)), np.arange(n) % 2, Schema((Column("x"),)))
    game = Thirds(targets=targets, **sizes).draw(data, rng)
    value = rng.normal(size=(1, n, 1)) + shift * game.member + rng.normal(size=(1, *game.member.shape))
    return Evidence(("s",), value, rng.random(value.shape) < 0.6, game.member), game


def mean_auc(attack, evidence: Evidence, game: Game) -> float:
    found = guess(evidence, game, Trial(attack, evidence.names, "x"))
    each = [found.pick(found.unit == u) for u in range(len(game.targets))]
    return float(np.mean([auc(g.score, g.truth) for g in each]))


@INNER
@pytest.mark.parametrize("shadows", [3, 5, 16])
def test_a_reversed_leak_is_recovered_from_rows_that_are_not_scored(inner, shadows):
    evidence, game = thirds(-1.0, targets=4, shadows=shadows)
    plain = mean_auc(inner, evidence, game)
    assert plain < 0.4
    assert mean_auc(Directed(inner), evidence, game) == pytest.approx(1 - plain, abs=0.03)
    assert 1 - plain > 0.63


@INNER
def test_a_leak_in_the_direction_given_is_scored_as_without(inner):
    evidence, game = thirds(1.0, targets=4)
    trial = (evidence, game)
    assert mean_auc(inner, *trial) > 0.63
    scores = [guess(*trial, Trial(a, ("s",), "x")).score for a in (inner, Directed(inner))]
    np.testing.assert_allclose(*scores, rtol=1e-11)  # several targets at once, and one by one


@INNER
def test_without_a_leak_it_is_a_coin_where_hindsight_is_not(inner):
    values, turned = [], []
    for seed in range(200):
        evidence, game = thirds(0.0, seed, n=300)
        plain, directed = mean_auc(inner, evidence, game), mean_auc(Directed(inner), evidence, game)
        values.append((directed, max(plain, 1 - plain)))
        turned.append(abs(plain - directed) > 1e-9)
    honest, hindsight = np.mean(values, axis=0)
    error = np.std(values, axis=0, ddof=1)[0] / np.sqrt(len(values))
    assert abs(honest - 0.5) < 3 * error
    assert hindsight > 0.5 + 5 * error
    # Counting the other shadows teaches nothing either: both directions come up equally often.
    assert abs(np.mean(turned) - 0.5) < 3 * 0.5 / np.sqrt(len(turned))


def test_the_target_itself_teaches_nothing():
    """Shadows that leak upwards and a target that leaks downwards: the rule must be wrong about the target."""
    evidence, game = thirds(1.0)
    flipped = evidence.value - 2.0 * game.member * (np.arange(game.member.shape[1]) == 0)
    odd = Evidence(evidence.names, np.where(evidence.observed, flipped, 0.0), evidence.observed, evidence.member)
    assert mean_auc(Directed(), odd, game) < 0.4
    target, shadows = target_and_shadows(odd)
    mirrored = Target(-target.value, target.observed)
    for seen in (target, mirrored):
        np.testing.assert_array_equal(Directed().score(seen, shadows), OfflineLRT().score(seen, shadows))


def test_the_records_that_are_scored_teach_nothing():
    evidence, game = thirds(-1.0)
    target, shadows = target_and_shadows(evidence)
    pool = shadows.member.any(axis=1)
    loud = Shadows(np.where(pool[:, None], shadows.value, 50.0 * shadows.value), shadows.observed, shadows.member)
    assert not pool[game.scored[:, 0]].any()
    negative = Target(-target.value, target.observed)
    back = Shadows(-loud.value, loud.observed, loud.member)
    np.testing.assert_array_equal(Directed().score(target, loud), OfflineLRT().score(negative, back))


def test_mean_auc_by_hand():
    """Three shadows: a row counts where the other two disagree, and a shadow as much as it has pairs."""
    member = np.array([[1, 0, 1], [0, 1, 0], [0, 0, 1], [1, 1, 1]]) > 0
    value = np.zeros((1, 4, 3))
    value[0, :, 0] = [1.0, 0.0, 0.0, 0.0]
    value[0, :, 1] = [0.0, -1.0, 0.0, 5.0]
    shadows = Shadows(value, np.ones((1, 4, 3), bool), member)
    # Shadow 0: rows 0 (in), 1 and 2 (out) have others that disagree: AUC 1 on 2 pairs.
    # Shadow 1: rows 0 and 2 have others (1, 1) and (0, 1), rows 1 and 3 (0, 0) and (1, 1): row 2 alone, no pair.
    # Shadow 2: rows 0 (in) and 1 (out), and row 2's others agree: a tie, AUC 1/2 on 1 pair.
    assert Directed(Threshold())._mean_auc(shadows) == pytest.approx((2 * 1.0 + 1 * 0.5) / 3)


@pytest.mark.parametrize("shadows", [1, 2])
def test_too_few_shadows_keep_the_direction_given(shadows):
    evidence, game = thirds(-1.0, shadows=shadows)
    assert mean_auc(Directed(Threshold()), evidence, game) == mean_auc(Threshold(), evidence, game) < 0.4


def test_shadows_the_attack_cannot_judge_have_no_say(rng):
    """Only shadow 0 has rows of both kinds, and no record was seen without under two others: no variance is known."""
    member = np.repeat([[False, True, False], [True, True, False]], 20, axis=0)
    observed = np.repeat([[[True, False, True], [True, True, True]]], 20, axis=1)
    shadows = Shadows(rng.normal(size=(1, 40, 3)) - 3.0 * member, observed, member)
    assert Directed()._mean_auc(shadows) == 0.5
    assert Directed(registry.build("attack", "calibrated"))._mean_auc(shadows) < 0.1


@pytest.mark.parametrize(("inside", "inner", "count"), [(15, "ratio", 30), (9, "ratio", 60), (15, "threshold", 60)])
def test_rows_with_fewer_cells_count_only_where_the_others_are_too_few(inside, inner, count):
    """Thirty rows with two cells of the kind required, and thirty with one."""
    member = np.repeat([[True, False, False], [True, True, False]], 30, axis=0)
    others = Shadows(np.zeros((1, 60, 3)), np.ones((1, 60, 3), bool), member)
    truth = np.arange(60) % 30 < inside
    rows = Directed(registry.build("attack", inner))._rows(others, np.ones(60, bool), truth)
    np.testing.assert_array_equal(np.flatnonzero(rows), np.arange(count))


@pytest.mark.parametrize(
    "text", ["directed(attack=threshold)", 'directed(attack=offline_lrt(spread="record"))', "directed(least=4)"]
)
def test_the_attack_inside_is_written_in_its_specification(text):
    part = registry.build("attack", text)
    assert registry.spec(part) == text
    assert registry.build("attack", registry.spec(part, every=True)) == part
    assert registry.build("attack", "directed(attack=offline_lrt())") == Directed()
    assert registry.build("attack", "directed") == Directed()
    assert registry.build("attack", "directed(threshold())") == Directed(Threshold())
    assert registry.key(part) != registry.key(Directed())


def test_it_needs_the_shadows_its_attack_needs():
    _, game = thirds(0.0)
    wanted = {"threshold": frozenset(), "offline_lrt": {"out"}, "lira": {"in", "out"}}
    for name, kinds in wanted.items():
        attack = registry.build("attack", f"directed({name})")
        assert attack.requires == kinds
        assert not attack.many
        assert feasible(attack, game) == (name != "lira")
    assert registry.build("attack", "directed(offline_joint)").many


def test_no_cell_is_not_enough():
    with pytest.raises(JaliError, match="directed: least must be at least 1, not 0"):
        Directed(least=0)
