"""Fitted scikit-learn estimators as models: logits, matching of classes, and seeding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Model
from jali.core.values import Floats, Ints, Rng, Schema
from jali.data.tables.schema_files import label
from jali.models.fitted.answers import probabilities
from jali.models.fitted.linear import UNSEEN, LinearModel, lead
from jali.models.fitted.linearity import probed

SAMPLE = 500  # rows on which a decision function is compared with the probabilities


@dataclass(frozen=True, eq=False)
class FittedModel:
    """One fitted estimator. `feed` makes its input from raw rows; `position` (K,): its classes as class numbers.

    With `scored`, the decision function is the logit; otherwise the logit is the log of the clipped probability.
    """

    encoding: Encoding
    estimator: Any
    feed: Callable[[Floats], Any]
    position: Ints
    scored: bool

    @property
    def name(self) -> str:
        """The name of the estimator for messages."""
        return type(self.estimator).__name__

    @property
    def has_trees(self) -> bool:
        """Whether it is a tree, a forest or boosted trees of scikit-learn, outside a pipeline."""
        from sklearn import ensemble, tree

        boosted = ensemble.GradientBoostingClassifier, ensemble.HistGradientBoostingClassifier
        forests = ensemble.RandomForestClassifier, ensemble.ExtraTreesClassifier
        return isinstance(self.estimator, (tree.DecisionTreeClassifier, *forests, *boosted))

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, C) of raw rows (n, D); an unseen class gets the lowest score plus log(1e-12)."""
        rows = self.feed(X)
        scores = decision(self.estimator, rows) if self.scored else _log_probability(self.estimator, rows)
        if scores.shape != (len(X), len(self.position)) or not np.isfinite(scores).all():
            raise JaliError(
                f"{self.name} gave scores of shape {scores.shape}, or some that are not finite: expected one finite "
                f"number for each of {len(X)} rows and {len(self.position)} classes."
            )
        out = np.empty((len(X), len(self.encoding.schema.classes)))
        out[:] = (scores.min(axis=1) if self.scored else np.zeros(len(X)))[:, None] + UNSEEN
        out[:, self.position] = scores
        return out

    def linear(self, schema: Schema) -> LinearModel | None:
        """The same model as a linear function of the encoded features, or None if it is not one."""
        return self._linear if schema == self.encoding.schema else probed(self, Encoding(schema))

    @cached_property
    def _linear(self) -> LinearModel | None:
        return probed(self, self.encoding)


@runtime_checkable
class HasSlopes(Protocol):
    """An estimator, such as a torch module in its adapter, that knows the gradients of its scores."""

    def slopes(self, rows: Any, weight: Floats) -> tuple[Floats, Floats]:
        """Sums (n,) of the scores weighted by (n, K), and their gradients (n, D) by the columns of rows (n, D)."""


