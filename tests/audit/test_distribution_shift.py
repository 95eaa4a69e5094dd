"""A population that differs from the training people: what an audit says of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import jali
from jali.audit.distribution_shift import LEAST, balance, compared
from jali.audit.propensity import propensity, weighting
from jali.audit.sanity import half_of, margins
from jali.audit.setup import Experiment, Setup, load
from jali.audit.signal_attacks import ALPHA, attack_evidence
from jali.audit.thresholds import curve, flagged
from jali.core import registry
from jali.core.guesses import Guesses
from jali.core.values import Channel, Game
from jali.stats.delong import delong
from jali.stats.roc import auc, tpr_at

N = 700
ATTACKS = ["threshold"]


def people(seed: int, shift: float = 0.0, n: int = N):
    """Rows and labels; a shift moves the first two columns, on which the label depends."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, :2] += shift
    return X, (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0).astype(int)


def null_model():
    """A model of neither side."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression().fit(*people(99))


def forest(shift: float):
    """A forest that remembers its training people."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(20, min_samples_leaf=3, random_state=0).fit(*people(1, shift))


def audited(model, shift: float, shadows: int = 2, n: int = N):
    game = f"given_model(members={n}, shadows={shadows})"
    return jali.audit(model, train=people(1, shift, n), population=people(2, 0.0, n), attack=ATTACKS, game=game)


def raw(found):
    """The same attacks on the same evidence without weights."""
    chosen = [registry.build("attack", name) for name in ATTACKS]
    return attack_evidence(found.evidence, replace(found.game, weight=None), chosen)


def auc_of(rows, attack: str = "threshold"):
    [row] = [r for r in rows if (r.kind, r.metric, r.signal, r.attack) == ("attack", "auc", "loss", attack)]
    return row


@pytest.fixture(scope="module")
def shifted():
    return audited(null_model(), 0.4)


@pytest.fixture(scope="module")
def unshifted():
    return audited(null_model(), 0.0)


def test_a_shift_on_a_null_target_is_corrected(shifted, unshifted):
    assert auc_of(raw(shifted).rows).low > 0.5
    corrected = auc_of(shifted.results.rows)
    assert corrected.low <= 0.5 <= corrected.high
    plain = auc_of(unshifted.results.rows)
    assert corrected.high - corrected.low <= 1.5 * (plain.high - plain.low)
    assert shifted.results.valid


def test_what_was_done_is_said_in_words(shifted, tmp_path):
    [sentence] = [w for w in shifted.results.warnings if w.startswith("The population differs")]
    weight = shifted.game.weight[N:, 0]
    effective = weight.sum() ** 2 / (weight**2).sum()
    assert f"700 rows count for {effective:,.0f} people." in sentence
    assert shifted.results.facts["non-members count for"] == f"{effective:,.0f} people"
    [check] = [c for c in shifted.results.sanity if c.name == "blind baseline"]
    assert "with weighted non-members AUC" in check.detail
    assert sentence in shifted.save(tmp_path).read_text(encoding="utf-8")


def test_repeating_the_attacks_from_the_file_repeats_the_weights(shifted, tmp_path):
    shifted.save(tmp_path)
    again = jali.api.attack_file(tmp_path / "evidence.npz", ATTACKS)
    assert auc_of(again.results.rows).value == auc_of(shifted.results.rows).value
    assert any("record_weight" in w for w in again.results.warnings)


def test_without_a_shift_nothing_changes(unshifted):
    assert unshifted.game.weight is None
    key = unshifted.results.rows[0].key
    plain = [r.model_copy(update={"key": key}) for r in raw(unshifted).rows]
    assert [r for r in unshifted.results.rows if r.kind != "measure" and not r.group] == plain
    assert not any("population" in w for w in unshifted.results.warnings)


@pytest.fixture(scope="module")
def shifted_forest():
    return audited(forest(0.4), 0.4, shadows=4)


def test_a_leaking_forest_still_leaks(shifted_forest):
    found = shifted_forest
    assert found.results.valid
    assert found.game.weight is not None
    before, after = ([r for r in rows if r.attack == "joint"] for rows in (raw(found).rows, found.results.rows))
    strong = [next(r for r in rows if r.metric == "auc" and r.channel == "score").value for rows in (before, after)]
    assert strong[0] > 0.65
    assert strong[1] - 0.5 > 0.7 * (strong[0] - 0.5)


def test_a_plain_threshold_is_corrected_to_what_the_right_population_shows(shifted_forest):
    """The loss against many people who were drawn as the training people were, and against the given population."""
    model = forest(0.4)
    known, fresh = people(1, 0.4), people(3, 0.4, 20_000)
    right = [model.predict_proba(X)[np.arange(len(y)), y] for X, y in (known, fresh)]
    true = auc(np.concatenate(right), np.arange(len(fresh[1]) + N) < N)
    corrected = auc_of(shifted_forest.results.rows)
    assert corrected.low <= true <= corrected.high
    assert auc_of(raw(shifted_forest).rows).low > true


