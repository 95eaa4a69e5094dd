"""What the replay of a log of explanations leaves behind: counts, and one person's status where it was asked for."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Moment(BaseModel):
    """After so many answers: people singled out by some recipient alone, and by all recipients together."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: int
    until: str = ""
    alone: int
    together: int


class Recipient(BaseModel):
    """What one recipient was sent; the name only where values were asked for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    answers: int
    people: int


class Status(BaseModel):
    """What was sent about one person: answers that show the row, and who can single the person out, since when."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answers: int
    recipients: int
    singled_out_by: int
    together: bool
    first_answer: int | None = None
    since: str = ""


class Exposure(BaseModel):
    """Who of the training people could be singled out from explanations that were sent.

    alone: people whom at least one recipient can single out from its own answers; together: all recipients together.
    wrong: answers that fit one person of the register who is not the person shown.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.exposure/1"] = "jali.exposure/1"
    jali: str = ""
    answers: int
    people: int
    quasi: list[str]
    shown: int
    alone: int
    together: int
    wrong: int
    timeline: list[Moment] = Field(default_factory=list)
    recipients: list[Recipient] = Field(default_factory=list)
    person: Status | None = None
    notes: list[str] = Field(default_factory=list)
