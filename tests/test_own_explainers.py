"""Audits with explainers that a user brings, from end to end."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import jali
from jali.api.explainers import with_explainers
from jali.api.own_model import Own, own_experiment
from jali.audit.all_models import gather
from jali.audit.setup import Resources, load
from jali.audit.signal_attacks import attack_evidence
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import SignalName

shap = pytest.importorskip("shap")
N = 70


def people(seed=0, n=2 * N, noise=0.35):
    """Numbers whose labels are partly noise, which an overfitted model memorises."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(3)
    y = (X[:, 0] > 0).astype(int)
    return X, np.where(rng.random(n) < noise, 1 - y, y)


def tables(seed=0, n=N):
    """Training rows with labels, and a population."""
    X, y = people(seed, 2 * n)
    return (X[:n], y[:n]), (X[n:], y[n:])


def setup(model, explain, shadows=2, seed=0, n=N):
    """An audit that is set up: the explainers are tried, the data loaded."""
    train, population = tables(seed, n)
    brought = Own(train, population)
    game = f"given_model(members={n}, shadows={shadows})"
    experiment, _ = own_experiment(model.fit(*train), brought, game, 0)
    return load(with_explainers(experiment, explain))


def signals(found, explainer):
    """The values of all signals of an explainer, by signal."""
    evidence = found.evidence
    mine = [(name, at) for at, name in enumerate(evidence.names) if name.explainer == explainer]
    return {(name.signal, name.part): evidence.value[at] for name, at in mine}


FOREST = RandomForestClassifier(4, random_state=0)
BOOSTED = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=3)


@pytest.mark.parametrize("model", [FOREST, BOOSTED], ids=["forest", "boosted"])
def test_signals_of_shap_through_the_adapter_equal_those_of_tree_shap(model):
    ways = [lambda m, bg: shap.TreeExplainer(m), shap.TreeExplainer, lambda m, bg: shap.TreeExplainer(m).shap_values]
    ready = setup(model, ["tree_shap", *ways])
    found = gather(ready, Resources())
    ours = signals(found, "tree_shap")
    assert len(ours) > 5
    names = [registry.spec(part) for part in ready.parts.explain[1:]]
    assert names == ["TreeExplainer", "TreeExplainer 2", "TreeExplainer.shap_values"]
    for name in names:
        theirs = signals(found, name)
        assert theirs.keys() == ours.keys()
        for key, value in ours.items():
            np.testing.assert_allclose(theirs[key], value, atol=1e-6)


def noisy(model, X):
    """Attributions with noise from the shared generator."""
    return X * 0.0 + np.random.normal(size=X.shape)  # noqa: NPY002


def test_the_same_bits_for_any_number_of_workers_also_from_a_closure():
    scale = 2.0
    explain = [
        noisy,
        jali.explainer(lambda m, X: scale * X, "attribution"),
        lambda m, bg: lambda X: X - bg.mean(axis=0),
    ]
    ready = setup(FOREST, explain)
    one, two = (gather(ready, Resources(workers=workers, block=1)) for workers in (1, 2))
    np.testing.assert_array_equal(one.evidence.value, two.evidence.value)
    assert "its answers are random" in ready.parts.explain[0].caution


def test_failures_are_missing_and_counted_in_the_warnings_of_an_audit():
    def picky(model, X):
        return np.where(X[:, :1] > 1, np.nan, X)

    train, population = tables()
    found = jali.audit(
        FOREST.fit(*train),
        train,
        population,
        explain=[jali.explainer(picky, kind="attribution")],
        attack=["threshold"],
        game=f"given_model(members={N}, shadows=1)",
    )
    X = np.concatenate([train[0], population[0]])
    said = [w for w in found.results.warnings if "picky failed in" in w]
    assert len(said) == 1
    assert f"{2 * int((X[:, 0] > 1).sum()):,} of {2 * len(X):,} queries" in said[0]
    at = next(i for i, name in enumerate(found.evidence.names) if name.explainer == "picky")
    np.testing.assert_array_equal(found.evidence.observed[at], np.tile(X[:, :1] <= 1, (1, 2)))


def test_a_finished_object_leaves_the_attacks_without_shadow_models():
    bound = shap.TreeExplainer(FOREST.fit(*tables()[0]))
    ready = setup(FOREST, [bound])
    assert ready.game.member.shape[1] == 1
    assert "bound to the audited model" in ready.parts.explain[0].caution
    with pytest.raises(JaliError, match="explains one model only"):
        jali.audit(
            "logistic",
            data="linear_gaussian(n=200, d=2)",
            explain=[jali.explainer(lambda X: 0 * np.asarray(X), "attribution")],
        )


