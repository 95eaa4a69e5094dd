"""What a frontier leaves behind: configurations, what attacks reach, what they are worth, and which beat which."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jali.core import files
from jali.core.claims import Harm
from jali.core.errors import JaliError
from jali.core.values import Channel

SCHEMA = "jali.frontier/1"


class Number(BaseModel):
    """A number with its 95 % interval over target models and people, or the reason why there is none."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: float | None
    low: float | None = None
    high: float | None = None
    units: int = 0
    reason: str = ""


class Configuration(BaseModel):
    """One configuration: family is the part that protects, or `unprotected`; void: why its guarantee does not hold."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    family: str
    model: str
    explain: str
    guarantee: str = ""
    void: str = ""


class Leak(BaseModel):
    """What the strongest attack of a family reached; it was chosen on the validation targets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    configuration: str
    learns: Harm
    channel: Channel | None
    metric: str
    attack: str
    tried: int
    validation: Number
    fresh: Number


class Worth(BaseModel):
    """A measure of utility, of everybody or of one sensitive group; n: people it was measured on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    configuration: str
    measure: str
    group: str
    n: int
    validation: Number
    fresh: Number


class Dominance(BaseModel):
    """A pair of which one is surely better on the validation targets, and the same pair on fresh ones.

    leak: how much more the worse one leaks; use: how much more the better one is worth. holds: on the fresh targets it
    leaks less and is worth no less, by the numbers; sure_again: by the whole of both intervals. None where one of them
    has no number there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    better: str
    worse: str
    leak: Number
    use: Number
    fresh_leak: Number | None = None
    fresh_use: Number | None = None
    holds: bool | None = None
    sure_again: bool | None = None


class Plane(BaseModel):
    """One kind of leakage against one measure; front and perhaps were decided on the validation targets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    learns: Harm
    channel: Channel | None
    metric: str
    measure: str
    front: list[str]
    perhaps: list[str]
    dominances: list[Dominance] = Field(default_factory=list)


class Choice(BaseModel):
    """The configuration that the rule chose on the validation targets; empty where none met it.

    instead: where none did, the one that loses least of those that surely leak less; empty where none surely does.
    saved: how much less it leaks than the unprotected one, on fresh targets, paired by target and person.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    configuration: str
    rule: str
    instead: str = ""
    saved: Number | None = None


class Selection(BaseModel):
    """What looking at these people's rows cost: models trained, and epsilon of the private ones by basic composition.

    private: configurations with a guarantee that holds; bits: what the name of the chosen one alone can say.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    models: int
    private: int
    epsilon: float
    delta: float
    bits: float


class Frontier(BaseModel):
    """All of it; measured is the kind of leakage that the page shows first."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.frontier/1"] = "jali.frontier/1"
    title: str = ""
    jali: str = ""
    date: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    validation_targets: int
    fresh_targets: int
    people: int
    configurations: list[Configuration]
    leaks: list[Leak]
    worth: list[Worth]
    planes: list[Plane]
    choice: Choice
    selection: Selection
    seconds: float = 0.0
    notes: list[str] = Field(default_factory=list)

    def claimed(self) -> list[Dominance]:
        """All dominances that were claimed, of all planes."""
        return [d for plane in self.planes for d in plane.dominances]


def read(file: Path) -> Frontier:
    """A frontier from its file; of another schema, or of none, one sentence."""
    try:
        text = files.content(file)
        given = json.loads(text)
    except OSError as error:
        raise JaliError(f"Cannot read {file}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise JaliError(f"{file} is not JSON: give the results.json of a frontier.") from None
    version = given.get("schema_version") if isinstance(given, dict) else None
    if version != SCHEMA:
        raise JaliError(f"{file} does not hold a frontier ({SCHEMA}): give the results.json of `jali frontier`.")
    try:
        return Frontier.model_validate_json(text)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise JaliError(f"{file} does not follow {SCHEMA} at {where}: run the frontier again.") from None
