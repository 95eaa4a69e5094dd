"""What an audit leaves behind: rows, one per number, in a versioned schema that reports only read.

`reproduction` and `verification` hold what `jali reproduce` and `jali verify` leave behind.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from jali.core import files
from jali.core.claims import Harm
from jali.core.errors import JaliError
from jali.core.values import Channel

SCHEMA = "jali.results/2"
FORMER = frozenset({"ignored_below"})
Kind = Literal["attack", "contrast", "availability", "paired", "query attack", "change", "measure"]
DIFFERENCES: frozenset[Kind] = frozenset({"contrast", "availability"})


class Row(BaseModel):
    """One number with its interval, and a field for each thing that it is about.

    kind: an attack on signals; a paired difference of two of them (contrast) and its two sides on the same people
    (paired); the same difference over everybody where whether an explanation is given is all that is read of it
    (availability); a query attack; what it achieves on a defended explanation minus on the bare one, `beside`, for the
    people whom the bare one answers (change), and its two sides (paired); or a measure of the model or its
    explanations.
    learns: what the attack is after. combined: the attack reads several signals together. against: of a contrast, what
    the attacker sees without the explanation. knowledge: what a query attack holds beforehand. target: the one model
    that it is about, where it is about one. group: the subgroup of people. queries: rows that a query attack asked
    about, per target model. convention: whose way of counting it follows, where it is not ours.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    units: int = 0
    reason: str = ""
    learns: Harm | None = None
    explainer: str = ""
    channel: Channel | None = None
    signal: str = ""
    attack: str = ""
    combined: bool = False
    against: Channel | None = None
    knowledge: str = ""
    beside: str = ""
    target: int | None = None
    group: str = ""
    n: int = 0
    base_rate: float | None = None
    coverage: float | None = None
    interval: str = ""
    queries: int = 0
    unchanged: int | None = None  # of a contrast: target models that the attack judges the same with and without
    detectable: float | None = None  # of a contrast: the addition that 8 of 10 audits like this would find
    guarantee: str = ""
    convention: str = ""
    key: str = ""

    @model_validator(mode="before")
    @classmethod
    def _without_former_fields(cls, given: Any) -> Any:
        """Files of this schema from before the positive control have fields that nothing reads any more."""
        return {k: v for k, v in given.items() if k not in FORMER} if isinstance(given, dict) else given


class Check(BaseModel):
    """One line of the sanity suite."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    passed: bool
    detail: str
    value: float | None = None
    low: float | None = None
    high: float | None = None


class PositiveControl(BaseModel):
    """Additions planted in an explanation beside one baseline, and what the attack recovered of them, in AUC.

    power: the share of audits like this that would find it. detectable: the addition that 8 of 10 would find; None if
    none that was tried. reason: why there is no control.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    explainer: str
    against: Channel | None
    sizes: list[float] = Field(default_factory=list)
    recovered: list[float] = Field(default_factory=list)
    power: list[float] = Field(default_factory=list)
    detectable: float | None = None
    reason: str = ""


class Curve(BaseModel):
    """A ROC curve averaged over targets on a grid of false-positive rates, with a band."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    explainer: str = ""
    fpr: list[float]
    tpr: list[float]
    low: list[float]
    high: list[float]
    floor: float


class Picture(BaseModel):
    """A byte per channel, row and column of a picture, in that order, as base64."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: tuple[int, int, int]
    pixels: str


class Heat(BaseModel):
    """What one explainer says about one picture under one model, member: which was trained on it, and what that said.

    drawn: attributions summed over channels, 128 for nothing and 127 steps either way to the largest in the record's
    maps by this explainer, `reach`, so that maps under several models compare. chance: probability of the prediction.
    Sides of more than 64 pixels are drawn smaller.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    explainer: str
    model: int
    member: bool
    prediction: str
    chance: float
    reach: float
    drawn: Picture


class Exposed(BaseModel):
    """One record of the exposed tail, by row number only (values only where asked for).

    recognised: of the `member_of` target models trained on it, how many gave it away to the attack, which sees the
    channel (with this explainer) and is read at a metric such as `tpr@0.01`.
    Where records are pictures, the values are `label`, `picture` and `maps`: a map shows the outline of its picture.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    record: int
    recognised: int
    member_of: int
    rate: float
    attack: str = ""
    explainer: str = ""
    channel: Channel | None = None
    metric: str = ""
    values: dict[str, str] = Field(default_factory=dict)
    label: str = ""
    picture: Picture | None = None
    maps: list[Heat] = Field(default_factory=list)


class Threat(BaseModel):
    """What one adversary is assumed to see, to know, to have and to ask."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    channel: str
    sees: str
    knows: str
    has: str
    asks: str


class StatedGuarantee(BaseModel):
    """A guarantee of a part: for what, in words, what it rests on, and why it is false where that is known.

    void: which condition is visibly not met, so that nothing is guaranteed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    claim: str
    assumes: list[str] = Field(default_factory=list)
    refuted: str = ""
    void: str = ""


class Results(BaseModel):
    """Everything a report reads."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.results/2"] = "jali.results/2"
    title: str = ""
    jali: str = ""
    date: str = ""  # day on which it was made, UTC
    config: dict[str, Any] = Field(default_factory=dict)
    facts: dict[str, Any] = Field(default_factory=dict)
    rows: list[Row] = Field(default_factory=list)
    sanity: list[Check] = Field(default_factory=list)
    controls: list[PositiveControl] = Field(default_factory=list)
    curves: list[Curve] = Field(default_factory=list)
    exposed: list[Exposed] = Field(default_factory=list)
    image: tuple[int, int, int] | None = None
    threats: list[Threat] = Field(default_factory=list)
    not_tested: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    contradicted: list[str] = Field(default_factory=list)
    guarantees: list[StatedGuarantee] = Field(default_factory=list)
    examples: dict[str, Any] = Field(default_factory=dict)  # answers as people read them, if values were asked for
    timings: dict[str, float] = Field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether every sanity check passed."""
        return all(check.passed for check in self.sanity)

    def find(self, **want: Any) -> list[Row]:
        """The rows whose fields equal what is wanted."""
        return [row for row in self.rows if all(getattr(row, k) == v for k, v in want.items())]

    def specification(self, explainer: str) -> str:
        """The specification of an explanation, which rows call by its name where that is unique; empty if not known."""
        given = [str(text) for text in self.config.get("explain", [])]
        if explainer in given:
            return explainer
        named = [text for text in given if text.partition("(")[0] == explainer.partition("(")[0]]
        return named[0] if len(named) == 1 else ""


def read(file: Path) -> Results:
    """The results of an audit from their file; of another schema, or of none, one sentence."""
    try:
        text = files.content(file)
        given = json.loads(text)
    except OSError as error:
        raise JaliError(f"Cannot read {file}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise JaliError(f"{file} is not JSON: give the folder of an audit or its results.json.") from None
    version = given.get("schema_version") if isinstance(given, dict) else None
    if version != SCHEMA:
        raise JaliError(_other(file, version))
    try:
        return Results.model_validate_json(text)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise JaliError(f"{file} does not follow {SCHEMA} at {where}: run the audit again.") from None


def _other(file: Path, version: object) -> str:
    """What a file of another schema is, and what to do."""
    if isinstance(version, str) and version.startswith("jali.results/"):
        return (
            f"{file} holds results of schema {version}, and this version of jali reads {SCHEMA}: run the audit again."
        )
    return f"{file} does not hold the results of an audit: give the folder of an audit or its results.json."