def test_too_little_overlap_is_invalid_and_says_what_to_do():
    found = audited(null_model(), 2.0)
    [check] = [c for c in found.results.sanity if c.name == "blind baseline"]
    assert not found.results.valid
    assert found.game.weight is None
    assert f"people, and {LEAST} are needed: give a population that was collected as the training rows" in check.detail


def own_setup(shift: float, n: int) -> Setup:
    from jali.data.tables.in_memory import OwnTables
    from jali.games.given_model import GivenModel
    from jali.models.given import Given

    source = OwnTables(people(1, shift, n), people(2, 0.0, n), None)
    given = Given(null_model(), source.inputs(), source.like())
    return load(Experiment(source, given, GivenModel(n, shadows=1)))


def test_a_small_audit_that_cannot_be_weighted_is_warned():
    """The blind check passes; all people together show a difference, but they are too few for weights."""
    found = compared(own_setup(0.4, 200))
    assert found.check.passed
    assert found.game.weight is None
    [sentence] = found.warnings
    assert sentence.startswith("The population may differ")
    assert f"and {LEAST} are needed." in sentence


def test_drawn_membership_is_never_weighted():
    """The same rows and a model that is trained here: the check fails as it always did."""
    mine = own_setup(0.4, 700)
    trained = mine.with_parts(model=registry.build("model", "logistic"))
    found = compared(trained)
    assert not found.check.passed
    assert found.game is trained.game
    assert "weights" not in found.check.detail
    assert compared(mine).game.weight is not None


def test_weights_that_do_not_balance_are_seen():
    """Half of the members lie where a product of two columns is positive: no sum of small trees finds that."""
    rng = np.random.default_rng(0)
    truth = np.arange(6000) < 3000
    X = rng.normal(size=(6000, 6))
    X[:, :2] += 0.3 * truth[:, None]
    even = balance(X, truth, np.arange(6000), np.random.default_rng(0))
    assert even.low <= 0.5 <= even.high
    X[:, 2] = np.where(truth, np.abs(X[:, 2]) * np.sign(X[:, 3] * X[:, 4]), X[:, 2])
    odd = balance(X, truth, np.arange(6000), np.random.default_rng(0))
    assert odd.low > 0.5


def test_weights_from_everybody_hide_what_the_classifier_found_by_chance():
    """Without any shift: weights that saw the classifier's own half give it an AUC below one half."""
    rng = np.random.default_rng(0)
    truth, person = np.arange(1200) < 600, np.arange(1200)
    X = rng.normal(size=(1200, 4))
    even = balance(X, truth, person, np.random.default_rng(0))
    assert even.low <= 0.5 <= even.high
    learn = half_of(truth, person, rng)
    margin = margins(X, truth, learn, rng)
    made = weighting(propensity(X, truth, person, rng), truth, person)
    odd = delong(margin, truth[~learn], group=person[~learn], weight=made.weight[~learn])
    assert odd.high < 0.48


def test_corrected_intervals_cover():
    """Weights are fitted anew in each of 25 draws, and a score that reads the shifted columns knows nothing more."""
    covered = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        truth = np.arange(1000) < 500
        X = rng.normal(size=(1000, 3))
        X[:, :2] += 0.4 * truth[:, None]
        score = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=1000)
        made = weighting(propensity(X, truth, np.arange(1000), rng), truth, np.arange(1000))
        kept = made.kept
        e = delong(score[kept], truth[kept], weight=made.weight[kept])
        covered.append(e.low <= 0.5 <= e.high)
    assert np.mean(covered) >= 0.92


def weighted_guesses() -> Guesses:
    rng = np.random.default_rng(0)
    truth = np.arange(1600) < 800
    weight = np.where(truth, 1.0, rng.exponential(size=1600))
    return Guesses(rng.normal(size=1600) + truth, truth, 0 * truth, np.arange(1600), weight=weight)


def test_thresholds_and_curves_have_the_weights():
    guesses = weighted_guesses()
    hit = flagged(guesses, ALPHA)
    assert guesses.weight[hit & ~guesses.truth].sum() <= ALPHA * guesses.weight[~guesses.truth].sum()
    expected = tpr_at(guesses.score, guesses.truth, ALPHA, guesses.weight)
    assert hit[guesses.truth].mean() == pytest.approx(expected)
    assert expected != pytest.approx(tpr_at(guesses.score, guesses.truth, ALPHA))
    drawn = curve(Channel.SCORE.label, "", guesses)
    assert drawn.tpr[drawn.fpr.index(ALPHA)] == pytest.approx(expected)
    unweighted = replace(guesses, weight=np.ones(1600))
    assert drawn.floor > 1.5 * curve(Channel.SCORE.label, "", unweighted).floor


def test_wrong_weights_of_records_are_refused():
    from jali.core.errors import JaliError

    with pytest.raises(JaliError, match="weights of records must be finite"):
        Game([[True], [False]], [0], [[False]], [[True], [True]], weight=[[1.0], [-1.0]])
