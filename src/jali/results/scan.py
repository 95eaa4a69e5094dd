"""What a scan for training rows leaves behind: numbers and places, never values."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Place(BaseModel):
    """Rows at one place that equal training rows.

    rows: how many of the `of` rows there; people: how many training rows these are. nearly: rows that equal one in all
    columns but one. chance: rows expected to do so if all were other people's. columns: training columns compared, in
    which form. leak: whether there are more than chance explains. open: whether more other people are needed to tell.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    where: str
    library: str = ""
    what: str = ""
    of: int
    rows: int
    people: int
    nearly: int = 0
    chance: float
    columns: int
    form: str
    leak: bool
    open: bool = False
    fix: str = ""


class SmallCounts(BaseModel):
    """Counts of people at one place, how many of them are of one to four people."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    where: str
    library: str = ""
    counts: int
    small: int
    fix: str = ""


class Scan(BaseModel):
    """Where training rows and small counts lie. people: how many training rows are found anywhere."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.scan/1"] = "jali.scan/1"
    jali: str = ""
    what: str
    train: int
    people: int = 0
    tables: int = 0
    files: int = 0
    null: str = ""
    places: list[Place] = Field(default_factory=list)
    counts: list[SmallCounts] = Field(default_factory=list)
    skipped: dict[str, str] = Field(default_factory=dict)
    notes: list[str] = Field(default_factory=list)

    @property
    def leaks(self) -> list[Place]:
        """The places with more training rows than chance explains."""
        return [place for place in self.places if place.leak]
