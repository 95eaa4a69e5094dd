"""Methods of protection by name: an explainer that protects, or a private trainer whose model is explained freely."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, runtime_checkable

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Explainer, Gives, Prepared, Wants
from jali.core.guarantee import Private, Unmet
from jali.core.protocols import Differentiable, Ensemble, Linear, Model, Trainer, UsesPublicData
from jali.core.values import Bools, Dataset, Rng, Schema
from jali.defend.explain.k_anonymous import KAnonymous
from jali.defend.explain.k_groups import KGroups
from jali.explain.growing_spheres import GrowingSpheres
from jali.explain.linear_recourse import LinearRecourse
from jali.explain.nice import NICE
from jali.explain.scfe import SCFE

DEFAULT = "k_groups"
NAMED = {"mutual": 'k_anonymous(solver="mutual")'}  # for insiders who know everybody's quasi-identifiers
PLACEHOLDER = "public=lending()"  # stands where the rows of `population` are put


@dataclass(frozen=True)
class Population:
    """Rows at hand as a source of public data."""

    rows: Any

    def load(self) -> Dataset:
        """The rows."""
        assert isinstance(self.rows, Dataset)
        return self.rows


@runtime_checkable
class Wraps(Protocol):
    """An explainer that protects another one."""

    inner: Explainer


@runtime_checkable
class Fits(Protocol):
    """A trainer."""

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Ensemble:
        """Train models."""


@runtime_checkable
class Prepares(Protocol):
    """An explainer."""

    @property
    def gives(self) -> Gives:
        """What kind of explanation."""

    @property
    def wants(self) -> Wants:
        """What it needs from the model."""

    @property
    def reads_training_data(self) -> bool:
        """Whether it reads the training rows."""

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Prepared:
        """Make it ready for one model."""


@dataclass(frozen=True)
class Method:
    """A method as it was named, its explainer, or the trainer of a private model that takes the place of the user's."""

    text: str
    explainer: Explainer | None
    trainer: Trainer | None = None

    @property
    def part(self) -> Any:
        """The part that protects."""
        return self.explainer if self.trainer is None else self.trainer

    def explainer_for(self, model: Model) -> Explainer:
        """The explainer; of a private model, recourse that does not read the training rows."""
        if self.explainer is not None:
            return self.explainer
        if isinstance(model, Linear):
            return LinearRecourse()
        return SCFE() if isinstance(model, Differentiable) else GrowingSpheres()

    def unprotected(self) -> Explainer:
        """The explainer to compare with: the one that is wrapped, or else the nearest training row, made sparse."""
        return self.explainer.inner if isinstance(self.explainer, Wraps) else NICE("sparsity")

    @property
    def grid(self) -> dict[str, float]:
        """The declared widths of intervals by column."""
        return dict(self.explainer.grid) if isinstance(self.explainer, KGroups | KAnonymous) else {}


def method_of(given: Any, population: Dataset | None, grid: Mapping[str, float]) -> Method:
    """The method that was named, with the declared grid and the public rows put in."""
    if isinstance(given, Fits):
        return Method(registry.spec(given), None, _private(given))
    if isinstance(given, Prepares):
        part: Any = given
        _refuse_unmet(part)
        return _placed(Method(registry.spec(part), part), grid)
    if not isinstance(given, str):
        raise JaliError(f"method must be a name, such as {DEFAULT!r}, or a part, not {given!r}.")
    text = NAMED.get(given.strip(), given)
    name = _name(text)
    if name in registry.names("model"):
        return Method(given, None, _private(registry.build("model", text)))
    part = registry.build("explain", _with_public(text, name))
    if isinstance(part, UsesPublicData) and PLACEHOLDER in _with_public(text, name):
        if population is None:
            raise JaliError(f"{name} learns a direction from public rows: pass them as population=(X, y).")
        part = replace(part, public=Population(population))  # type: ignore[type-var]
    if isinstance(part, KAnonymous) and "repair" not in text:
        part = replace(part, repair="rounded")
    _refuse_unmet(part)
    return _placed(Method(given, part), grid)


def _name(text: str) -> str:
    found = re.match(r"\s*(\w+)\s*(\(|$)", text)
    return found[1] if found else ""


def _with_public(text: str, name: str) -> str:
    """The specification, with a placeholder where it names no public data and needs some."""
    if name not in registry.names("explain") or "public" in text.partition("(")[2]:
        return text
    if "public" not in {f.name for f in fields(registry.find("explain", name))}:
        return text
    inside = text.partition("(")[2].rpartition(")")[0].strip()
    return f"{name}({inside + ', ' if inside else ''}{PLACEHOLDER})"


def _private(trainer: Any) -> Trainer:
    if isinstance(trainer, Private):
        return trainer  # type: ignore[return-value]
    raise JaliError(
        f"{registry.name_of(trainer)} has no privacy guarantee, so it protects nobody: name dp_logistic or dp_sgd, or "
        "give it as the model and choose a method that protects its explanations."
    )


def _refuse_unmet(part: Any) -> None:
    """Refuse a part that lacks what its guarantee needs, such as a key."""
    if isinstance(part, Unmet) and (void := part.claim().void):
        raise JaliError(f"{registry.name_of(part)} is refused: {void}.")


def _placed(method: Method, grid: Mapping[str, float]) -> Method:
    if not grid:
        return method
    if not isinstance(method.explainer, KGroups | KAnonymous):
        raise JaliError(f"{method.text} shows no groups of people, so grid has no meaning for it: leave it out.")
    return replace(method, explainer=replace(method.explainer, grid=tuple(grid.items())))
