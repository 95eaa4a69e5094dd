"""What a user gave as an explainer, from its first call: a factory, a function or a finished object."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from jali.adapters.explainers.answers import Of
from jali.adapters.explainers.callers import caller, is_model
from jali.adapters.explainers.has import called, has, library
from jali.adapters.explainers.kinds import kind_of
from jali.adapters.explainers.own import FEW, OwnExplainer, Ready, Recipe, Style, said
from jali.adapters.explainers.quiet import seeded, silenced
from jali.adapters.explainers.trial import tried
from jali.adapters.explainers.user_view import Tile, UserView
from jali.core.errors import JaliError
from jali.core.explanation import Gives
from jali.core.protocols import Model
from jali.core.values import Dataset

FIRST = 256  # training rows of the first call
EXAMPLE = "explain=[lambda model, background: shap.TreeExplainer(model)]"
PIPELINE = (
    "and this model is a pipeline: if the explainer reads its last step, write "
    "explain=[lambda model, X: shap.TreeExplainer(model[-1])(model[:-1].transform(X))]"
)
FORMS = (
    "explain=[…] takes names of explainers, functions make(model, background) that return an explainer, functions "
    "f(model, X) that return answers, and explainer objects"
)


@dataclass(frozen=True, eq=False)
class Wanted:
    """What a user wants to audit as an explainer, with what its first call cannot show; see `jali.explainer`."""

    make: Any
    kind: Gives | None = None
    of: Of = "predicted"
    name: str = ""


def recognised(given: Any, model: Model, train: Dataset) -> OwnExplainer:
    """The explainer that a user gave, tried on the model and some of its training rows."""
    wanted = given if isinstance(given, Wanted) else Wanted(given)
    view = UserView.of(model, train.schema)
    order = np.random.default_rng(0).permutation(len(train))
    some = train.rows(order[:FIRST])
    before = model.logits(some.X)
    style, thing = _style(wanted, view, some, train)
    recipe = Recipe(wanted.make, style)
    name = wanted.name or called(wanted.make) or ("explainer" if style == "function" else called(thing) or "explainer")
    part = OwnExplainer(recipe, name, wanted.kind or "attribution", wanted.of)
    ready = Ready(part, view, recipe.thing(view, some.X) if style == "function" else thing, some)
    _set_kind(part, ready, wanted.kind)
    part = tried(part, ready)
    if not np.array_equal(model.logits(some.X), before):
        raise JaliError(
            f"{name} changed the model while it explained rows: its predictions are others than before. Give it a "
            "copy, as in lambda model, X: explain(copy.deepcopy(model), X), and load or fit your model again."
        )
    return part


def _style(wanted: Wanted, view: UserView, some: Dataset, train: Dataset) -> tuple[Style, Any]:
    """How the user's object is to be used, and the explainer object of this model if it is or makes one."""
    make = wanted.make
    function = inspect.isroutine(make) or isinstance(make, type | partial)
    needs = _required(make)
    owned = inspect.isroutine(make) and has(make, "__self__") and library(make) != "builtins"
    finished = library(make) == "shap" or not callable(make) or needs != 2  # shap's take any number of arguments
    if not function and finished:
        if caller(make, view.thing) is None and not is_model(make):
            raise JaliError(f"{FORMS}, not {_what(make)}: write {EXAMPLE}.")
        return "finished", make
    if needs > 2 or (isinstance(make, type) and needs == 0):
        raise JaliError(f"{FORMS}; {called(make) or 'this function'} needs {needs} arguments: write {EXAMPLE}.")
    if needs == 2:
        return _of_two(make, view, some, train)
    return ("finished", make) if owned else _of_one(make, view, some)


