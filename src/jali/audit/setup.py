"""The setup of an audit: its parts, the data (loaded once) and the game (drawn once)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from jali.audit.attack_runs import AttackRun
from jali.audit.faithfulness import Faithful
from jali.audit.one_model import GAME, stream
from jali.core import registry
from jali.core.contents import files, untold
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.protocols import Attack, Design, ReadsMissing, Signal, Source, Trainer
from jali.core.values import Dataset, Game, Schema
from jali.parallel import Engine, Progress, Watch, cores, engine, silent
from jali.store import Guarded, Store

SMALL = 500_000  # cells of evidence: signals x records x models
FEWEST_PEOPLE = 20  # half of them members, that leaves few enough to learn from and to be judged


def no_progress(label: str) -> Progress:  # noqa: ARG001
    """No progress bars."""
    return silent


@dataclass(frozen=True)
class Experiment:
    """A point of the grid: one part of each kind, and a seed; faithful: how many attributions are tested."""

    data: Source
    model: Trainer
    game: Design
    explain: tuple[Explainer, ...] = ()
    attack: tuple[Attack, ...] = ()
    signal: tuple[Signal, ...] = ()
    runs: tuple[AttackRun, ...] = ()
    seed: int = 0
    faithful: Faithful | None = None


@dataclass(frozen=True)
class Resources:
    """Where and how an experiment runs; nothing here changes a number.

    workers: processes of this machine, or of a Dask cluster that is started here; 0: one per core. block: models of one
    task. store: for results by content key. engine: `processes`, `dask`, `dask://host:8786`, or an executor of
    `concurrent.futures`. exchange: where tables are published for workers, if not in the store.
    """

    workers: int = 1
    block: int = 4
    store: Store | None = None
    watch: Watch = no_progress
    engine: str | Executor | Engine = "processes"
    exchange: Store | None = None

    @property
    def pool(self) -> Engine:
        """The engine."""
        return engine(self.engine, self.workers or cores())

    @property
    def place(self) -> Store | None:
        """Where tables are published for workers of other machines."""
        return self.exchange or self.store

    def here(self) -> Resources:
        """The same, with the work in this process."""
        return replace(self, workers=1, engine="processes")

    def unstored(self) -> Resources:
        """The same, without results by content key, for what has no specification that a key could be made of."""
        return replace(self, store=None, exchange=self.place)

    def for_parts(self, parts: Any) -> Resources:
        """The same, without results by content key where a specification does not say all about these parts.

        Where files of a user's own are behind them, nothing more is stored once one of these has changed.
        """
        if self.store is None:
            return self
        if untold(parts):
            return self.unstored()
        behind = files(parts)
        return replace(self, store=Guarded.by(self.store, behind)) if behind else self

    def begin(self) -> None:
        """Note in the store that a run begins, so that `jali store` can tell what it used."""
        if self.store is not None:
            self.store.begin()

    def for_cells(self, cells: int) -> Resources:
        """The same, with the work in this process where so few cells are attacked before workers would have started."""
        return self.here() if cells <= SMALL else self


@dataclass(frozen=True)
class Setup:
    """An experiment with its data and its game; all later stages read these and load nothing."""

    parts: Experiment
    data: Dataset
    game: Game
    seconds: float = 0.0

    def with_game(self, design: Design, **parts: Any) -> Setup:
        """The same data in another game, or with other parts."""
        chosen = replace(self.parts, game=design, **parts)
        return Setup(chosen, self.data, draw_game(chosen, self.data), 0.0)

    def with_parts(self, **parts: Any) -> Setup:
        """The same data and game with other explainers, signals or attacks."""
        return replace(self, parts=replace(self.parts, **parts))


def load(experiment: Experiment) -> Setup:
    """Load the data and draw the game; an audit does this here and nowhere else."""
    began = time.perf_counter()
    _check_texts(experiment)
    data = experiment.data.load()
    if len(np.unique(data.y)) < 2:
        raise JaliError(f"The data hold one class only ({data.schema.classes[int(data.y[0])]!r}); two are needed.")
    _check_missing(experiment, data)
    _check_people(data)
    if data.outcome is not None and data.schema.favourable is None:
        _check_threshold(experiment)
    return Setup(experiment, data, draw_game(experiment, data), time.perf_counter() - began)


def _check_texts(experiment: Experiment) -> None:
    """Refuse two different parts with the same specification: nobody could tell their results apart."""
    for kind in ("explain", "signal", "attack"):
        known: dict[str, Any] = {}
        for part in getattr(experiment, kind):
            text = registry.spec(part)
            if known.setdefault(text, part) is not part and not _equal(known[text], part):
                raise JaliError(
                    f"Two different parts of kind {kind} are both written {text}, so their results could not be told "
                    "apart: give them a field that differs, such as a name."
                )


def _equal(one: Any, other: Any) -> bool:
    """Whether two parts are equal; parts that hold arrays cannot be compared, and count as different."""
    try:
        return bool(one == other)
    except ValueError:
        return False


def _check_people(data: Dataset) -> None:
    """Refuse data of a handful of people: most often a column that people are compared by was given as theirs."""
    people = len(data) if data.groups is None else len(np.unique(data.groups))
    if people < min(FEWEST_PEOPLE, len(data)):
        raise JaliError(
            f"The column of groups names only {people} people in {len(data)} rows, and an audit needs at least "
            f"{FEWEST_PEOPLE}. It must say whose row each is; a column that people are compared by, such as sex, is "
            "given as sensitive."
        )


def _check_missing(experiment: Experiment, data: Dataset) -> None:
    """Refuse explainers and query attacks that cannot read rows with missing numbers."""
    for part in experiment.explain:
        check_missing(part, data.schema)
    if experiment.runs and (hole := _hole(data.schema)):
        raise JaliError(f"Query attacks cannot read rows with missing numbers, and {hole}: fill them in first.")


def check_missing(part: Explainer, schema: Schema) -> None:
    """Refuse an explainer that cannot read rows with missing numbers, where a column has some."""
    hole = _hole(schema)
    if not hole or (isinstance(part, ReadsMissing) and part.reads_missing):
        return
    able = [n for n in registry.names("explain") if isinstance(registry.find("explain", n), ReadsMissing)]
    raise JaliError(
        f"{registry.name_of(part)} cannot explain rows with missing numbers, and {hole}: fill them in, or use "
        f"an explainer that can ({', '.join(able)})."
    )


def _hole(schema: Schema) -> str:
    """The first column with missing numbers, in words; empty if there is none."""
    holes = [column.name for column in schema.columns if column.missing]
    return f"column {holes[0]!r} has missing numbers" if holes else ""


def _check_threshold(experiment: Experiment) -> None:
    """Refuse recourse of a regression model that has no favourable side."""
    for part in experiment.explain:
        if part.gives == "counterfactual":
            raise JaliError(
                f"{registry.name_of(part)} gives recourse, which a regression model has only with a threshold that "
                "people hope to reach: give threshold=…."
            )


def draw_game(experiment: Experiment, data: Dataset) -> Game:
    """The game of an experiment on its data."""
    return experiment.game.draw(data, stream(experiment.seed, GAME))


def grid(experiment: Experiment, **axes: Sequence[Any]) -> Iterator[Experiment]:
    """Every combination of the given parts, the rest as in the experiment.

    >>> from jali.core.registry import build
    >>> e = Experiment(build("data", "lending"), build("model", "logistic"), build("game", "rotate"))
    >>> [x.seed for x in grid(e, seed=[1, 2])]
    [1, 2]
    """
    unknown = set(axes) - {f.name for f in fields(Experiment)}
    if unknown:
        raise JaliError(f"An experiment has no {sorted(unknown)[0]!r}; it has {[f.name for f in fields(Experiment)]}.")
    for combination in itertools.product(*axes.values()):
        yield replace(experiment, **dict(zip(axes, combination, strict=True)))
