from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import jali
from jali.config import Config, checked
from jali.core.errors import JaliError
from jali.core.values import SignalName

QUICK = {"attack": ["threshold", "calibrated"]}


def people(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.lognormal(10, 0.4, n).round(),
            "job": rng.choice(["nurse", "clerk", "<b>chef</b>"], n),
        }
    )
    y = np.where((X["age"] / 20 + X["income"] / 20000 + rng.normal(0, 1.5, n)) > 3.6, "yes", "no")
    return X, y


@pytest.fixture(scope="module")
def pipeline():
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    scale = make_column_transformer((StandardScaler(), ["age", "income"]), (OneHotEncoder(), ["job"]))
    return make_pipeline(scale, LogisticRegression(C=100.0)).fit(*people(150, 0))


@pytest.fixture(scope="module")
def own(pipeline):
    return jali.audit(
        pipeline,
        train=people(150, 0),
        population=people(700, 1),
        favourable="yes",
        explain=["linear_recourse", "input_x_gradient"],
        game="given_model(members=150, shadows=3)",
        **QUICK,
    )


def test_a_users_own_pipeline(own):
    rows = own.results.find(kind="contrast", metric="auc", against="decision")
    assert {r.explainer for r in rows} == {"linear_recourse", "input_x_gradient"}
    assert all(r.units == 1 and "conditional on this model" in r.interval for r in rows)
    assert own.results.valid
    assert own.results.find(metric="answered")[0].value < 1


def test_its_column_is_the_given_model_itself(own, pipeline):
    X, y = people(150, 0)
    score = pipeline.decision_function(X)
    confidence = own.evidence.value[own.evidence.names.index(SignalName("confidence"))][:150, 0]
    np.testing.assert_allclose(confidence, np.where(y == "yes", score, -score), rtol=1e-9)


def test_it_reads_well_in_a_notebook_and_writes_the_four_files(own, tmp_path):
    assert "in the training data" in repr(own) or "member" in repr(own)
    assert own._repr_html_().startswith("<div")
    assert own.to_frame()["metric"].tolist() == [row.metric for row in own.results.rows]
    assert own.summary() in repr(own)
    assert "<b>" not in own._repr_html_()
    report = own.save(tmp_path / "new" / "run")
    assert {p.name for p in report.parent.iterdir()} == {"report.html", "results.json", "evidence.npz", "audit.toml"}
    assert "nurse" not in report.read_text()
    stored = json.loads((report.parent / "results.json").read_text())
    assert stored["schema_version"] == "jali.results/2"
    assert "evidence.npz" in (report.parent / "audit.toml").read_text()


def test_raw_values_appear_only_when_asked_for(pipeline):
    shown = jali.audit(
        pipeline,
        train=people(150, 0),
        population=people(600, 1),
        game="given_model(members=150, shadows=2)",
        show_values=True,
        **QUICK,
    )
    assert all(set(e.values) == {"age", "income", "job"} for e in shown.results.exposed)


def test_arrays_forests_and_numeric_labels():
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(700, 5)), rng.integers(0, 2, 700)
    forest = RandomForestClassifier(20, random_state=0).fit(X[:150], y[:150])
    found = jali.audit(
        forest,
        train=(X[:150], y[:150]),
        population=(X[150:], y[150:]),
        game="given_model(members=150, shadows=4)",
        **QUICK,
    )
    best = found.results.find(kind="attack", signal="confidence", attack="threshold", metric="auc")[0]
    assert best.low > 0.9  # coin labels that only memory can know
    with pytest.raises(JaliError, match=r"input_x_gradient needs gradients, and RandomForestClassifier has none"):
        jali.audit(
            forest,
            train=(X[:150], y[:150]),
            population=(X[150:], y[150:]),
            explain=["input_x_gradient"],
            game="given_model(members=150, shadows=2)",
        )


def test_a_named_experiment_from_specs_or_parts():
    from jali.games.rotate import Rotate
    from jali.models.logistic import Logistic

    by_name = jali.audit(data="breast_cancer", model="logistic", game="rotate(models=4)", **QUICK)
    by_part = jali.audit(data="breast_cancer", model=Logistic(), game=Rotate(4), **QUICK)
    assert by_name.results.rows == by_part.results.rows
    assert by_part.config.game == "rotate(models=4)"


