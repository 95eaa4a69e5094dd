"""A paper's figures in its file: curves, diagrams of ranks, trade-offs and bars, each by the places it shows."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from jali.core.errors import JaliError


class Strict(BaseModel):
    """A table of a paper's file; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Figure(Strict):
    """A figure: the same methods on several studies, one panel each, by study -> title.

    sorted: a measure of explanations, `metric`, of every record that was explained, in order of size.
    """

    figure: str
    kind: Literal["roc", "distances", "thresholds", "sorted"]
    methods: list[str]
    panels: dict[str, str]
    metric: str = ""

    def model_post_init(self, _: Any) -> None:
        """Refuse a sorted curve of nothing, and a metric that is not read."""
        if (self.kind == "sorted") != bool(self.metric):
            raise JaliError(f"{self.figure}: sorted curves, and these alone, need a metric.")


class Comparison(Strict):
    """A figure of ROC curves from several studies, one panel each: title -> label -> place."""

    figure: str
    panels: dict[str, dict[str, str]]


class CriticalDifference(Strict):
    """A critical-difference diagram: methods by their ranks in a metric over settings, label -> a place per setting."""

    figure: str
    metric: str
    methods: dict[str, list[str]]

    def model_post_init(self, _: Any) -> None:
        """Refuse methods that were not run in the same settings."""
        if len(self.methods) < 2 or len({len(places) for places in self.methods.values()}) != 1:
            raise JaliError(f"{self.figure} ranks two or more methods, each with one place per setting.")


class TradeOff(Strict):
    """A trade-off plot: a metric across, others upwards, one panel each; by: the query attack whose metrics they are.

    lines: label -> note -> place; each line joins the points of one defence, and notes (its settings) name them.
    """

    figure: str
    across: str
    upwards: list[str]
    by: str = ""
    lines: dict[str, dict[str, str]]


class Bars(Strict):
    """A bar chart: a metric of several series in several settings, series -> setting -> place."""

    figure: str
    metric: str
    lines: dict[str, dict[str, str]]
