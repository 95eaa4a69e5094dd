"""Objects of other libraries, made ready for one model that was trained here."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from jali.adapters.explainers.own import OwnExplainer, Ready, Recipe
from jali.adapters.explainers.user_view import UserView
from jali.core.errors import JaliError
from jali.core.explanation import Gives
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Schema


def imported(module: str, part: str, extra: str) -> Any:
    """A library; if it is missing, the error says what to install."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its import warnings concern other libraries, not our users
            return importlib.import_module(module)
    except ImportError:
        library = module.partition(".")[0]
        raise JaliError(f"{part} needs {library}, which is not installed: pip install 'jali-audit[{extra}]'.") from None


def on_numbers(model: Model, schema: Schema, feed: Callable[[Floats], Any] = np.array) -> UserView:
    """A model that reads arrays: raw rows (n, D) with categories as codes, or what `feed` makes of them."""
    return UserView(model, schema, model, feed, np.arange(len(schema.classes)))


def made(name: str, gives: Gives, view: UserView, thing: Any, train: Dataset | None) -> Ready:
    """An explainer object of one model, ready to explain."""
    empty = Dataset(np.zeros((0, len(view.schema.columns))), np.zeros(0, dtype=np.int64), view.schema)
    return Ready(OwnExplainer(Recipe(thing, "finished"), name, gives), view, thing, empty if train is None else train)


def required(name: str, train: Dataset | None) -> Dataset:
    """The training set; raises where there is none."""
    if train is None or not len(train):
        raise JaliError(f"{name} reads the training set, but none was given: pass it as train.")
    return train