@dataclass(frozen=True, eq=False)
class SlopedModel(FittedModel):
    """A fitted estimator with gradients that reads numbers alone: z = (x - centre) / spread, so dz-slope = spread dx.

    The scores of two classes with one output are minus and plus one half of it, like those of `FittedModel`.
    """

    def gradient(self, Z: Floats, of: Ints) -> Floats:
        """Gradient (n, P) of the logit of class of (n,) at encoded rows Z (n, P)."""
        return self._slopes(Z, np.eye(len(self.position))[np.broadcast_to(self._own(of), len(Z))])[1]

    def margin(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """Logit of class of (n,) minus the best other one, (n,), and its gradient (n, P) at encoded rows Z (n, P)."""
        one = np.eye(len(self.position))
        mine = self._own(of)
        rival = lead(decision(self.estimator, self.feed(self._raw(Z))), mine)[1]
        return self._slopes(Z, one[mine] - one[rival])

    def _slopes(self, Z: Floats, weight: Floats) -> tuple[Floats, Floats]:
        value, slope = self.estimator.slopes(self.feed(self._raw(Z)), weight)
        return value, slope * self.encoding.scaling[2]

    def _raw(self, Z: Floats) -> Floats:
        """Raw rows (n, D) of encoded ones, as they are: not clipped to the bounds, where slopes would be others."""
        _, centre, spread = self.encoding.scaling
        return Z * spread + centre

    def _own(self, of: Ints) -> Ints:
        """The model's own number of each class (n,)."""
        own = np.zeros(len(self.encoding.schema.classes), dtype=np.int64)
        own[self.position] = np.arange(len(self.position))
        found: Ints = own[of]
        return found


@dataclass(frozen=True)
class Several:
    """Models of any kind as one ensemble."""

    models: Sequence[Model]

    def __len__(self) -> int:
        return len(self.models)

    def __getitem__(self, column: int) -> Model:
        return self.models[column]

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, M, C) of raw rows (n, D)."""
        return np.stack([model.logits(X) for model in self.models], axis=1)


def fitted(
    estimator: Any, feed: Callable[[Floats], Any], schema: Schema, position: Ints, sample: Floats
) -> FittedModel:
    """A fitted estimator as a model; sample: raw rows (n, D) on which the meaning of its scores is checked."""
    scored = _is_logit(estimator, feed(sample[:SAMPLE]))
    numbers = all(column.kind == "number" and not column.missing for column in schema.columns)
    kind = SlopedModel if scored and numbers and isinstance(estimator, HasSlopes) else FittedModel
    return kind(Encoding(schema), estimator, feed, position, scored)


def seeded(estimator: Any, rng: Rng) -> Any:
    """The estimator with every random_state in it, nested ones included, drawn from rng."""
    names = estimator.get_params()
    states = sorted(n for n in names if n.rpartition("__")[2] in ("random_state", "random_seed"))
    return estimator.set_params(**{name: int(rng.integers(2**31 - 1)) for name in states})


def fresh(estimator: Any) -> Any:
    """An unfitted copy: a clone or, where that fails, an object of the same class with the same parameters.

    CatBoost cannot be cloned with categorical features, because its constructor changes them.
    """
    from sklearn.base import clone

    if kept := _frozen(estimator):
        raise JaliError(
            f"Shadow models are clones of the given model, but its {kept} keeps what it has learnt when it is cloned, "
            "so they would all know the training rows: give fit=lambda X, y, seed: …, which trains everything anew."
        )
    try:
        return clone(estimator)
    except (TypeError, RuntimeError) as error:
        if isinstance(estimator, type) or not hasattr(estimator, "get_params") or not hasattr(estimator, "fit"):
            raise JaliError(
                f"Shadow models are clones of the given model, but a {type(estimator).__name__} cannot be cloned: give "
                "fit=lambda X, y, seed: …, which returns a trained model."
            ) from error
        return type(estimator)(**estimator.get_params(deep=False))


def _frozen(estimator: Any) -> str:
    """The name of a part of an estimator that stays fitted when it is cloned, such as a FrozenEstimator; or nothing."""
    from sklearn.base import BaseEstimator

    if not isinstance(estimator, BaseEstimator):
        return ""
    parts = [estimator, *estimator.get_params().values()]
    each = (part for part in parts if isinstance(part, BaseEstimator))
    return next((type(part).__name__ for part in each if _stays(part)), "")


def _stays(part: Any) -> bool:
    """Whether the clone of an estimator is the estimator itself."""
    from sklearn.base import clone

    try:
        return clone(part) is part
    except (TypeError, RuntimeError):  # what cannot be cloned is rebuilt
        return False


def trained(estimator: Any, rows: Any, labels: Any) -> Any:
    """The estimator, fitted to rows and labels; raises if it is no classifier."""
    return classifier(fitted_to(estimator, rows, labels))


def fitted_to(estimator: Any, rows: Any, labels: Any) -> Any:
    """The estimator, fitted to rows and labels."""
    try:
        estimator.fit(rows, labels)
    except Exception as error:  # a library of the user may raise anything
        raise JaliError(f"{type(estimator).__name__} could not be fitted: {first_line(error)}") from error
    return estimator


def classifier(estimator: Any) -> Any:
    """The estimator; raises if it has no classes."""
    if not hasattr(estimator, "classes_"):
        raise JaliError(f"{type(estimator).__name__} has no classes_: a fitted scikit-learn classifier was expected.")
    return estimator


def first_line(error: BaseException) -> str:
    """What an error of a user's library says, in one line."""
    return (str(error).strip() or type(error).__name__).split("\n")[0]


def scores_of(estimator: Any, rows: Any) -> Floats:
    """Scores (n, K) of a user's estimator, larger for likelier classes; `rows` as it reads them."""
    return _log_probability(estimator, rows) if hasattr(estimator, "predict_proba") else decision(estimator, rows)


def decided(estimator: Any, rows: Any) -> list[str] | None:
    """The class of each row that a user's estimator predicts, by name; None where it gives scores alone."""
    return [label(c) for c in np.ravel(estimator.predict(rows))] if hasattr(estimator, "predict") else None


def decision(estimator: Any, rows: Any) -> Floats:
    """The decision function (n, K); with two classes, minus and plus one half of it."""
    return shared(_ask(estimator, "decision_function", rows))


def shared(scores: Floats) -> Floats:
    """Scores (n, K) of K classes; a single score (n,) of two classes becomes minus and plus one half of it."""
    return np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores


