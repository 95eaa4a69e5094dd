"""What a reproduction leaves behind: a paper's claims beside our numbers, its figures, and what was run."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from jali.results import Check, Curve, Row

Verdict = Literal["matches", "deviates", "not resolvable"]


class Finding(BaseModel):
    """One published number or sentence beside ours; `published` is None for a sentence, which orders two numbers.

    `quantity` reads alone, such as "AUC of CFD on scfe" or the sentence itself; `section` groups findings, such as
    "Table 2, heloc". For a sentence `value` is the difference that the sentence says is positive (or nothing).
    `place` says of what our number is, so that a claim can be judged again without a run.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    quantity: str
    section: str
    source: str
    kind: Literal["value", "order", "same", "count"]
    bound: Literal["", "most", "least"] = ""
    published: float | None = None
    tolerance: float = 0.0
    value: float | None = None
    low: float | None = None
    high: float | None = None
    units: int = 0
    verdict: Verdict
    reason: str = ""
    place: str = ""

    @property
    def ours(self) -> bool:
        """Whether the claim is one that we added: then the paper neither stated it nor answers for it."""
        return re.match(r"ours?\b", self.source, re.IGNORECASE) is not None


class Series(BaseModel):
    """One line of a drawing: y over x; a histogram has one more x than y, its edges.

    spread: half-widths (left, right, down, up) of the intervals around each point, where there are any.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    x: list[float]
    y: list[float]
    spread: list[tuple[float, float, float, float]] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class Ranked(BaseModel):
    """Methods by their average rank over settings, with Nemenyi's critical distance and the Friedman test."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    names: tuple[str, ...]
    rank: tuple[float, ...]
    distance: float
    statistic: float
    p: float
    settings: int


class Drawing(BaseModel):
    """One panel: ROC curves, distances of members and others, accuracy by threshold, a trade-off, or ranks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    figure: str
    title: str
    kind: Literal["roc", "distances", "thresholds", "trade-off", "ranks"]
    curves: list[Curve] = Field(default_factory=list)
    series: list[Series] = Field(default_factory=list)
    axes: tuple[str, str] = ("", "")
    ranked: Ranked | None = None


class Capped(BaseModel):
    """A result of an attack beside the most that its guarantee allows; looser: the bound of Pawelczyk et al. (2023).

    void: why the guarantee does not hold here; the cap is then what it would allow, and proves or contradicts nothing.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    what: str
    metric: str
    value: float
    low: float
    high: float
    cap: float
    looser: float | None = None
    guarantee: str = ""
    refuted: bool = False
    void: str = ""

    @property
    def exceeds(self) -> bool:
        """Whether the whole interval lies above the cap."""
        return self.low > self.cap


class Study(BaseModel):
    """One experiment behind the findings: what was run, its sizes, how long it took, whether its checks passed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    parts: dict[str, str]
    facts: dict[str, Any] = Field(default_factory=dict)
    seconds: float = 0.0
    sanity: list[Check] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    measures: list[Row] = Field(default_factory=list)
    capped: list[Capped] = Field(default_factory=list)
    skipped: str = ""


class Reproduction(BaseModel):
    """Everything a page of reproduction reads."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.reproduction/2"] = "jali.reproduction/2"
    paper: str
    title: str
    citation: str
    note: str = ""
    scale: str
    command: str
    made: str = ""
    judged: str = ""  # when its numbers were judged again, if they were
    versions: dict[str, str] = Field(default_factory=dict)
    seconds: float = 0.0
    memory_mb: float = 0.0
    findings: list[Finding] = Field(default_factory=list)
    drawings: list[Drawing] = Field(default_factory=list)
    studies: list[Study] = Field(default_factory=list)