def _of_two(make: Any, view: UserView, some: Dataset, train: Dataset) -> tuple[Style, Any]:
    """A function of the model and rows: a factory if it returns something to call, else it answers itself."""
    name = called(make) or "The function in explain"
    try:
        first = _first(make, view.thing, view.rows(some.X))
    except Exception as error:
        first, some = _again(make, view, some, train)
        if first is None:
            example = PIPELINE if has(view.thing, "named_steps") else f"such as {EXAMPLE}"
            raise JaliError(
                f"{name} failed when it was called with the model and training rows ({said(error)}): {FORMS}, "
                f"{example}."
            ) from error
    if _is_answer(first, view, some):
        return "function", None
    if caller(first, view.thing) is None and not is_model(first):
        raise JaliError(
            f"{name} returned {_what(first)}, which is neither an answer nor "
            f"something that explains rows: return an array (rows, columns), or an explainer, such as {EXAMPLE}."
        )
    return "make", first


def _again(make: Any, view: UserView, some: Dataset, train: Dataset) -> tuple[Any, Dataset]:
    """What a second try returns, and its rows: a factory may need more rows, a function may fail on some of them."""
    tries = [train, *(some.rows(np.array([i])) for i in range(min(FEW, len(some))))]
    for rows in tries:
        try:
            first = _first(make, view.thing, view.rows(rows.X))
        except Exception:
            continue
        if rows is train or _is_answer(first, view, rows):
            return first, rows
    return None, some


def _of_one(make: Any, view: UserView, some: Dataset) -> tuple[Style, Any]:
    """A function of one argument: it makes an explainer of the model, or explains rows."""
    try:
        first = _first(make, view.thing)
        if not _is_answer(first, view, some) and (caller(first, view.thing) is not None or is_model(first)):
            return "make from the model", first
    except Exception as error:  # a function may expect rows; what a class expects is the model
        if isinstance(make, type):
            raise JaliError(
                f"{called(make)} cannot be made from this model, which is a {type(view.thing).__name__} "
                f"({said(error)}): use an explainer for such models, or write explain=[lambda model, background: …]."
            ) from error
    return "finished", make


def _first(make: Any, *given: Any) -> Any:
    with silenced(), seeded(0):
        return make(*given)


def _is_answer(first: Any, view: UserView, some: Dataset) -> bool:
    """Whether the first call returned an answer about its rows."""
    return kind_of(first, Tile(view, some.X), doubts=False) is not None


def _set_kind(part: OwnExplainer, ready: Ready, kind: Gives | None) -> None:
    """Say what kind of explanation it gives, from its first answer where the user did not say it."""
    if is_model(ready.thing) and kind in (None, "surrogate"):
        part.gives = "surrogate"
        return
    part.gives = kind or ready.caller.gives or _answered(part, ready)
    part.local = part.gives == "surrogate"


def _answered(part: OwnExplainer, ready: Ready) -> Gives:
    """The kind of explanation that the first answer shows."""
    few = ready.few()
    answer, _ = ready.answers(few, 0)
    if isinstance(answer, list) and all(one is None for one in answer) and ready.error is not None:
        raise JaliError(
            f"{part.name} could not explain any of {len(few)} rows ({said(ready.error)}): it must explain rows as the "
            "model reads them."
        ) from ready.error
    kind = kind_of(answer, few)
    if kind is None:
        raise JaliError(
            f"{part.name} answered with {_what(answer)}: return an array (rows, columns) of attributions, a table of "
            f"counterfactuals, or an answer of shap, lime, dice_ml, alibi or captum, such as {EXAMPLE}."
        )
    return kind


def _required(make: Any) -> int:
    """How many positional arguments a call needs; a function of any number of them is one of two."""
    try:
        parameters = inspect.signature(make).parameters.values()
    except (TypeError, ValueError):
        return 1
    ways = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    needed = sum(p.kind in ways and p.default is inspect.Parameter.empty for p in parameters)
    loose = any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters)
    return 2 if loose and needed == 0 else needed


def _what(thing: Any) -> str:
    """What was given or returned, in a word or two."""
    return "nothing" if thing is None else f"an object of type {type(thing).__name__}"


def renamed(parts: list[Any]) -> None:
    """Give explainers of users that have the same name a number each."""
    mine = [part for part in parts if isinstance(part, OwnExplainer)]
    taken: dict[str, int] = {}
    for part in mine:
        taken[part.name] = taken.get(part.name, 0) + 1
        if taken[part.name] > 1:
            part.name = f"{part.name} {taken[part.name]}"