@pytest.mark.parametrize("model", [FOREST, BOOSTED, LogisticRegression()], ids=["forest", "boosted", "logistic"])
def test_a_finished_object_that_was_made_for_another_model_is_noticed(model):
    def bound(to):
        return shap.LinearExplainer(to, train[0]) if hasattr(to, "coef_") else shap.TreeExplainer(to)

    train, population = tables()
    its, another = (setup(model, [bound(clone(model).fit(*rows))]) for rows in (train, population))
    assert "made for another" not in its.parts.explain[0].caution
    assert "its attributions do not add up to what this model predicts" in another.parts.explain[0].caution


def test_a_users_surrogate_is_attacked_like_ours():
    def tree(model, background):
        return DecisionTreeClassifier(max_depth=3, random_state=0).fit(background, model.predict(background))

    train, population = tables()
    explain = [tree, "tree_surrogate(depth=3)"]
    found = jali.audit(FOREST.fit(*train), train, population, explain=explain, attack=["label_only(perturbations=5)"])
    rows = found.results.find(kind="query attack")
    assert {row.explainer for row in rows} == {"", "tree", "tree_surrogate(depth=3)"}


def test_named_data_take_functions_too_and_store_nothing():
    def risk(model, X):
        return model.predict_proba(X)[:, [1]] * np.ones((1, X.shape[1]))

    found = jali.audit(
        "logistic", data="linear_gaussian(n=120, d=2)", explain=[risk], game="rotate(models=2)", attack=["threshold"]
    )
    assert found.config.evidence
    assert found.config.explain == ["risk"]
    assert found.results.title == "logistic"


@pytest.mark.parametrize(
    ("explain", "words"),
    [
        ([7], "explain=.* takes names of explainers"),
        (shap.TreeExplainer, "explain must be a list, such as explain="),
        ([lambda m, X: object()], "neither an answer nor something that explains rows"),
        ([jali.reason_codes("nice")], "names the columns of an attribution"),
    ],
)
def test_errors_say_what_to_write(explain, words):
    train, population = tables()
    with pytest.raises(JaliError, match=words):
        jali.audit(FOREST.fit(*train), train, population, explain=explain)
    with pytest.raises(JaliError, match="kind must be"):
        jali.explainer(len, kind="other")


def test_functions_and_classes_in_the_place_of_parts_are_refused_in_one_sentence():
    with pytest.raises(JaliError, match=r"attack=\[…\] takes names, .* not an object of type function"):
        jali.audit(attack=[lambda target, shadows: 0])
    with pytest.raises(JaliError, match="not the class dict"):
        jali.audit(signal=[dict])
    with pytest.raises(JaliError, match=r"write TreeShap\(\)"):
        jali.audit(explain=[registry.find("explain", "tree_shap")])


# --- reason codes --------------------------------------------------------------------------------------------------


def memorised(model, background):
    """A planted leak: column 0 counts most for three in ten of the rows that the model was trained on."""
    known = {row.tobytes() for row in background}

    def explain(X):
        out = np.array(X)
        out[[row.tobytes() in known and row[1] > 0.5 for row in X], 0] = 9.0
        return out

    return explain


def unrelated(model, background):
    """No leak: the columns that count most depend on the row alone."""
    return np.asarray


@functools.cache
def added(explainer):
    """What the names alone add to the decision, in AUC."""
    given = jali.reason_codes(jali.explainer(explainer, "attribution"), top=2)
    ready = setup(FOREST, [given], shadows=6, seed=3, n=250)
    evidence = gather(ready, Resources()).evidence
    read = [name for name in evidence.names if name.signal == "attributions"]
    few = evidence.pick((SignalName("correctness"), *read))
    found = attack_evidence(few, ready.game, (registry.build("attack", "threshold"),), 0, Resources(), ready.data)
    return next(r for r in found.rows if r.kind == "contrast" and r.metric == "auc" and r.channel.base == "decision")


def test_a_planted_leak_is_found_in_the_names_alone_and_a_null_is_covered():
    assert added(memorised).low > 0.02
    null = added(unrelated)
    assert null.low <= 0 <= null.high
