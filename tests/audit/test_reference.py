"""Audits with people set aside: who is compared with, what the report says, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import jali
from jali import api
from jali.audit.plan import plan
from jali.audit.reference import arrays_of, known, provided, records_of, restored
from jali.audit.setup import Resources
from jali.audit.signal_attacks import attack_evidence
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Channel, Column, Dataset, Game, Schema, SignalName
from jali.report.audit import html
from jali.results import Results
from tests.conftest import planted

NETWORK = "mlp(hidden=[64], epochs=60, lr=0.005, batch=128)"


@pytest.fixture(scope="module")
def overfit():
    """A network that memorises a thousand of five thousand people; three thousand are set aside."""
    game = "halves(targets=1, shadows=2, reference=0.6)"
    return jali.audit(data="lending(n=5000)", model=NETWORK, game=game, attack=["threshold", "quantile"])


@pytest.fixture(scope="module")
def peaks():
    return jali.audit(
        data="lending(n=600)",
        game="rotate(models=3)",
        explain=["input_x_gradient"],
        attack=["threshold"],
        signal=["attribution_perturbation"],
    )


def found(results: Results, attack: str, signal: str, metric: str = "auc"):
    [row] = results.find(kind="attack", attack=attack, signal=signal, metric=metric)
    return row


@pytest.mark.parametrize("signal", ["confidence", "loss"])
def test_on_an_overfit_network_it_finds_more_than_the_plain_signal(overfit, signal):
    assert found(overfit.results, "quantile", signal).low > found(overfit.results, "threshold", signal).value


def test_the_game_that_was_played_is_in_the_configuration_and_in_the_report(overfit):
    assert overfit.config.game == "halves(targets=1, shadows=2, reference=0.6)"
    assert overfit.results.facts["records set aside"] == overfit.game.aside.sum() == 3000
    assert overfit.results.facts["records scored per target"] == 2000
    assert all("3,000 records of people known to be in no training set" in t.has for t in overfit.results.threats)
    assert overfit.results.find(attack="quantile", metric="auc")[0].n == 2000
    page = html.render(overfit.results)
    assert "quantile" in page
    assert "3,000 records of people" in page


def test_a_signal_that_asks_more_brings_its_control_and_is_no_signal_of_the_explanation_alone(peaks):
    asked = {t.channel: t.asks for t in peaks.results.threats}
    assert asked[Channel.SCORE] == "7 queries per record"
    assert asked[Channel.SCORE_AND_EXPLANATION] == "13 queries per record"
    assert asked[Channel.DECISION_AND_EXPLANATION] == asked[Channel.EXPLANATION] == "one query per record"
    peak = SignalName("attribution_perturbation", "input_x_gradient")
    todo = plan(peaks.evidence, peaks.game)
    assert {t.channel for t in todo.singles if t.names == (peak,)} == {Channel.SCORE_AND_EXPLANATION}
    using = {channel for (_, channel), trial in todo.combined.items() if peak in trial.names}
    assert using == {Channel.SCORE_AND_EXPLANATION}
    assert SignalName("confidence_perturbation") in todo.combined["", Channel.SCORE].names


def people(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


class Finished:
    """A model that somebody hands over: it predicts, and cannot be cloned or fitted again."""

    def __init__(self, fitted) -> None:
        self.fitted = fitted
        self.classes_ = fitted.classes_

    def predict(self, X):
        return self.fitted.predict(X)

    def predict_proba(self, X):
        return self.fitted.predict_proba(X)


@pytest.fixture(scope="module")
def finished():
    from sklearn.tree import DecisionTreeClassifier

    train = people(300, 0)
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(*train)
    return jali.audit(Finished(tree), train=train, population=people(1200, 1))


def test_a_model_that_cannot_be_retrained_is_audited_without_shadows(finished):
    assert finished.config.game == "given_model(members=300, shadows=0, reference=0.5)"
    assert finished.game.member.shape == (1500, 1)
    assert finished.game.aside.sum() == 600
    attacks = {row.attack for row in finished.results.find(kind="attack")}
    assert attacks == {"threshold", "quantile", "quantile_joint"}
    best = finished.results.find(kind="attack", attack="quantile_joint", channel="score", metric="auc")[0]
    assert best.low > 0.5
    assert finished.results.threats[0].has.startswith("no shadow models, and 600 records of people")
    assert any("No shadow models were trained" in w for w in finished.results.warnings)
    assert finished.results.valid
    assert [c.fpr for c in finished.results.curves]


def test_its_evidence_alone_cannot_be_attacked_again(finished, tmp_path):
    finished.save(tmp_path)
    with pytest.raises(JaliError, match="which evidence alone does not hold"):
        api.attack_file(tmp_path / "evidence.npz")


def test_a_users_own_model_with_shadows_sets_half_of_the_population_aside_when_asked():
    from sklearn.linear_model import LogisticRegression

    train = people(200, 0)
    model = LogisticRegression().fit(*train)
    game = "given_model(members=200, shadows=4)"
    both = jali.audit(
        model, train=train, population=people(800, 1), game=game, attack=["threshold", "calibrated", "quantile"]
    )
    assert both.config.game == "given_model(members=200, shadows=4, reference=0.5)"
    assert both.config.attack == ["threshold", "calibrated"]
    assert both.game.aside[200:].sum() == 400
    assert any("cannot be repeated from evidence.npz" in w for w in both.results.warnings)
    assert not both.evidence.observed[:, both.game.aside][:, :, 1:].any()


def test_people_are_compared_with_only_where_none_of_their_rows_is_used():
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    data = Dataset(np.arange(8.0)[:, None], np.zeros(8), Schema((Column("a"),)), groups)
    member = np.array([1, 0, 0, 0, 0, 0, 0, 0])[:, None] > 0
    scored = np.array([1, 0, 1, 0, 0, 0, 0, 0])[:, None] > 0
    asked = np.array([1, 1, 1, 1, 1, 1, 1, 0])[:, None] > 0
    records = records_of(data, np.random.default_rng(0))
    mine = known(records, Game(member, [0], [[False]], scored, asked), 0)
    np.testing.assert_array_equal(mine.reference, [0, 0, 0, 0, 1, 1, 1, 0])
    assert all(len(set(records.lot[groups == g])) == 1 for g in range(4))
    again = restored(arrays_of(records))
    np.testing.assert_array_equal(again.features, records.features)
    assert arrays_of(None) == {}
    assert restored({}) is None


def test_offline_games_have_people_to_compare_with_as_they_are():
    quantile = registry.build("attack", "quantile")
    for text in ("thirds(targets=1, shadows=2)", "disjoint(targets=1, shadows=2)", "folds(k=2)"):
        design = registry.build("game", text)
        assert provided(design, [quantile]) is design
    rotate = registry.build("game", "rotate(models=4)")
    assert provided(rotate, [registry.build("attack", "threshold")]) is rotate
    assert provided(rotate, [quantile]).reference > 0


def test_a_game_without_such_people_is_refused_with_what_to_do():
    evidence, game = planted(1.0, n=40, models=4)
    for name in ("quantile", "quantile_joint"):
        with pytest.raises(JaliError, match=r"set people aside, such as --game 'rotate\(reference=0.3\)'"):
            attack_evidence(evidence, game, [registry.build("attack", name)])


def test_other_attacks_find_the_same_with_and_without_the_people_set_aside():
    evidence, game = planted(1.0, n=200, models=6, aside=100)
    keep = ~game.aside
    attacks = [registry.build("attack", name) for name in ("threshold", "lira", "joint")]
    alone = Game(game.member[keep], game.targets, game.shadows, game.scored[keep])
    mine = type(evidence)(evidence.names, evidence.value[:, keep], evidence.observed[:, keep], evidence.member[keep])
    with_them, without = (attack_evidence(e, g, attacks).rows for e, g in ((evidence, game), (mine, alone)))
    assert [row.value for row in with_them] == [row.value for row in without]


def test_any_number_of_workers_gives_the_same_rows():
    evidence, game = planted(1.0, n=80, models=2, aside=120)
    table = registry.build("data", "linear_gaussian(n=200, d=2)").load()
    attacks = [registry.build("attack", "quantile")]
    one, two = (
        attack_evidence(evidence, game, attacks, resources=Resources(workers=w), data=table).rows for w in (1, 2)
    )
    assert one == two
    assert all(row.value is not None for row in one if row.metric == "auc")
