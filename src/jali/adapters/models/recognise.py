"""Which kind of model a user brought, and how its shadow models are trained."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.adapters.models.function import FunctionModel
from jali.adapters.models.hidden_splits import hidden_splits, needs_eval_set
from jali.adapters.models.http import HttpModel
from jali.adapters.models.onnx import OnnxModel, is_session
from jali.adapters.models.torch_module import TorchModule, is_module, reseeded, training_mode
from jali.core.errors import JaliError
from jali.core.values import Rng
from jali.models.fitted.estimator import first_line
from jali.models.given import Cloned, Refit

Fit = Callable[..., Any]
GIVE_FIT = "give fit=lambda X, y, seed: …, which returns a trained model"


@dataclass(frozen=True)
class Brought:
    """A user's model as an estimator, how its shadow models are trained (None: `without` says why not), and notes."""

    estimator: Any
    refit: Refit | None
    without: str = ""
    notes: tuple[str, ...] = ()


def brought(model: Any, fit: Fit | None, classes: Sequence[Any], rows: int) -> Brought:
    """A fitted model of any kind that is known; classes: in the order of its answers, where it does not say itself."""
    mode = training_mode(model)
    estimator = as_estimator(model, classes)
    if fit is not None:
        return Brought(estimator, Trained(fit, list(classes)), notes=(*mode, *hidden_splits(model, rows)))
    if estimator is not model and hasattr(model, "get_params"):  # an estimator that predicts labels alone
        return Brought(estimator, PredictsLabels(Cloned(model), list(classes)), notes=hidden_splits(model, rows))
    if estimator is not model:
        why = f"There are no shadow models, because a {type(model).__name__} cannot be trained again: {GIVE_FIT}."
        return Brought(estimator, None, why, mode)
    if why := needs_eval_set(model):
        return Brought(estimator, None, why)
    try:
        return Brought(estimator, reseeded(model, Cloned(model)), notes=hidden_splits(model, rows))
    except JaliError as error:
        return Brought(estimator, None, f"There are no shadow models. {error}")


def as_estimator(model: Any, classes: Sequence[Any]) -> Any:
    """The model itself where it has classes_ and scores, or an adapter of its kind that has both."""
    if isinstance(model, str):
        raise JaliError(
            f"With train and population, model must be a fitted model of your own, not the text {model!r}: leave train "
            "and population out to audit a trainer of ours."
        )
    if isinstance(model, type):
        raise JaliError(f"model is the class {model.__name__}, not a fitted model: fit one, as in model().fit(X, y).")
    if is_session(model):
        return OnnxModel(model, classes)
    if hasattr(model, "classes_") and (hasattr(model, "predict_proba") or hasattr(model, "decision_function")):
        return model
    if is_module(model):
        return TorchModule(model, classes)
    if hasattr(model, "predict_proba"):
        check_fitted(model)
        owner = None if isinstance(model, HttpModel) else model  # an endpoint answers in lists, which no library reads
        return FunctionModel(model.predict_proba, classes, type(model).__name__, owner)
    if hasattr(model, "predict"):
        check_fitted(model)
        return FunctionModel(model.predict, classes, type(model).__name__, model)
    if callable(model):
        return FunctionModel(model, classes, _name(model))
    raise JaliError(
        f"model is a {type(model).__name__}, which has neither predict_proba nor can be called: give a fitted "
        "classifier, or a function predict_proba(X) that returns one probability for each row and class."
    )


def check_fitted(model: Any) -> None:
    """Refuse an estimator of scikit-learn that was not fitted, or that knows no probabilities by its settings."""
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    if not isinstance(model, BaseEstimator):
        return
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        raise JaliError(f"The {type(model).__name__} is not fitted: call its fit(X, y) on the training rows.") from None


def as_array(answer: Any) -> npt.NDArray[Any]:
    """An answer, or a tensor of torch, as an array."""
    return np.asarray(answer.detach().cpu().numpy() if hasattr(answer, "detach") else answer)


def _name(function: Any) -> str:
    found = getattr(function, "__name__", type(function).__name__)
    return "Your function" if found == "<lambda>" else str(found)


class PredictsLabels:
    """Trains clones of an estimator without scores; each is adapted as the given model was."""

    def __init__(self, refit: Refit, classes: list[Any]) -> None:
        self.refit = refit
        self.classes = classes

    def fit(self, rows: Any, labels: Any, rng: Rng) -> Any:
        """A fitted clone, as an estimator."""
        return as_estimator(self.refit.fit(rows, labels, rng), self.classes)


class Trained:
    """Trains a shadow model by the user's own function fit(X, y, seed), which may return a model of any known kind.

    Without classes the model is returned as it is.
    """

    def __init__(self, function: Fit, classes: list[Any] | None) -> None:
        if not callable(function):
            raise JaliError(f"fit must be a function fit(X, y, seed) that returns a model, not {function!r}.")
        self.function = function
        self.classes = classes

    def fit(self, rows: Any, labels: Any, rng: Rng) -> Any:
        """The model that the user's function returns, as an estimator."""
        seed = int(rng.integers(2**31 - 1))
        arguments = (rows, np.asarray(labels), seed)[: 3 if _takes_seed(self.function) else 2]
        try:
            model = self.function(*arguments)
        except JaliError:
            raise
        except Exception as error:  # a user's code may raise anything
            raise JaliError(f"fit(X, y, seed) failed: {type(error).__name__}: {first_line(error)}") from error
        if model is None:
            raise JaliError("fit(X, y, seed) returned nothing: end it with `return model`.")
        return model if self.classes is None else as_estimator(model, self.classes)


def _takes_seed(function: Fit) -> bool:
    try:
        inspect.signature(function).bind(0, 0, 0)
    except TypeError:
        return False
    except ValueError:  # a function without a signature, such as one of C
        return True
    return True
