"""What a run leaves behind: rows, one per number, in a versioned schema that reports only read."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Row(BaseModel):
    """One number with its interval and everything needed to read it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["attack", "contrast", "measure", "check"]
    metric: str
    value: float | None
    low: float | None = None
    high: float | None = None
    units: int = 0
    reason: str = ""
    explainer: str = ""
    channel: str = ""
    signal: str = ""
    attack: str = ""
    against: str = ""
    group: str = ""
    n: int = 0
    base_rate: float | None = None
    coverage: float | None = None
    interval: str = ""
    guarantee: str = ""
    key: str = ""


class Check(BaseModel):
    """One line of the sanity suite."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    passed: bool
    detail: str
    value: float | None = None
    low: float | None = None
    high: float | None = None


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


class Exposed(BaseModel):
    """One record of the exposed tail, by row number only (values only where asked for)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    record: int
    caught: int
    member_of: int
    rate: float
    values: dict[str, str] = Field(default_factory=dict)


class Results(BaseModel):
    """Everything a report reads."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.results/1"] = "jali.results/1"
    title: str = ""
    jali: str = ""
    config: dict[str, Any] = Field(default_factory=dict)
    facts: dict[str, Any] = Field(default_factory=dict)
    rows: list[Row] = Field(default_factory=list)
    sanity: list[Check] = Field(default_factory=list)
    curves: list[Curve] = Field(default_factory=list)
    exposed: list[Exposed] = Field(default_factory=list)
    threats: list[dict[str, str]] = Field(default_factory=list)
    not_tested: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    timings: dict[str, float] = Field(default_factory=dict)

    @property
    def valid(self) -> bool:
        """Whether every sanity check passed."""
        return all(check.passed for check in self.sanity)

    def find(self, **want: Any) -> list[Row]:
        """The rows whose fields equal what is wanted."""
        return [row for row in self.rows if all(getattr(row, k) == v for k, v in want.items())]
