"""Regression models as models of two classes: below a threshold, and from it on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jali.adapters.models.onnx import is_session
from jali.adapters.models.recognise import Trained, as_array, check_fitted
from jali.adapters.models.torch_module import is_module, outputs
from jali.core.errors import JaliError
from jali.core.values import Floats, Rng
from jali.data.tables.outcomes import Cut
from jali.models.fitted.estimator import first_line
from jali.models.given import Cloned, Refit


class Regressor:
    """A regression model f as a classifier whose decision function is (f - threshold) / spread.

    >>> model = Regressor(lambda X: 3 * X[:, 0], Cut(threshold=2.0, spread=4.0))
    >>> model.decision_function(np.array([[2.0]])), model.classes_.tolist()
    (array([1.]), ['below 2', 'at least 2'])
    """

    def __init__(self, model: Any, cut: Cut) -> None:
        self.model = model
        self.cut = cut
        self.classes_ = np.asarray(cut.classes)

    def __repr__(self) -> str:
        return f"Regressor({type(self.model).__name__})"

    @property
    def own(self) -> Any:
        """The regression model."""
        return self.model

    def decision_function(self, rows: Any) -> Floats:
        """How far (n,) the prediction lies above the threshold, in units of the outcome's spread."""
        name = type(self.model).__name__
        try:
            found = as_array(_function(self.model)(rows))
        except JaliError:
            raise
        except Exception as error:  # a user's code may raise anything
            raise JaliError(f"{name} cannot read rows of this table: {first_line(error)}") from error
        found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
        if found.shape != (len(rows),) or found.dtype.kind not in "fiub" or not np.isfinite(found).all():
            raise JaliError(f"{name} must predict one finite number for each of {len(rows)} rows, not {found.shape}.")
        return self.cut.scaled(found.astype(np.float64))


def _function(model: Any) -> Callable[[Any], Any]:
    """What predicts a number for each row."""
    if is_session(model):
        [entry] = model.get_inputs()
        return lambda rows: model.run(None, {entry.name: np.asarray(rows, dtype=np.float32)})[0]
    if is_module(model):
        return lambda rows: outputs(model, rows)
    if hasattr(model, "predict"):
        check_fitted(model)
        function: Callable[[Any], Any] = model.predict
        return function
    if hasattr(model, "predict_proba"):  # an endpoint answers with whatever its model predicts
        asked: Callable[[Any], Any] = model.predict_proba
        return asked
    if callable(model):
        named: Callable[[Any], Any] = model
        return named
    raise JaliError(f"model is a {type(model).__name__}, which has no predict and cannot be called.")


class RegressorRefit:
    """Trains shadow models on true values, which the table keeps relative to the threshold, in units of the spread."""

    def __init__(self, refit: Refit, cut: Cut) -> None:
        self.refit = refit
        self.cut = cut

    def fit(self, rows: Any, labels: Any, rng: Rng) -> Regressor:
        """A fitted regression model."""
        if np.asarray(labels).dtype.kind != "f":
            raise JaliError(
                "This attack trains models on labels that it asked for, which a regression model has none of."
            )
        return Regressor(self.refit.fit(rows, self.cut.restored(labels), rng), self.cut)


def as_refit(model: Any, fit: Callable[..., Any] | None, cut: Cut) -> RegressorRefit:
    """How shadow models of a regression model are trained: by the user's function, or as clones."""
    return RegressorRefit(Cloned(model) if fit is None else Trained(fit, None), cut)


def is_regression(model: Any, labels: Any, threshold: float | None) -> bool:
    """Whether a model predicts numbers: a threshold is given, scikit-learn says so, or the labels can be no classes."""
    from sklearn.base import is_regressor

    if threshold is not None and hasattr(model, "classes_"):
        raise JaliError(
            f"threshold cuts the number that a regression model predicts, and {type(model).__name__} is a classifier: "
            "leave it out."
        )
    if threshold is not None:
        return True
    if hasattr(model, "classes_") or isinstance(model, type | str):
        return False
    if hasattr(model, "__sklearn_tags__") and is_regressor(model):
        return True
    values = np.asarray(labels)
    return values.dtype.kind == "f" and bool((values % 1 != 0).any())
