"""A user's surrogate: a fitted tree, rule list or other model that stands in for the black box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.adapters.explainers.has import has
from jali.adapters.explainers.user_view import UserView
from jali.core.errors import JaliError
from jali.core.protocols import Model
from jali.core.values import Floats, Schema
from jali.data.tables.frames import label
from jali.models.fitted.estimator import fitted
from jali.models.fitted.linear import UNSEEN


@dataclass(frozen=True, eq=False)
class Labels:
    """A surrogate that predicts labels alone; the scores are 0 for the label and very low for the others."""

    thing: Any
    view: UserView

    @property
    def name(self) -> str:
        """The name of its class."""
        return type(self.thing).__name__

    def logits(self, X: Floats) -> Floats:
        """Scores (n, C) of raw rows (n, D)."""
        labels = np.asarray(self.thing.predict(self.view.rows(X)))
        classes = self.view.schema.classes
        known = {name: number for number, name in enumerate(classes)}
        codes = [known.get(label(one), -1) for one in labels.ravel()]
        if len(codes) != len(X) or -1 in codes:
            raise JaliError(
                f"{self.name}.predict must return one of the classes {list(classes)} for each of {len(X)} rows: fit "
                "the surrogate to model.predict(rows)."
            )
        out = np.full((len(X), len(classes)), UNSEEN)
        out[np.arange(len(X)), codes] = 0.0
        return out


def surrogate(thing: Any, view: UserView, sample: Floats) -> Model:
    """A user's surrogate as a model; sample: raw rows (n, D) on which the meaning of its scores is checked."""
    named = has(thing, "classes_") and (has(thing, "predict_proba") or has(thing, "decision_function"))
    places = _places(thing.classes_, view.schema) if named else None
    return Labels(thing, view) if places is None else fitted(thing, view.feed, view.schema, places, sample)


def _places(classes: Any, schema: Schema) -> Any:
    """The class number (K,) of each of the surrogate's classes; None if it has others."""
    names = [label(one) for one in classes]
    known = {name: number for number, name in enumerate(schema.classes)}
    return np.array([known[name] for name in names]) if set(names) <= set(known) else None
