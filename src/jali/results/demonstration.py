"""What the demonstration leaves behind: five findings about one model of real people."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from jali.results import Results
from jali.results.released import Linkage, ReleasedSet
from jali.results.verification import Verification


class Deployed(BaseModel):
    """The model that is demonstrated on: its accuracy on people it was not trained on, beside what others reach.

    compared: cross-validated accuracy on the same training rows, by kind of model.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    specification: str
    trained_on: int
    accuracy: float
    compared: dict[str, float]

    @property
    def behind(self) -> float:
        """How far its accuracy is below the best of the others; negative if it is above."""
        return max(self.compared.values()) - self.accuracy


class Release(BaseModel):
    """Counterfactuals that were handed out, what attacks find in them, and what they are worth to people.

    asked: people without the favourable outcome. answered: share of them who got an answer. valid: share of the answers
    whose row has the outcome. columns: mean share of the columns that change.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    explainer: str
    asked: int
    answered: float
    valid: float
    columns: float
    attacked: ReleasedSet
    linked: Linkage


class Demonstration(BaseModel):
    """Five findings: a released set, membership from attributions, two privacy claims, protection, and what stays open.

    audit: of attributions and of reason codes made from them; its own folder has its report.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.demonstration/1"] = "jali.demonstration/1"
    jali: str = ""
    date: str = ""
    seed: int
    data: str
    licence: str
    candidates: int
    model: Deployed
    bare: Release
    protected: Release
    guarantee: str
    audit: Results = Field(exclude=True)
    claims: list[Verification]
    seconds: float = 0.0
