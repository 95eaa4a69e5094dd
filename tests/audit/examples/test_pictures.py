"""Exposed pictures: which models are asked again, and that what is drawn is what the audit explained."""

from __future__ import annotations

import base64
import json

import numpy as np
import pytest

from jali.api import audit
from jali.audit.examples import pictures
from jali.audit.one_model import TRAIN, stream
from jali.audit.setup import Resources
from jali.core import registry
from jali.core.values import Game, SignalName
from jali.store import Store
from tests.explaining import explained
from tests.pictures import Bars

MAPS = ["input_x_gradient", "saliency", "gradient_shap"]


def found(model="logistic(C=1e6)", data=Bars(240), **more):  # noqa: B008 (frozen)
    how = {"explain": MAPS[:1], "attack": ["calibrated"], "game": "rotate(models=4)", "seed": 3}
    return audit(model, data=data, **(how | more))


def grid(picture):
    return np.frombuffer(base64.b64decode(picture.pixels), dtype=np.uint8).reshape(picture.size).astype(float)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    resources = Resources(store=Store(tmp_path_factory.mktemp("store")))
    return found(explain=MAPS, show_values=True, resources=resources), resources


def test_records_have_their_picture_and_label_and_two_maps_of_every_attribution(shown):
    data, game = Bars(240).load(), shown[0].game
    assert shown[0].results.image == (1, 8, 8)
    assert shown[0].results.exposed
    for record in shown[0].results.exposed:
        np.testing.assert_array_equal(grid(record.picture).ravel(), data.X[record.record])
        assert record.label == data.schema.classes[data.y[record.record]]
        assert record.values == {}
        sides = [m for m in (True, False) if m in game.member[record.record]]
        assert [(h.explainer, h.member) for h in record.maps] == [(e, m) for e in MAPS for m in sides]
        assert all(game.member[record.record, h.model] == h.member for h in record.maps)


def test_maps_are_the_explanations_of_the_models_that_were_audited(shown):
    """From models trained anew, on one scale for both, and with the draws of the tile that the record was in."""
    data, game = Bars(240).load(), shown[0].game
    trainer, drawn = registry.build("model", "logistic(C=1e6)"), {}
    for column in {h.model for r in shown[0].results.exposed for h in r.maps}:
        drawn[column] = trainer.fit(data, game.member[:, [column]], [stream(3, TRAIN, column)])[0]
    record = shown[0].results.exposed[0]
    for name in MAPS[:2]:
        heats = [h for h in record.maps if h.explainer == name]
        explainer, x = registry.build("explain", name), data.X[[record.record]]
        values = [explained(explainer, drawn[h.model], x, data.schema, None, None).value.reshape(8, 8) for h in heats]
        reach = np.abs(values).max()
        for heat, value in zip(heats, values, strict=True):
            assert heat.reach == pytest.approx(reach)
            np.testing.assert_allclose((grid(heat.drawn)[0] - 128) / 127, value / reach, atol=0.004)
            logits = drawn[heat.model].logits(x)[0]
            assert heat.prediction == data.schema.classes[logits.argmax()]
            assert heat.chance == pytest.approx((np.exp(logits) / np.exp(logits).sum()).max())


def test_random_explanations_are_those_whose_signals_were_attacked(shown):
    audit, name = shown[0], "gradient_shap"
    signal = audit.evidence.value[audit.evidence.names.index(SignalName("attribution_l1", name))]
    for record in audit.results.exposed[:5]:
        for heat in (h for h in record.maps if h.explainer == name):
            l1 = np.abs((grid(heat.drawn) - 128) / 127).sum() * heat.reach
            assert np.log(l1) == pytest.approx(-signal[record.record, heat.model], abs=0.03)


def test_models_come_from_the_store_and_no_store_changes_nothing(shown, monkeypatch):
    audit, resources = shown
    again = found(explain=MAPS, show_values=True)
    assert again.results.exposed == audit.results.exposed
    monkeypatch.setattr("jali.audit.one_model._trained", lambda *_: pytest.fail("trained again"))
    assert found(explain=MAPS, show_values=True, resources=resources).results.exposed == audit.results.exposed


def test_nothing_is_shown_unless_asked_for(tmp_path):
    quiet = found()
    assert quiet.results.image == (1, 8, 8)
    assert all(not (e.picture or e.maps or e.label or e.values) for e in quiet.results.exposed)
    page = quiet.save(tmp_path).read_text()
    assert "only on request: <code>--show-values</code>" in page
    assert "data:image" not in page
    stored = json.loads((tmp_path / "results.json").read_text())["exposed"][0]
    assert (stored["picture"], stored["maps"], stored["label"]) == (None, [], "")


def test_pictures_without_attributions_and_tables_without_pictures(tmp_path):
    alone = found(explain=[], show_values=True)
    assert all(e.picture and not e.maps for e in alone.results.exposed)
    assert alone.save(tmp_path / "alone").read_text().count("<img ") == len(alone.results.exposed)
    table = found(data="lending(n=240)", show_values=True)
    assert all(e.values and not e.picture for e in table.results.exposed)
    assert table.results.image is None


def test_few_targets_serve_as_many_records_as_they_can():
    member = np.random.default_rng(0).random((40, 16)) < 0.5
    game = Game(member, np.arange(16), ~np.eye(16, dtype=bool), np.ones((40, 16), bool))
    records = np.arange(0, 40, 2)
    asked = pictures.chosen(game, records)
    assert len(asked) == pictures.MODELS
    sides = [{bool(member[records[at], column]) for column, some in asked if at in some} for at in range(20)]
    assert sum(len(s) for s in sides) > 36
    every = [at for _, some in asked for at in some]
    assert max(np.bincount(every)) <= 2  # nobody is asked about a third time


def test_records_are_only_asked_about_under_targets_that_were_scored_on_them():
    member, scored = np.array([[1], [0], [1]], dtype=bool), np.array([[1], [0], [1]], dtype=bool)
    game = Game(np.hstack([member, member]), [0], np.array([[0, 1]], dtype=bool), scored)
    assert [(c, some.tolist()) for c, some in pictures.chosen(game, np.arange(3))] == [(0, [0, 2])]