@pytest.mark.parametrize(
    ("train", "population", "says"),
    [
        ((np.zeros((3, 2)), [0, 1]), (np.zeros((3, 2)), [0, 1, 0]), "one label per row"),
        ((np.zeros((3, 2)), [0, 1, 0]), None, "both train"),
        ((np.zeros((3, 2)), [0, 1, 0]), (np.zeros((3, 3)), [0, 1, 0]), "same columns"),
        ((np.zeros(3), [0, 1, 0]), (np.zeros((3, 3)), [0, 1, 0]), r"shape \(rows, columns\)"),
        ((np.full((3, 2), np.inf), [0, 1, 0]), (np.zeros((3, 2)), [0, 1, 0]), "missing or infinite"),
        ((np.zeros((3, 2)), [1, 1, 1]), (np.zeros((3, 2)), [1, 1, 1]), "one class only"),
    ],
)
def test_bad_tables_are_one_sentence(train, population, says):
    from sklearn.dummy import DummyClassifier

    model = DummyClassifier().fit(np.zeros((2, 2)), [0, 1])
    with pytest.raises(JaliError, match=says):
        jali.audit(model, train=train, population=population)


def test_copies_of_members_in_the_population_are_counted_and_not_judged(pipeline):
    X, y = people(150, 0)
    more, labels = people(1200, 1)
    population = (pd.concat([more, X[:40]], ignore_index=True), np.r_[labels, y[:40]])
    found = jali.audit(
        pipeline, train=(X, y), population=population, game="given_model(members=150, shadows=2)", **QUICK
    )
    [warning] = [w for w in found.results.warnings if "taken for training people" in w]
    assert warning.startswith("40 rows of the population equal a training row")
    assert not any("exact cop" in w for w in found.results.warnings)


def test_configuration_survives_toml_and_names_what_is_wrong():
    import tomllib

    config = Config(data='odd "name"\n\\.csv', target="<y>", explain=["linear_recourse"], seed=3)
    assert checked(tomllib.loads(config.toml())) == config
    with pytest.raises(JaliError, match="did you mean 'model'"):
        checked({"modle": "logistic"})
    with pytest.raises(JaliError, match="seed"):
        checked({"seed": -1})


def test_a_pipeline_on_number_coded_categories_gets_its_own_codes_back():
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "code": pd.Series(rng.integers(1, 5, 600)).astype("category"),
            "flag": rng.random(600) < 0.5,
            "mixed": pd.Series(rng.choice([1, 2, 3], 600), dtype=object),
            "x": rng.normal(size=600),
        }
    )
    y = rng.integers(0, 2, 600)
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="error"), ["code", "flag", "mixed"]), remainder="passthrough"
    )
    model = make_pipeline(encode, LogisticRegression()).fit(table[:100], y[:100])
    found = jali.audit(
        model,
        train=(table[:100], y[:100]),
        population=(table[100:], y[100:]),
        explain=["input_x_gradient"],
        game="given_model(members=100, shadows=2)",
        **QUICK,
    )
    score = model.decision_function(table[:100])
    confidence = found.evidence.value[found.evidence.names.index(SignalName("confidence"))][:100, 0]
    np.testing.assert_allclose(confidence, np.where(y[:100] == 1, score, -score), rtol=1e-9)


@pytest.mark.parametrize("game", ["rotate(models=6)", "given_model(members=100)"])
def test_a_model_that_exists_is_judged_by_its_real_training_rows(pipeline, game):
    with pytest.raises(JaliError, match=r"use game='given_model\(members=150\)'"):
        jali.audit(pipeline, train=people(150, 0), population=people(600, 1), game=game)


@pytest.fixture(scope="module")
def forest():
    """A forest that remembers some of its people, all rows, and its own number of them."""
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(5)
    X = rng.normal(size=(700, 6))
    y = (X[:, 0] + rng.normal(0, 1.0, 700) > 0).astype(int)
    return RandomForestClassifier(30, min_samples_leaf=3, random_state=0).fit(X[:350], y[:350]), X, y


def best(found) -> float:
    return max(r.value for r in found.results.find(kind="attack", metric="auc", channel="score") if r.value)


def played(model, X, y, game):
    return jali.audit(model, train=(X[:350], y[:350]), population=(X[350:], y[350:]), game=game)


