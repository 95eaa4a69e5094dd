"""What a reproduction leaves behind: a paper's claims beside our numbers, its figures, and what was run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from jali.results import Check, Curve, Row

Verdict = Literal["matches", "deviates", "not resolvable"]


class Needs(BaseModel):
    """What would settle a claim that is not resolvable, if our number stays where it is.

    targets: target models in all; times: as many times the width's square must shrink, so also how many times the
    people where these cause the width; hours: of the studies behind it, at their present time per target. No targets:
    more than can be run; neither targets nor times: our number lies on the limit.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    targets: int | None = None
    times: float | None = None
    hours: float | None = None
    at_least: bool = False  # the times are of a run that read, or may have read, stored results


Spread = tuple[float, float | None, float | None, int]  # a number, the ends of its interval, its target models


class Finding(BaseModel):
    """One published number or sentence beside ours; `published` is None for a sentence, which orders two numbers.

    `quantity` reads alone, such as "AUC of CFD on scfe" or the sentence itself; `section` groups findings, such as
    "Table 2, heloc". For a sentence `value` is the difference that the sentence says is positive (or nothing).
    `place` says of what our number is, so that a claim can be judged again without a run. item, row, column: where a
    number stands in the paper, in its own words. released: ours was made as released by the authors. differs: why a
    deviation is expected: whose set-up, or whose error, is known or unknown. needs: what would resolve it.
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
    item: str = ""
    row: str = ""
    column: str = ""
    released: bool = False
    exact: bool = False  # ours is of the paper's own models: the values are compared, not the interval
    differs: str = ""
    weak: bool = False  # it could not have failed here, whatever is true: the reason says why
    needs: Needs | None = None

    @property
    def ours(self) -> bool:
        """Whether the claim is one that we added: then the paper neither stated it nor answers for it."""
        return re.match(r"ours?\b", self.source, re.IGNORECASE) is not None


def published(findings: Iterable[Finding]) -> list[Finding]:
    """The claims of the paper, each once: ours beside a number as released by the authors is not counted again."""
    stated = [f for f in findings if not f.ours]
    released = {_where(f) for f in stated if f.released}
    return [f for f in stated if f.released or not f.row or _where(f) not in released]


def _where(finding: Finding) -> tuple[str, str, str]:
    return finding.item, finding.row, finding.column


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
    """One panel: curves, distances of members and others, accuracy by threshold, trade-offs, ranks, or bars."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    figure: str
    title: str
    kind: Literal["roc", "distances", "thresholds", "trade-off", "ranks", "sorted", "bars"]
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


class Item(BaseModel):
    """A table or figure of a paper: what it is about, and why nothing of it stands here, if so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    about: str = ""
    left_out: str = ""


class Moved(BaseModel):
    """Published numbers that match, each moved up and down: how many there are, and how many would deviate then."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    moved: int
    deviate: int

    @property
    def share(self) -> float:
        """The share that would deviate; nothing can fail to be seen where nothing matches."""
        return self.deviate / self.moved if self.moved else 1.0


class Chosen(BaseModel):
    """A study that a budget chose before anything was run: with how many targets, how long, and for how many claims."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    study: str
    targets: int
    hours: float
    settles: int


class Study(BaseModel):
    """One experiment behind the findings: what was run, its sizes, how long it took, whether its checks passed.

    attacks: AUC of each method that guesses membership, with its interval and targets, for claims and pages to come.
    others: how many non-members each of these methods judges in the target that has the fewest, which chance levels
    of rates depend on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    parts: dict[str, str]
    facts: dict[str, Any] = Field(default_factory=dict)
    seconds: float = 0.0
    sanity: list[Check] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    measures: list[Row] = Field(default_factory=list)
    capped: list[Capped] = Field(default_factory=list)
    attacks: dict[str, Spread] = Field(default_factory=dict)
    others: dict[str, int] = Field(default_factory=dict)
    skipped: str = ""
    smaller: str = ""  # than in the paper, even at --scale paper, and why
    stored: int | None = None  # models whose results were read from the store, not made; None: not recorded
    more: str = ""  # that it was run with more target models than the paper's file has for this scale
    made: str = ""  # when, if not with the rest
    scale: str = ""  # at which scale, if not that of the rest
    due: str = ""  # why a new run is due, where the paper's file has changed since


class Reproduction(BaseModel):
    """Everything a page of reproduction reads."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.reproduction/2"] = "jali.reproduction/2"
    paper: str
    title: str
    citation: str
    note: str = ""
    contents: list[Item] = Field(default_factory=list)
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
    moved: Moved | None = None  # whether its verdicts could have failed
    budget: str = ""  # what --budget allowed, if it chose the studies
    chosen: list[Chosen] = Field(default_factory=list)

    @property
    def published(self) -> list[Finding]:
        """The claims of the paper, each once."""
        return published(self.findings)
