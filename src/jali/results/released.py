"""What an attack on a released set of counterfactuals, or the linkage of one with a table, leaves behind."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from jali.results import Row


class Matches(BaseModel):
    """How many people of one kind have their row in the release: exactly, or in all columns but one.

    low and high: the 95 % interval of the share of exact matches.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    who: str
    n: int
    exact: int
    but_one: int
    low: float | None = None
    high: float | None = None


class Coverage(BaseModel):
    """What the first so many released rows give away: an attack's rate, and members whose row is among them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    released: int
    rate: Row
    exact: int


class ReleasedSet(BaseModel):
    """What candidates' distances to a released set say about who was in the training set.

    judged: whether membership was given; otherwise candidates are compared with people of the reference. best: the
    strongest attack on everybody, then on each class, the favourable one first; their intervals are corrected for
    having chosen among all attacks and classes.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.released/1"] = "jali.released/1"
    jali: str = ""
    judged: bool
    distance: str
    facts: dict[str, Any] = Field(default_factory=dict)
    rows: list[Row] = Field(default_factory=list)
    favourable: str = ""
    best: list[Row] = Field(default_factory=list)
    matches: list[Matches] = Field(default_factory=list)
    coverage: list[Coverage] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)


class KnownColumns(BaseModel):
    """Of how many answers so many people of a table fit the columns that others know.

    none, one, few (2 to 10), many: answers that fit so many people. people: people who fit some answer alone.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: list[str]
    none: int
    one: int
    few: int
    many: int
    median: float
    people: int


class Linkage(BaseModel):
    """Whether released answers are real people of a table.

    exact: answers that equal a person's row; people: how many people these are. but_one: in all columns but one.
    chance: answers expected to equal one if all were other people's; real: whether there are more.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.linkage/1"] = "jali.linkage/1"
    jali: str = ""
    released: int
    register_people: int
    columns: int
    exact: int
    people: int
    but_one: int
    chance: float
    null: str
    real: bool
    known: list[KnownColumns] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
