"""An explainer that a user brings: a factory, a function, or a finished object."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from jali.adapters.explainers.answers import Of, attributions, complete, plain
from jali.adapters.explainers.callers import Caller, caller, is_model
from jali.adapters.explainers.counterfactuals import by_content, counterfactuals, origins
from jali.adapters.explainers.quiet import WIDE, reseed, seed_of, seeded, silenced
from jali.adapters.explainers.surrogates import surrogate
from jali.adapters.explainers.user_view import Tile, UserView
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual, Explanation, Gives, Surrogate, Wants
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Rng, Schema
from jali.explain.native.placing import placed

FIRST = 256  # training rows among which the first ones to be explained are looked for
FEW = 8  # rows that are explained first
Style = Literal["make", "make from the model", "function", "finished"]


@dataclass(frozen=True, eq=False)
class Recipe:
    """How an explainer of one model comes about.

    call: `make(model, background)`, `make(model)`, a function `f(model, X)`, or a finished explainer, by style.
    """

    call: Any
    style: Style

    def thing(self, view: UserView, train: Floats) -> Any:
        """The explainer object of a model, made with its training rows (N, D); of a function, a function of rows."""
        model = view.thing
        if self.style == "make":
            return self.call(model, view.rows(train))
        if self.style == "make from the model":
            return self.call(model)
        return self.call if self.style == "finished" else lambda rows: self.call(model, rows)


class OwnExplainer:
    """An explainer of the user's, with what was seen of it when it was first called.

    It is no dataclass, because it has no specification: it is called by its name, and nothing of it is stored. of:
    which class attributions without an axis of classes are about. width: numbers per attribution. shows_rows: whether
    it showed a training row.
    """

    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True  # nobody can tell what a user's code reads
    reads_missing: ClassVar[bool] = True

    def __init__(self, recipe: Recipe, name: str, gives: Gives, of: Of = "predicted", local: bool = False) -> None:
        self.recipe = recipe
        self.name = name
        self.gives = gives
        self.of = of
        self.local = local
        self.width = 0
        self.shows_rows = False
        self.caution = ""

    def __repr__(self) -> str:
        return self.name

    @property
    def bound(self) -> bool:
        """Whether it explains one model only, so that shadow models cannot be explained."""
        return self.recipe.style == "finished"

    def releases_rows(self) -> bool:
        """Whether it showed a row of a training person when it was tried."""
        return self.shows_rows

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Ready:
        """Make the explainer of one model."""
        assert train is not None
        view = UserView.of(model, schema)
        with silenced(), seeded(int(rng.integers(WIDE))):
            try:
                thing = self.recipe.thing(view, train.X)
            except JaliError:
                raise
            except Exception as error:
                raise JaliError(
                    f"{self.name} could not be made for a model of this audit ({said(error)}): it is called once for "
                    "each model, with that model and its training rows."
                ) from error
        return Ready(self, view, thing, train)


@dataclass(eq=False)
class Ready:
    """The explainer of one model; failed: how many rows it could not explain, error: what the first of them raised."""

    part: OwnExplainer
    view: UserView
    thing: Any
    train: Dataset
    failed: int = 0
    error: Exception | None = field(default=None, repr=False)

    @cached_property
    def caller(self) -> Caller:
        """How its object is called."""
        found = caller(self.thing, self.view.thing)
        if found is None:
            raise JaliError(
                f"{self.part.name} made a {type(self.thing).__name__}, which cannot be called: return something that "
                "explains rows, such as lambda model, background: shap.TreeExplainer(model)."
            )
        return found

    @property
    def failures(self) -> tuple[int, str]:
        """How many rows it could not explain, and what went wrong with the first, without any value of a row."""
        wrong = "numbers that are missing or infinite, or values that the table does not have"
        return self.failed, wrong if self.error is None else f"{type(self.error).__name__} was raised"

    def explain(self, X: Floats, rng: Rng) -> Explanation:
        """Explain raw rows (n, D)."""
        schema = self.view.schema
        if X.ndim != 2 or X.shape[1] != len(schema.columns):
            shape = f" (images of {schema.image})" if schema.image else ""
            raise JaliError(f"{self.part.name} explains rows of {len(schema.columns)} columns{shape}, not {X.shape}.")
        base = int(rng.integers(WIDE))
        tile = Tile(self.view, X)
        if self.part.gives == "surrogate":
            return self._surrogate(tile, base)
        return self._attribution(tile, base) if self.part.gives == "attribution" else self._counterfactual(tile, base)

    def _attribution(self, tile: Tile, base: int) -> Attribution:
        value, found = self.raw_attributions(tile, base)
        self.failed += int((~found).sum())
        schema = self.view.schema
        if not found.any():
            value = np.zeros((len(tile), self.part.width or len(schema.columns)))
        width = value.shape[1]
        if self.part.width not in (0, width):
            raise JaliError(
                f"{self.part.name} gave {width} numbers per row for one model and {self.part.width} for another, so "
                "they cannot be compared: return one number per column of the table, and add up those of one column."
            )
        value = np.where(found[:, None], value, 0.0)
        return Attribution(placed(value, tile.X, schema) if width == len(schema.columns) else value, found)

    def raw_attributions(self, tile: Tile, base: int) -> tuple[Floats, Bools]:
        """The attributions (n, W) as they were given, and which rows (n,) have them."""
        about_second = self.view.second or (self.caller.second and len(self.view.position) == 2)
        of: Of = "second" if about_second else self.part.of
        value = self._read(attributions, self.answers(tile, base)[0], tile, of)
        return value, complete(value)

    def few(self) -> Tile:
        """A few training rows; where a class is favourable, rows without it, because they are explained."""
        tile = Tile(self.view, self.train.X[:FIRST])
        hoped = self.view.schema.favourable
        denied = np.flatnonzero(tile.decision != hoped)[:FEW]
        return tile.pick(denied if len(denied) else np.arange(min(FEW, len(tile))))

    def _counterfactual(self, tile: Tile, base: int) -> Counterfactual:
        """Counterfactuals of the rows without the favourable class; all rows where no class is favourable."""
        rows = np.array(tile.X)
        found = np.zeros(len(tile), dtype=bool)
        hoped = self.view.schema.favourable
        asked = np.arange(len(tile)) if hoped is None else np.flatnonzero(tile.decision != hoped)
        if len(asked):
            some = tile.pick(asked)
            answer, raised = self.answers(some, base)
            rows[asked], found[asked], illegal = self._read(counterfactuals, answer, some)
            self.failed += raised + illegal
        return Counterfactual(rows, found, origin=origins(rows, found, self._known))

    def _surrogate(self, tile: Tile, base: int) -> Surrogate:
        every = np.ones(len(tile), dtype=bool)
        if not self.part.local:
            return Surrogate((self._stand_in,), np.zeros(len(tile), dtype=np.int64), every)
        things = self.answers(tile, base)[0]
        if not isinstance(things, list | tuple) or len(things) != len(tile) or not all(map(is_model, things)):
            raise JaliError(f"{self.part.name} must return a model with predict for each of {len(tile)} rows.")
        models = tuple(surrogate(thing, self.view, self.train.X) for thing in things)
        return Surrogate(models, np.arange(len(tile)), every)

    @cached_property
    def _stand_in(self) -> Model:
        return surrogate(self.thing, self.view, self.train.X)

    @cached_property
    def _known(self) -> dict[bytes, int]:
        return by_content(self.train.X)

    def _read(self, read: Any, *given: Any) -> Any:
        """Read an answer; an error says whose answer it is."""
        try:
            return read(*given)
        except JaliError as error:
            raise JaliError(f"{self.part.name}: {error}") from None

    def answers(self, tile: Tile, base: int) -> tuple[Any, int]:
        """What the user's code says about a tile, and how many rows raised an error.

        One answer for all rows, or a list with one for each, None where it failed. Where a call about all rows fails,
        they are tried one by one, so that only those that fail are missing.
        """
        if self.caller.one_by_one:
            _ = tile.at  # predicted for all rows at once
        with silenced(), seeded(base):
            if not self.caller.one_by_one:
                try:
                    return plain(self.caller.ask(tile)), 0
                except Exception as error:
                    self._note(error)
            each = [self._alone(tile, i, base) for i in range(len(tile))]
        return [answer for answer, _ in each], sum(raised for _, raised in each)

    def _alone(self, tile: Tile, i: int, base: int) -> tuple[Any, bool]:
        """The answer about one row, drawn from a seed of its own, or that it failed."""
        reseed(seed_of(base, tile.X[i]))
        try:
            return plain(self.caller.ask(tile.pick(np.array([i])))), False
        except Exception as error:
            self._note(error)
            return None, True

    def _note(self, error: Exception) -> None:
        if isinstance(error, MemoryError):
            raise error
        self.error = self.error or error


def said(error: Exception) -> str:
    """An exception in one line, for the user who is at the keyboard; it may hold values, so it is never stored."""
    first = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {first[:200]}" if first else type(error).__name__
