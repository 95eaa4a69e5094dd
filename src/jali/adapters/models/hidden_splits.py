"""Estimators that hold out a part of the rows they are given: those "members" never trained the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

HELD_OUT = (
    "{name} holds out {share} of the rows it is given to decide when to stop ({why}): those rows count as members here "
    "but never trained the model, so the numbers of this audit are too low. {fix}."
)
AUTOMATIC = 10_000  # rows above which HistGradientBoosting holds some out unless it is told not to


def hidden_splits(model: Any, rows: int) -> tuple[str, ...]:
    """A sentence for each estimator, nested ones included, that holds rows out of its own training set."""
    return tuple(sentence for part in _inside(model) if (sentence := _held_out(part, rows)))


def needs_eval_set(model: Any) -> str:
    """Why a model cannot be trained again: XGBoost stops early on rows that only `fit` can name; or nothing."""
    for part in _inside(model):
        if type(part).__name__.startswith("XGB") and _given(part).get("early_stopping_rounds") is not None:
            return (
                "There are no shadow models, because XGBoost with early_stopping_rounds needs an eval_set when it is "
                "fitted: give fit=lambda X, y, seed: XGBClassifier(…).fit(X, y, eval_set=[…])."
            )
    return ""


def _held_out(part: Any, rows: int) -> str:
    """What one estimator holds out, by its settings."""
    name = type(part).__name__
    given = _given(part)
    share = given.get("validation_fraction")
    if name.startswith("HistGradientBoosting"):
        early = given.get("early_stopping")
        on = early is True or (early == "auto" and rows > AUTOMATIC)
        why = (
            f"early_stopping={early!r} with more than {AUTOMATIC:,} rows" if early == "auto" else "early_stopping=True"
        )
        return _said(name, share, why, "Fit it with early_stopping=False to audit all of them") if on and share else ""
    if given.get("early_stopping") is True and share:
        return _said(name, share, "early_stopping=True", "Fit it with early_stopping=False to audit all of them")
    if given.get("n_iter_no_change") is not None and share and "early_stopping" not in given:
        return _said(name, share, "n_iter_no_change", "Fit it with n_iter_no_change=None to audit all of them")
    if given.get("train_split") is not None:  # skorch
        cut = getattr(given["train_split"], "cv", 5)
        known = 1 / cut if isinstance(cut, int) else cut if isinstance(cut, float) else None
        return _said(name, known, "train_split", "Make it with train_split=None to audit all of them")
    if name.startswith("ExplainableBoosting") and given.get("outer_bags") == 1 and given.get("validation_size"):
        return _said(name, given["validation_size"], "outer_bags=1", "Make it with validation_size=0")
    return ""


def _said(name: str, share: Any, why: str, fix: str) -> str:
    part = f"{share:.0%}".replace("%", " %") if isinstance(share, float) else "a part"
    return HELD_OUT.format(name=name, share=part, why=why, fix=fix)


def _inside(model: Any) -> Iterator[Any]:
    """The estimator and all estimators that its parameters hold."""
    yield model
    seen = [model]
    for value in _given(model, deep=True).values():
        if hasattr(value, "get_params") and not isinstance(value, type) and not any(value is s for s in seen):
            seen.append(value)
            yield value


def _given(part: Any, deep: bool = False) -> dict[str, Any]:
    """The parameters of an estimator; nothing where it has none to show."""
    if not hasattr(part, "get_params") or isinstance(part, type):
        return {}
    found: dict[str, Any] = part.get_params(deep=deep)
    return found
