"""What a user may give as an explainer, and what every kind of bad manners leads to: it works, or one sentence."""

from __future__ import annotations

import functools
import random

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from jali.adapters.explainers.own import OwnExplainer
from jali.adapters.explainers.recognise import Wanted, recognised, renamed
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual, Surrogate
from jali.core.protocols import is_local

from .people import setting


def slopes(model, X):
    """A function of a user's: weight times value."""
    return model.coef_[0] * np.asarray(X)


def made(model, background):
    """A factory of a user's."""
    centre = background.mean(axis=0)
    return lambda X: model.coef_[0] * (X - centre)


class Finished:
    """An explainer object that is bound to its model."""

    def __init__(self, model):
        self.model = model

    def __call__(self, X):
        return slopes(self.model, X)


def known(given, kind="array", favourable=None) -> OwnExplainer:
    _, ours, train = setting(kind, favourable)
    return recognised(given, ours, train)


def answer(part, kind="array", favourable=None, n=20, seed=0):
    _, ours, train = setting(kind, favourable)
    ready = part.prepare(ours, train.schema, train, np.random.default_rng(seed))
    return ready.explain(train.X[:n], np.random.default_rng(seed)), ready


def test_factory_function_and_finished_object_are_told_apart():
    model, _, train = setting("array")
    styles = {
        "make": made,
        "make from the model": Finished,
        "function": slopes,
        "finished": Finished(model),
    }
    for style, given in styles.items():
        part = known(given)
        assert part.recipe.style == style
        assert part.gives == "attribution"
        value = answer(part)[0].value
        centre = train.X.mean(axis=0) if style == "make" else 0
        np.testing.assert_allclose(value, slopes(model, train.X[:20] - centre))
    assert known(lambda X: slopes(model, X)).recipe.style == "finished"
    assert known(functools.partial(slopes, model)).recipe.style == "finished"
    assert known(lambda m: lambda X: slopes(m, X)).recipe.style == "make from the model"
    assert known(lambda *given: slopes(*given)).recipe.style == "function"


def test_names_come_from_what_was_given_and_are_numbered():
    parts = [known(slopes), known(slopes), known(lambda m, X: slopes(m, X)), known(lambda m, b: Finished(m))]
    renamed(parts)
    assert [part.name for part in parts] == ["slopes", "slopes 2", "explainer", "Finished"]
    assert known(Wanted(slopes, name="mine")).name == "mine"


def test_the_attribution_of_text_goes_to_the_category_of_the_record():
    _, _, train = setting()
    part = known(lambda m, X: np.tile([1.0, 2.0, 3.0], (len(X), 1)), "frame")
    value = answer(part, "frame")[0].value
    assert value.shape == (20, 5)
    np.testing.assert_array_equal(value[:, :2], [[1.0, 2.0]] * 20)
    np.testing.assert_array_equal(value[np.arange(20), 2 + train.X[:20, 2].astype(int)], 3.0)


def richer(model, X):
    """Counterfactuals of a user's: the same people with more income."""
    return X.assign(income=X["income"] + 30)


def test_counterfactuals_are_asked_of_those_without_the_favourable_class():
    part = known(richer, "frame", "yes")
    assert part.gives == "counterfactual"
    out, _ = answer(part, "frame", "yes")
    _, ours, train = setting("frame", "yes")
    denied = ours.logits(train.X[:20]).argmax(axis=1) != train.schema.favourable
    assert isinstance(out, Counterfactual)
    np.testing.assert_array_equal(out.found, denied)
    np.testing.assert_allclose((out.rows - train.X[:20])[denied], [[0, 30, 0]] * denied.sum())
    assert not part.releases_rows()


def test_training_rows_that_are_shown_are_noticed():
    def neighbour(model, background):
        return lambda X: background.iloc[[7] * len(X)]

    part = known(neighbour, "frame")
    out, _ = answer(part, "frame")
    assert part.releases_rows()
    assert (out.origin == 7).all()


def test_a_users_surrogate_stands_in_for_the_model():
    part = known(lambda m, bg: DecisionTreeClassifier(max_depth=2, random_state=0).fit(bg, m.predict(bg)))
    out, _ = answer(part)
    model, _, train = setting("array")
    assert part.gives == "surrogate"
    assert not is_local(part)
    assert isinstance(out, Surrogate)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(train.X, model.predict(train.X))
    assert out.models[0].logits(train.X).argmax(axis=1).tolist() == tree.predict(train.X).tolist()


def test_rules_that_only_predict_and_local_surrogates():
    class Rules:
        def predict(self, X):
            return (np.asarray(X)[:, 0] > 0).astype(int)

    out, _ = answer(known(lambda m, bg: Rules()))
    X = setting("array")[2].X
    np.testing.assert_array_equal(out.models[0].logits(X).argmax(axis=1), X[:, 0] > 0)
    local = known(lambda m, X: [Rules() for _ in range(len(X))])
    assert is_local(local)
    assert len(answer(local)[0].models) == 20


def some_nan(model, X):
    out = slopes(model, X)
    out[out[:, 0] > 0, 1] = np.nan
    return out


def some_raise(model, X):
    if (X[:, 0] > 0).any():
        raise ValueError("Smith")
    return slopes(model, X)