def _log_probability(estimator: Any, rows: Any) -> Floats:
    return np.log(np.clip(_ask(estimator, "predict_proba", rows), np.exp(UNSEEN), 1.0))


def _is_logit(estimator: Any, rows: Any) -> bool:
    """Whether the softmax of the decision function is the probability, or the estimator has no probabilities."""
    if not hasattr(estimator, "decision_function"):
        return False
    if not hasattr(estimator, "predict_proba"):
        return True
    scores = decision(estimator, rows.copy())  # a scaler with copy=False changes what it is given
    probability = _ask(estimator, "predict_proba", rows)
    if scores.shape != probability.shape:
        return False
    return np.allclose(softmax(scores, axis=1), probability, rtol=1e-6, atol=1e-9)


def _ask(estimator: Any, method: str, rows: Any) -> Floats:
    name = f"{type(estimator).__name__}.{method}"
    try:
        answer = _probability(estimator, rows) if method == "predict_proba" else getattr(estimator, method)(rows)
    except JaliError:
        raise
    except Exception as error:  # a library of the user may raise anything
        why = _other_columns(estimator, rows) or first_line(error)
        raise JaliError(f"{name} cannot read rows of this table: {why}") from error
    if method == "predict_proba" and not _plain(answer, estimator):
        return probabilities(name, answer, list(classifier(estimator).classes_), len(rows))
    return np.asarray(answer, dtype=np.float64)


def _other_columns(estimator: Any, rows: Any) -> str:
    """What is wrong with the columns of rows, if the model was fitted on others; empty if it is something else."""
    if not hasattr(estimator, "feature_names_in_") or not hasattr(rows, "columns"):
        return ""
    wanted = [str(name) for name in estimator.feature_names_in_]
    given = [str(name) for name in rows.columns]
    if sorted(wanted) == sorted(given) and wanted != given:
        return "it was fitted on the same columns in another order: give X[list(model.feature_names_in_)]."
    if lacking := [name for name in wanted if name not in given]:
        return f"it was fitted with the column {lacking[0]!r}, which the table lacks (it has {', '.join(given[:8])})."
    if more := [name for name in given if name not in wanted]:
        return f"it was fitted without the column {more[0]!r}: give X[list(model.feature_names_in_)]."
    return ""


def _plain(answer: Any, estimator: Any) -> bool:
    """Whether an answer is an array with a column for each class, as scikit-learn gives it."""
    return isinstance(answer, np.ndarray) and answer.ndim == 2 and answer.shape[1] == len(estimator.classes_)


def _probability(estimator: Any, rows: Any) -> Any:
    """The probabilities (n, K) as scikit-learn has them; a forest, also at the end of a pipeline, takes a short cut."""
    from sklearn.pipeline import Pipeline

    if type(estimator) is Pipeline and len(estimator) > 1 and _is_forest(estimator[-1]):
        estimator, rows = estimator[-1], estimator[:-1].transform(rows)
    quick = _forest(estimator, rows)
    return estimator.predict_proba(rows) if quick is None else quick


def _is_forest(estimator: Any) -> bool:
    """Whether it is a forest of scikit-learn that uses one core."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    return type(estimator) in (RandomForestClassifier, ExtraTreesClassifier) and estimator.n_jobs in (None, 1)


def _forest(estimator: Any, rows: Any) -> Floats | None:
    """The probabilities (n, K) of a forest, without the overhead that scikit-learn has for each tree (0.1 ms).

    None if it is not a forest, may use several cores, or would refuse the rows.
    """
    numbers = _numbers(estimator, rows) if _is_forest(estimator) and estimator.n_outputs_ == 1 else None
    if numbers is None:
        return None
    with np.errstate(over="ignore"):
        Z = np.ascontiguousarray(numbers, dtype=np.float32)
    if not len(Z) or not np.isfinite(Z).all():
        return None
    out = np.zeros((len(Z), estimator.n_classes_))
    for tree in estimator.estimators_:
        out += tree.tree_.predict(Z)
    return np.asarray(out / len(estimator.estimators_))


def _numbers(estimator: Any, rows: Any) -> npt.NDArray[Any] | None:
    """Rows as an array of numbers (n, P) that the estimator accepts without a word, or None."""
    named = hasattr(rows, "columns")
    if named and list(rows.columns) != list(getattr(estimator, "feature_names_in_", ())):
        return None  # scikit-learn warns or refuses
    array = rows.to_numpy() if named else rows
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.shape[1] != estimator.n_features_in_:
        return None
    return array if array.dtype.kind in "fiub" else None
