"""A protected explainer as users hold it: answers, guarantee and price, files, and its audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jali.api.own_model import NO_MODEL
from jali.api.parts import part_of, text_of
from jali.api.result import Audit
from jali.api.running import armed, run_setup
from jali.audit.setup import Experiment, Resources
from jali.config import checked
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.protocols import Design, Existing, Trainer
from jali.core.values import Dataset
from jali.games.given_model import GivenModel
from jali.games.rotate import Rotate
from jali.models.given import Given
from jali.protect import files, received
from jali.protect.budget import Budget
from jali.protect.explainer import ProtectedExplainer
from jali.protect.top_columns import TopColumns, top_columns

if TYPE_CHECKING:
    import pandas as pd

    from jali.results import Row

SHOWN = ("metric", "explainer", "channel", "against", "attack", "value", "low", "high")


@dataclass(frozen=True)
class Stacked:
    """Training rows followed by a population, as a source of data for audits."""

    train: Any
    population: Any

    def load(self) -> Dataset:
        """Both, one after the other; a person of the training rows is nobody of the population."""
        train, people = self.train, self.population
        groups = None
        if train.groups is not None:
            groups = np.r_[train.group_numbers(), len(train) + np.arange(len(people))]
        return Dataset(np.r_[train.X, people.X], np.r_[train.y, people.y], train.schema, groups)


@dataclass(frozen=True, eq=False, repr=False)
class BeforeAndAfter:
    """Two explanations of the same people, audited alike: without protection and with it.

    Where protection leaves the model as it is, both were attacked in one audit, for the same targets and people.
    """

    before: Audit
    after: Audit
    unprotected: str
    protected: str

    def to_frame(self) -> pd.DataFrame:
        """What explanations add to predictions (paired differences), and what attacks reach, before and after."""
        import pandas as pd

        lines = [*_lines(self.before, self.unprotected, "before"), *_lines(self.after, self.protected, "after")]
        return pd.DataFrame(lines)

    def save(self, out: str | Path) -> list[Path]:
        """Write the report of each audit into a folder of its own; one report where there is one audit."""
        if self.before is self.after:
            return [self.after.save(out)]
        return [self.before.save(Path(out) / "before"), self.after.save(Path(out) / "after")]

    def __repr__(self) -> str:
        return f"before: {self.unprotected}\nafter: {self.protected}\n{self.to_frame().to_string(index=False)}"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


@dataclass(frozen=True, eq=False, repr=False)
class Protected(ProtectedExplainer):
    """A protected explainer with its files and its audit; `jali.protect` makes it."""

    def audit(
        self,
        population: tuple[Any, Any],
        *,
        attack: Sequence[Any] = (),
        game: Any = None,
        seed: int = 0,
        resources: Resources | None = None,
    ) -> BeforeAndAfter:
        """Attack the explanations before and after protection, for the same people.

        A model of your own is the target, with clones of it as shadow models; shadow models go through the same
        protection. Where the method trains a private model, both trainers are audited in the same game (`rotate`).
        """
        if self.train is None:
            raise JaliError("An audit needs the training rows, which are not in a file: make it with jali.protect.")
        source = Stacked(self.train, self.people(population))
        plain = self.method.unprotected()
        if self.method.trainer is None:
            chosen = part_of("game", game) if game else self._default_game()
            both = (plain, self.method.explainer_for(self.model))
            found = _audited(source, self.trainer, chosen, both, attack, seed, resources)
            return BeforeAndAfter(found, found, registry.spec(plain), registry.spec(both[1]))
        chosen = part_of("game", game) if game else Rotate(models=16)
        own = self.trainer.unfitted() if isinstance(self.trainer, Existing) else self.trainer
        if own is None:
            raise JaliError("There is no model to compare with: pass yours to jali.protect as the first argument.")
        recourse = self.method.explainer_for(self.model)
        before = _audited(source, own, chosen, (plain,), attack, seed, resources)
        after = _audited(source, self.method.trainer, chosen, (recourse,), attack, seed, resources)
        return BeforeAndAfter(before, after, registry.spec(plain), registry.spec(recourse))

    def top_columns(
        self, k: int, epsilon: float, explain: Any = "kernel_shap", budget: Budget | None = None
    ) -> TopColumns:
        """Which columns matter most over the training rows, by an attribution, with epsilon-differential privacy.

        The model itself is not covered. With a budget, the same question is paid for once.
        """
        if self.train is None:
            raise JaliError("The training rows are not in a file: make the explainer with jali.protect.")
        return top_columns(part_of("explain", explain), self.model, self.train, k, epsilon, budget)

    def save(self, folder: str | Path) -> Path:
        """Write what answers are made from, as JSON and npz; no training row, and no model of your own."""
        return files.save(self, Path(folder))

    @classmethod
    def load(cls, folder: str | Path, model: Any = None) -> Protected:
        """Read what `save` wrote; model: your own fitted model, where the explainer was made for one."""
        about = received.read(Path(folder))
        given = None if model is None else Given(model, _inputs(model)).existing(_nobody(about.table))
        found = files.load(Path(folder), about, given)
        return cls(**{f.name: getattr(found, f.name) for f in fields(found)})

    def _default_game(self) -> Design:
        members = len(self.train) if self.train is not None else 0
        return GivenModel(members) if isinstance(self.trainer, Given) else Rotate(models=16)


def _inputs(model: Any) -> Any:
    """Whether a model was fitted on a table with names or on an array."""
    return "frame" if hasattr(model, "feature_names_in_") else "array"


def _nobody(schema: Any) -> Dataset:
    """One row of a schema, for a check of what a model's scores mean; it is nobody's."""
    row = [np.rint(c.centre) if c.kind == "integer" else c.centre for c in schema.columns]
    return Dataset(np.array([row]), np.zeros(1, dtype=np.int64), schema)


def _audited(
    source: Stacked,
    trainer: Trainer,
    game: Design,
    explain: tuple[Explainer, ...],
    attack: Sequence[Any],
    seed: int,
    resources: Resources | None,
) -> Audit:
    """One audit; its data and model have no specification, so its configuration names the evidence."""
    experiment = Experiment(source, trainer, game, explain=explain, seed=seed)
    named = {"model": type(trainer).__name__, "game": text_of(game), "seed": seed}
    config = checked(NO_MODEL | named | {"explain": [registry.spec(e) for e in explain]})
    return run_setup(armed(experiment, attack, ""), resources or Resources(), config, False, named=bool(attack))


def _lines(audit: Audit, explainer: str, when: str) -> list[dict[str, Any]]:
    rows: list[Row] = [r for r in audit.results.rows if r.explainer == explainer and not r.group]
    kept = [r for r in rows if r.kind in ("contrast", "query attack") and r.value is not None]
    return [{"when": when, "kind": r.kind} | {name: getattr(r, name) for name in SHOWN} for r in kept]