@pytest.mark.parametrize("given", [some_nan, some_raise])
def test_rows_that_fail_are_missing_and_counted_without_their_values(given):
    model, _, train = setting("array")
    out, ready = answer(known(given))
    bad = (slopes(model, train.X[:20])[:, 0] > 0) if given is some_nan else train.X[:20, 0] > 0
    np.testing.assert_array_equal(out.found, ~bad)
    np.testing.assert_array_equal(out.value[bad], 0.0)
    count, reason = ready.failures
    assert count == bad.sum()
    assert "Smith" not in reason


def changes_its_input(model, X):
    X[:] = 0
    return slopes(model, X) + 1.0


def prints(model, X):
    print("noise")  # noqa: T201
    return slopes(model, X)


def generates(model, X):
    return (row for row in slopes(model, X))


def as_objects(model, X):
    return slopes(model, X).astype(object)


@pytest.mark.parametrize("given", [changes_its_input, prints, generates, as_objects])
def test_bad_manners_that_do_no_harm(given, capsys):
    before = setting("array")[2].X.copy()
    part = known(given)
    out, _ = answer(part)
    assert out.found.all()
    assert part.caution == ""
    np.testing.assert_array_equal(setting("array")[2].X, before)
    assert capsys.readouterr().out == ""


class Remembers:
    def __init__(self):
        self.calls = 0

    def __call__(self, model, X):
        self.calls += 1
        return slopes(model, X) + self.calls


def shared_draws(model, X):
    return slopes(model, X) + np.random.normal(size=X.shape) + random.random()  # noqa: NPY002


def by_company(model, X):
    return slopes(model, X) - X.mean(axis=0)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (Remembers(), "keeps something between calls"),
        (shared_draws, "its answers are random"),
        (by_company, "depends on the rows asked with it"),
        (lambda m, X: np.ones((len(X), 7)), "7 numbers per row where the table has 3 columns"),
    ],
)
def test_what_an_explainer_does_to_an_audit_is_said(given, words):
    assert words in known(given).caution


def test_random_answers_are_the_same_bits_for_the_same_stream_and_leave_the_users_generators_alone():
    part = known(shared_draws)
    np.random.seed(3)  # noqa: NPY002
    want = np.random.normal()  # noqa: NPY002
    np.random.seed(3)  # noqa: NPY002
    first, again, other = (answer(part, seed=seed)[0].value for seed in (0, 0, 1))
    assert np.random.normal() == want  # noqa: NPY002
    np.testing.assert_array_equal(first, again)
    assert not np.allclose(first, other)


def test_a_bound_explainer_says_which_attacks_are_left():
    assert "only attacks without shadow models" in known(Finished(setting("array")[0])).caution


class KernelExplainer:
    """A stand-in: shap's is known by its name and module."""

    def __init__(self, model):
        self.model = model

    def __call__(self, X):
        return slopes(self.model, X)


def test_the_ten_columns_of_the_kernel_explainer_get_a_warning(monkeypatch):
    monkeypatch.setattr(KernelExplainer, "__module__", "shap.explainers._kernel")
    assert known(lambda m, bg: KernelExplainer(m)).caution == ""  # three columns are all kept
    monkeypatch.setattr("jali.adapters.explainers.trial.KEPT", 2)
    assert "keeps ten columns" in known(lambda m, bg: KernelExplainer(m)).caution


def test_an_explainer_that_cannot_read_a_pipeline_gets_the_code_for_its_last_step():
    def trees_only(model, background):
        raise TypeError("Pipeline is not supported")

    with pytest.raises(JaliError, match=r"write explain=\[lambda model, X: .*model\[-1\]"):
        known(trees_only, "frame")
    part = known(lambda m, X: np.ones((len(X), 5)), "frame")  # as many as encoded features, in an order of its own
    assert "5 numbers per row where the table has 3 columns" in part.caution


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (5, "not an object of type int: write explain="),
        (None, "not nothing: write explain="),
        (pd.DataFrame(), "not an object of type DataFrame"),
        (lambda a, b, c: 0, "needs 3 arguments"),
        (lambda m, X: None, "returned nothing"),
        (lambda m, X: {"a": 1}, "returned an object of type dict"),
        (lambda m, X: "text", "returned an object of type str"),
        (lambda m, X: 1 / 0, "ZeroDivisionError"),
        (lambda m, X: np.full((len(X), 3), np.nan), "no finite numbers"),
        (lambda m, X: slopes(m, X)[:2], "rows were explained"),
        (lambda m, X: X, "kind="),
        (lambda m, bg: lambda X: 1 / 0, "could not explain any of 8"),
        (lambda m, bg: lambda X: "text", "answered with an object of type str"),
    ],
)
def test_what_cannot_be_used_gets_one_sentence(given, words):
    with pytest.raises(JaliError, match=words) as error:
        known(given)
    assert "\n" not in str(error.value)


def test_widths_that_differ_between_models_are_refused():
    part = known(lambda m, X: np.ones((len(X), 7)))
    part.width = 8
    with pytest.raises(JaliError, match="7 numbers per row for one model and 8 for another"):
        answer(part)


def test_kind_settles_what_an_answer_is():
    part = known(Wanted(lambda m, X: np.asarray(X) + 1.0, "counterfactual"))
    out, _ = answer(part)
    np.testing.assert_allclose(out.rows, setting("array")[2].X[:20] + 1)
    assert isinstance(answer(known(Wanted(lambda m, X: X, "attribution")))[0], Attribution)
