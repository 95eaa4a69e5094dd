"""What an audit takes and could see, before its models are trained."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jali.audit.forecast import forecast
from jali.audit.setup import Experiment, Setup, load
from jali.core import registry
from jali.core.errors import JaliError
from jali.report.audit.forecast import sentences


class Counted:
    """A trainer that counts the rows of each model it trains."""

    def __init__(self) -> None:
        self.inner = registry.build("model", "logistic")
        self.rows: list[int] = []

    def fit(self, data, member, rngs):
        self.rows += member.sum(axis=0).tolist()
        return self.inner.fit(data, member, rngs)


def setup(n: int = 400, game: str = "rotate(models=8)", explain: tuple[str, ...] = ("linear_recourse",)) -> Setup:
    parts = (
        registry.build("data", f"lending(n={n})"),
        registry.build("model", "logistic"),
        registry.build("game", game),
    )
    return load(Experiment(*parts, tuple(registry.build("explain", e) for e in explain)))


def test_only_parts_of_one_training_set_are_trained_on():
    given = setup()
    trainer = Counted()
    forecast(replace(given, parts=replace(given.parts, model=trainer)))
    whole = int(given.game.member[:, given.game.targets[0]].sum())
    assert len(trainer.rows) == 2
    assert max(trainer.rows) < 0.7 * whole


def test_more_people_and_more_targets_see_smaller_leaks():
    for_everybody = ("input_x_gradient",)
    small = forecast(setup(300, explain=for_everybody))
    large = forecast(setup(1500, explain=for_everybody))
    assert large.leak < small.leak
    assert large.addition < (small.addition or np.inf)
    assert forecast(setup(300, "rotate(models=12)", explain=())).leak < small.leak


def test_an_explainer_that_answers_few_people_could_show_less():
    """Recourse is for those who were refused, about one person in six here."""
    few = forecast(setup(1500)).addition or np.inf
    assert few > 1.5 * forecast(setup(1500, explain=("input_x_gradient",))).addition


def test_the_smallest_leak_is_found_in_about_eight_of_ten():
    """A planted shift of that size, in the same game, with the interval that audits use."""
    from scipy.special import ndtri

    from jali.core.guesses import Guesses
    from jali.stats.intervals import estimate

    given = setup(400)
    game = given.game
    shift = np.sqrt(2) * ndtri(0.5 + forecast(given).leak)
    unit, record = np.nonzero(game.scored.T)
    truth = game.member[record, game.targets[unit]]
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(120):
        score = rng.normal(size=len(truth)) + shift * truth
        found += estimate("auc", Guesses(score, truth, unit, record), rng)[0].low > 0.5
    assert 0.68 <= found / 120 <= 0.95


def test_without_an_explanation_nothing_is_said_about_additions():
    found = forecast(setup(300, explain=()))
    assert found.addition is None
    assert "no explanation is audited" in " ".join(sentences(found))


@pytest.mark.parametrize("game", ["rotate(models=3)"])
def test_too_few_shadow_models_are_a_sentence(game):
    found = forecast(setup(300, game))
    assert found.addition is None
    assert "4 shadow models" in found.reason


def of_people(each: int) -> Setup:
    """An audit of 600 records, of people with so many each."""
    given = setup(600, explain=("input_x_gradient",))
    data = replace(given.data, groups=np.arange(600) // each)
    return replace(given, data=data, game=given.parts.game.draw(data, np.random.default_rng(0)))


def test_rows_of_one_person_are_not_so_many_people():
    """The noise of five rows is half shared: a mean over them has three times the variance of five people's."""
    one = forecast(of_people(1))
    five = forecast(of_people(5))
    assert (five.people, five.records) == (120, 600)
    assert 1.4 < five.leak / one.leak < 2.1
    assert (five.addition or np.inf) > one.addition
    assert "600 records of 120 people" in sentences(five)[0]
    assert "600 records:" in sentences(one)[0]


def test_additions_count_with_the_variance_of_whole_people(monkeypatch):
    """Deviations and intervals of five rows a person are those of five people times the root of three.

    One forecast of an addition varies by a third with its seed, so the factor itself is looked at.
    """
    factors = []

    def noted(*arguments, wider):
        factors.append(wider)
        raise JaliError("nothing is planted here")

    monkeypatch.setattr("jali.audit.forecast.recover", noted)
    forecast(of_people(1))
    forecast(of_people(5))
    assert factors == [1.0, pytest.approx(np.sqrt(3))]
