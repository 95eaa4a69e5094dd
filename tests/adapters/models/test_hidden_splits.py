"""Members that never trained: estimators that hold rows out of their own training set."""

from __future__ import annotations

import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from jali.adapters.models.hidden_splits import hidden_splits


class Cut:
    cv = 5


class NeuralNet(BaseEstimator):
    """Holds out a fifth, as skorch does unless it is told not to."""

    def __init__(self, train_split=None):
        self.train_split = train_split


@pytest.mark.parametrize(
    ("model", "rows", "says"),
    [
        (HistGradientBoostingClassifier(), 10_001, "10 % .*early_stopping='auto' with more than 10,000"),
        (HistGradientBoostingClassifier(), 10_000, None),
        (HistGradientBoostingClassifier(early_stopping=True, validation_fraction=0.2), 50, "holds out 20 %"),
        (HistGradientBoostingClassifier(early_stopping=False), 20_000, None),
        (make_pipeline(StandardScaler(), MLPClassifier(early_stopping=True)), 50, "MLPClassifier holds out 10 %"),
        (MLPClassifier(), 50, None),
        (SGDClassifier(early_stopping=True), 50, "SGDClassifier holds out 10 %"),
        (GradientBoostingClassifier(n_iter_no_change=3), 50, "n_iter_no_change"),
        (GradientBoostingClassifier(), 50, None),
        (NeuralNet(Cut()), 50, "holds out 20 % .*train_split=None"),
        (NeuralNet(), 50, None),
        (LogisticRegression(), 50_000, None),
        (lambda X: X, 50_000, None),
    ],
)
def test_what_is_held_out(model, rows, says):
    found = hidden_splits(model, rows)
    if says is None:
        assert found == ()
    else:
        [sentence] = found
        assert "never trained the model" in sentence
        import re

        assert re.search(says, sentence)