def test_an_adversary_who_knows_the_candidates_is_the_default_and_the_stronger_one(forest):
    strong, weak = (
        played(*forest, f"{game}(members=350, shadows=8)") for game in ("given_model", "given_model_offline")
    )
    assert best(strong) > best(weak) + 0.02
    assert strong.game.scored.all()
    assert strong.results.valid
    assert strong.results.threats[0].has == (
        "all 700 candidates, and 8 shadow models, each trained on about 50 % of these"
    )
    assert "an adversary without candidates" in weak.results.threats[0].has
    assert any("no shadow model was trained on a person who is judged" in w for w in weak.results.warnings)
    assert not any("has no candidates" in w for w in strong.results.warnings)


def test_a_model_that_saw_none_of_them_leaks_nothing(forest):
    _, X, y = forest
    other = np.random.default_rng(6).normal(size=(350, 6))
    from sklearn.ensemble import RandomForestClassifier

    stranger = RandomForestClassifier(30, min_samples_leaf=3, random_state=0).fit(other, (other[:, 0] > 0).astype(int))
    found = played(stranger, X, y, "given_model(members=350, shadows=8)")
    [combined] = found.results.find(kind="attack", metric="auc", channel="score", attack="joint")
    assert combined.low < 0.5 < combined.high


def test_query_attacks_are_made_on_the_model_that_exists(forest):
    """Everybody is a candidate, so the people whom these attacks know come from an offline cut of the same rows."""
    model, X, y = forest
    calls = []

    class Counted(type(model)):
        def predict_proba(self, X):
            calls.append(len(X))
            return super().predict_proba(X)

    model.__class__ = Counted
    found = jali.audit(
        model,
        train=(X[:350], y[:350]),
        population=(X[350:], y[350:]),
        attack=["label_only"],
        game="given_model(350, 2)",
    )
    model.__class__ = Counted.__mro__[1]
    assert sum(calls) > 350
    assert found.results.facts["game"] == "given_model_offline(members=350, shadows=2)"
    assert found.results.facts["members per target"] == "350"


def test_slips_in_the_call_are_one_sentence(pipeline):
    with pytest.raises(JaliError, match="explain must be a list"):
        jali.audit(data="breast_cancer", explain="input_x_gradient")
    with pytest.raises(JaliError, match="seed"):
        jali.audit(data="breast_cancer", seed=-1)
    with pytest.raises(JaliError, match="needs train"):
        jali.audit(pipeline)
    with pytest.raises(JaliError, match="must be a pair"):
        jali.audit(pipeline, train=people(150, 0)[0], population=people(600, 1))
    with pytest.raises(JaliError, match="favourable goes with"):
        jali.audit(data="breast_cancer", favourable="benign")


@pytest.mark.parametrize("kind", ["objects", "floats", "texts", "numbered"])
def test_a_model_is_fed_the_values_it_was_fitted_on(kind):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (300, 3)).astype({"objects": object, "texts": str}.get(kind, float))
    X = pd.DataFrame(X).astype({0: "category"}) if kind in ("floats", "numbered") else X
    if kind == "floats":
        X.columns = ["a", "b", "c"]
    y = rng.integers(0, 2, 300)
    tree = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier()).fit(X[:100], y[:100])
    found = jali.audit(
        tree,
        train=(X[:100], y[:100]),
        population=(X[100:], y[100:]),
        game="given_model(members=100, shadows=2)",
        **QUICK,
    )
    truth = (tree.predict(X[:100]) == y[:100]).mean()
    assert found.results.find(metric="train_accuracy")[0].value == pytest.approx(truth)


def test_a_model_that_reads_rebuilt_rows_otherwise_is_refused():
    from sklearn.tree import DecisionTreeClassifier

    class Fickle(DecisionTreeClassifier):
        """Answers tables other than the one it was fitted on at random."""

        def predict_proba(self, X):
            return super().predict_proba(X)[::-1]

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    model = Fickle().fit(X[:100], y[:100])
    model.predict = lambda rows: y[: len(rows)]
    with pytest.raises(JaliError, match="rebuilt from the table"):
        jali.audit(model, train=(X[:100], y[:100]), population=(X[100:], y[100:]), **QUICK)


@pytest.mark.parametrize(("columns", "said"), [(33, True), (32, False)])
def test_a_table_with_more_columns_than_are_read_is_said(columns, said):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, columns))
    y = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    found = jali.audit(
        LogisticRegression().fit(X[:60], y[:60]),
        train=(X[:60], y[:60]),
        population=(X[60:], y[60:]),
        explain=["input_x_gradient"],
        attack=["threshold"],
        game="given_model(members=60, shadows=2)",
    )
    warned = [w for w in found.results.warnings if "32 random directions" in w and "attributions(most=33)" in w]
    assert bool(warned) == said
