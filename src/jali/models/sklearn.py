"""Any scikit-learn classifier, given by its import path."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.core import imports
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.imports import KNOWN, ImportPath
from jali.core.protocols import Ensemble, Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.models.fitted.estimator import FittedModel, Several, decision, fitted, seeded, trained
from jali.models.fitted.linear import UNSEEN, LinearModel, joined
from jali.models.fitted.membership_check import checked


@dataclass(frozen=True)
class Sklearn:
    """A scikit-learn classifier on the encoded features, with literal parameters and a random_state drawn per model.

    Logits are the decision function where its softmax is the probability, else the log of the clipped probability.
    Estimators with coef_ and intercept_ become linear models.

    >>> Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=50, max_depth=4").estimator
    'sklearn.ensemble:RandomForestClassifier'
    """

    estimator: ImportPath
    params: str = ""

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Ensemble:
        """Train one estimator per column of member (N, M); column j draws from rngs[j] alone."""
        member = checked(data, member, rngs)
        models = [self._column(data.rows(mine), rng) for mine, rng in zip(member.T, rngs, strict=True)]
        linear = [model for model in models if isinstance(model, LinearModel)]
        return joined(linear) if len(linear) == len(models) else Several(models)

    def _column(self, own: Dataset, rng: Rng) -> Model:
        encoding = Encoding(own.schema)
        estimator = trained(self.fresh(rng), encoding.encode(own.X), own.y)
        position: Ints = np.asarray(estimator.classes_, dtype=np.int64)
        model = fitted(estimator, encoding.encode, own.schema, position, own.X)
        return _linear(model, own.X) or model

    def fresh(self, rng: Rng) -> Any:
        """The untrained estimator, with every random_state drawn from rng."""
        cls = _classifier(self.estimator)
        try:
            return seeded(cls(**literals(self.params)), rng)
        except TypeError as error:
            raise JaliError(f"sklearn: {self.estimator} does not take params={self.params!r}: {error}.") from None


def _classifier(path: str) -> Any:
    try:
        cls = imports.named(path)
    except JaliError as error:
        raise JaliError(
            f"sklearn: there is no estimator {path!r}; write package.module:Class, "
            f"such as sklearn.ensemble:RandomForestClassifier. ({error})"
        ) from error
    gives = hasattr(cls, "predict_proba") or hasattr(cls, "decision_function")
    if not isinstance(cls, type) or not hasattr(cls, "fit") or not gives:
        raise JaliError(f"sklearn: {path!r} must be a class with fit and predict_proba or decision_function.")
    package = path.partition(":")[0].partition(".")[0]
    if package in KNOWN and not _is_classifier(
        cls
    ):  # a configuration file may not call anything else of these packages
        raise JaliError(f"sklearn: {path!r} must be a classifier that scikit-learn defines.")
    return cls


def _is_classifier(cls: type) -> bool:
    from sklearn.base import BaseEstimator, ClassifierMixin

    defined = cls.__module__.partition(".")[0] in KNOWN
    return defined and issubclass(cls, BaseEstimator) and issubclass(cls, ClassifierMixin)


def literals(params: str) -> dict[str, Any]:
    """Keyword arguments from a text of plain values; nothing is evaluated."""
    try:
        call = ast.parse(f"_({params})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Name):
            raise ValueError
        return {_named(k): ast.literal_eval(k.value) for k in call.keywords}
    except (ValueError, SyntaxError, TypeError):
        raise JaliError(
            f"sklearn: params must be keyword arguments with plain values, such as "
            f"'n_estimators=50, max_depth=4', not {params!r}."
        ) from None


def _named(keyword: ast.keyword) -> str:
    if keyword.arg is None:  # **something
        raise ValueError
    return keyword.arg


def _linear(model: FittedModel, X: Floats) -> LinearModel | None:
    """The linear model of an estimator's coef_ and intercept_, if its decision function agrees with it."""
    coef, intercept = (np.atleast_1d(getattr(model.estimator, name, np.nan)) for name in ("coef_", "intercept_"))
    width = len(model.encoding.source)
    if not model.scored or coef.shape[-1] != width or coef.ndim != 2 or len(coef) != len(intercept):
        return None
    if len(coef) == 1:
        coef = np.vstack([-coef, coef]) / 2
        intercept = np.r_[-intercept, intercept] / 2
    Z = model.encoding.encode(X)
    scores, claimed = decision(model.estimator, Z), Z @ coef.T + intercept
    if claimed.shape != scores.shape or not np.allclose(claimed, scores):
        return None
    return _placed(model, coef, intercept, scores.min() + UNSEEN)


def _placed(model: FittedModel, coef: Floats, intercept: Floats, unseen: float) -> LinearModel:
    """A linear model of the schema's C classes from weights (K, P) and intercepts (K,) of the estimator's K classes."""
    schema: Schema = model.encoding.schema
    weights = np.zeros((coef.shape[1], len(schema.classes)))
    weights[:, model.position] = coef.T
    b = np.full(len(schema.classes), unseen)
    b[model.position] = intercept
    return LinearModel(model.encoding, weights, b)
