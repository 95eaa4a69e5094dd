"""What the test of a privacy claim leaves behind."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from jali.core.errors import JaliError


class Verification(BaseModel):
    """What a test of a privacy claim found; `bounds` are lower bounds on epsilon by what an adversary looks at.

    distinguisher: how the data sets were told apart best before the evaluated draws. leaking_variables: through what
    the answer depends on the record while the declared mechanisms are held fixed. no_dependence_check: why that could
    not be checked, empty where it was. pairs: how many pairs of neighbouring data sets were tried. tables: how large
    their tables were, in words. pairs_changed: in how many of them the answer changed with the record while the noise
    was held fixed; None where it could not be held fixed. pairs_evaluated: in how many of them draws were evaluated.
    rarest: the least share of answers that give the record away which this number of draws would show nine times in
    ten; None if they cannot show any. minutes: the time for which a pilot fixed the number of draws. confidence: with
    which all bounds hold together. allowed: the epsilon that the claim allows in the pair of a bound, where it is not
    `epsilon`: a record that is replaced counts twice under add-remove adjacency.
    """

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.verification/2"] = "jali.verification/2"
    name: str
    claim: str
    epsilon: float
    draws: int = Field(ge=1)
    bounds: dict[str, float]
    allowed: dict[str, float] = Field(default_factory=dict)
    distinguisher: str
    lower: float
    ceiling: float
    verdict: Literal["REFUTED", "NOT REFUTED", "NOT TESTABLE"]
    leaking_variables: list[str] = Field(default_factory=list)
    no_dependence_check: str = ""
    recomputed: float | None = None
    assumes: list[str] = Field(default_factory=list)
    known_flaws: str = ""
    pairs: int = 1
    tables: str = ""
    pairs_changed: int | None = 1
    pairs_evaluated: int = 1
    rarest: float | None = Field(default=None, ge=1e-12, le=1)
    minutes: float | None = None
    seconds: float = 0.0
    confidence: float = Field(default=0.95, gt=0, lt=1)
    seed: int = 0
    jali: str = ""

    def exceeds(self, view: str) -> bool:
        """Whether what a view shows is more than the claim allows in its pair."""
        return self.bounds[view] > self.allowed.get(view, self.epsilon)

    @classmethod
    def read(cls, text: str) -> Verification:
        """A verification from the text of its file; of another schema, one sentence."""
        try:
            given = json.loads(text)
            version = given.get("schema_version") if isinstance(given, dict) else None
            if version == "jali.verification/2":
                return cls.model_validate(given)
        except (ValueError, RecursionError):
            version = "one that is damaged"
        raise JaliError(f"Expected a file of schema jali.verification/2, not {version}: run jali verify again.")


class Sighting(BaseModel):
    """How often a verifier refuted the claim of one mechanism of the zoo, in so many seeds with so many draws.

    fault: what is wrong with the mechanism; empty for a correct one. true: its true epsilon; infinite if it has none.
    """

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")

    name: str
    fault: str
    claimed: float
    true: float
    draws: int
    seeds: int
    refuted: int


class Scoreboard(BaseModel):
    """All sightings of a verifier in the zoo."""

    model_config = ConfigDict(extra="forbid", ser_json_inf_nan="strings")

    schema_version: Literal["jali.zoo/1"] = "jali.zoo/1"
    verifier: str
    sightings: list[Sighting]
