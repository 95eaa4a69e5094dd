"""What new users do: each works and gives the same numbers, or gets one sentence that says what to do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.tree import DecisionTreeClassifier

import jali
from jali.core.errors import JaliError

N = 60
GAME = f"given_model(members={N}, shadows=3)"


def people(seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(18, 80, N), "debt": rng.normal(size=N), "rent": rng.gamma(2, size=N)})
    return table, rng.integers(0, 2, N)


T, y = people(0)
P, q = people(1)


def tree() -> DecisionTreeClassifier:
    return DecisionTreeClassifier(random_state=0)


def audited(model, train=(T, y), population=(P, q), **more):
    return jali.audit(model, train, population, **({"game": GAME, "attack": ["threshold"]} | more))


def leak(found) -> float:
    return next(r.value for r in found.results.rows if r.metric == "auc" and r.signal == "correctness")


def says(*arguments, **more) -> str:
    with pytest.raises(JaliError) as caught:
        audited(*arguments, **more)
    return str(caught.value)


def test_odd_indices_and_labels_change_nothing():
    plain = leak(audited(tree().fit(T, y)))
    odd = T.set_index(pd.Index(np.arange(N)[::-1] * 3))
    words = np.array(["no", "yes"])
    assert leak(audited(tree().fit(odd, y), (odd, pd.Series(y, odd.index)))) == plain
    assert leak(audited(tree().fit(T, words[y]), (T, words[y]), (P, words[q]))) == plain
    assert leak(audited(tree().fit(T, y == 1), (T, y == 1), (P, q == 1))) == plain
    assert leak(audited(tree().fit(T, y), population=(P[["rent", "age", "debt"]], q))) == plain


def test_tables_of_polars_are_read():
    polars = pytest.importorskip("polars")
    mine = polars.DataFrame(T.to_dict("list"))
    theirs = polars.DataFrame(P.to_dict("list"))
    assert leak(audited(tree().fit(mine, y), (mine, y), (theirs, q))) == leak(audited(tree().fit(T, y)))


def test_a_table_of_another_library_gets_a_sentence():
    class Lazy:
        columns = ("age",)

    assert "convert it first" in says(tree().fit(T, y), (Lazy(), y))


def test_a_model_of_labels_alone_is_cloned():
    model = VotingClassifier([("a", tree()), ("b", tree())], voting="hard").fit(T, y)
    found = audited(model)
    assert leak(found) > 0.6


def test_clones_that_keep_what_they_learnt_are_no_shadow_models():
    model = CalibratedClassifierCV(FrozenEstimator(tree().fit(T, y)), cv=2).fit(T, y)
    assert "its FrozenEstimator keeps what it has learnt" in says(model)


def test_a_population_of_training_people_is_refused():
    model = tree().fit(T, y)
    assert "60 of 60 rows of the population equal a training row" in says(model, (T, y), (T, y))
    assert "60 of 120 rows" in says(model, (T, y), (pd.concat([T, P]), np.r_[y, q]))


def test_people_who_are_alike_by_chance_are_no_training_people():
    rng = np.random.default_rng(0)
    mine = pd.DataFrame({"a": rng.integers(0, 2, N), "b": rng.integers(0, 3, N)})
    theirs = pd.DataFrame({"a": rng.integers(0, 2, N), "b": rng.integers(0, 3, N)})
    assert audited(tree().fit(mine, y), (mine, y), (theirs, q)).results.rows


def test_sentences_name_the_column():
    model = tree().fit(T, y)
    assert "fitted with the column 'rent', which the table lacks" in says(
        model, (T[["age", "debt"]], y), (P[["age", "debt"]], q)
    )
    assert "fitted without the column 'more'" in says(model, (T.assign(more=1), y), (P.assign(more=1), q))
    swapped = ["rent", "age", "debt"]
    assert "another order" in says(model, (T[swapped], y), (P[swapped], q))
    twice = T.set_axis(["a", "a", "b"], axis=1)
    assert "2 columns called 'a'" in says(tree().fit(T.to_numpy(), y), (twice, y), (twice, q))
    assert "train is a table and population an array" in says(model, (T, y), (P.to_numpy(), q))
    assert "missing labels in 1 of 60 rows" in says(model, (T, np.where(np.arange(N) == 3, np.nan, y)))


def test_a_model_that_was_trained_on_other_columns_is_noticed():
    model = tree().fit(T.to_numpy(), y)
    swapped = [2, 0, 1]
    found = audited(model, (T.to_numpy()[:, swapped], y), (P.to_numpy()[:, swapped], q))
    assert any("Are these the rows that it was trained on" in text for text in found.results.warnings)
    right = audited(model, (T.to_numpy(), y), (P.to_numpy(), q))
    assert not any("Are these the rows" in text for text in right.results.warnings)


def test_a_model_that_knows_nothing_is_not_told_to_swap_its_classes():
    constant = audited(lambda X: np.full((len(X), 2), 0.5), (T.to_numpy(), y), (P.to_numpy(), q), shadow="logistic")
    assert constant.results.rows
    model = tree().fit(T.to_numpy(), y)
    assert "classes=['1', '0']" in says(
        lambda X: model.predict_proba(X)[:, ::-1], (T.to_numpy(), y), (P.to_numpy(), q), shadow="logistic"
    )


def test_an_explainer_that_ignores_the_model_voids_the_audit():
    mine = tree().fit(T, y)

    def about(model, X):
        return np.asarray(X) * (0.1 + model.predict_proba(X)[:, [1]])

    wrong = audited(mine, explain=[lambda model, X: about(mine, X)])
    assert [check.name for check in wrong.results.sanity if not check.passed] == ["explains each model"]
    assert all(check.passed for check in audited(mine, explain=[about]).results.sanity)


def test_an_explainer_that_changes_the_model_is_refused():
    def refits(model, X):
        model.fit(X, np.arange(len(X)) % 2)
        return np.asarray(X) * 0.1

    assert "refits changed the model" in says(tree().fit(T, y), explain=[refits])
