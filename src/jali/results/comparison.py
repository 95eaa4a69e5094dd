"""What changed between two audits."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from jali.core.values import Channel


class Change(BaseModel):
    """One number before and after, and the difference with its interval.

    channel: what an attacker sees. before_of, after_of: the explanation on each side; empty for the model itself.
    paired: the difference was taken person by person and model by model. Otherwise both numbers count as independent,
    which makes the interval too wide where they are not. n: guesses per target model that both sides share.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: str
    kind: Literal["membership", "query attack", "measure"]
    before_of: str = ""
    after_of: str = ""
    channel: Channel | None = None
    attack: str = ""
    before: float | None = None
    after: float | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    paired: bool = False
    n: int = 0
    reason: str = ""

    @property
    def sure(self) -> bool:
        """Whether the interval of the change lies on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


class Comparison(BaseModel):
    """Two audits side by side; `paired` says whether people and training sets were the same, `why` if they were not."""

    model_config = ConfigDict(extra="forbid")

    schema_version: Literal["jali.comparison/1"] = "jali.comparison/1"
    jali: str = ""
    before: str
    after: str
    paired: bool
    why: str = ""
    settings: dict[str, tuple[str, str]] = Field(default_factory=dict)
    changes: list[Change] = Field(default_factory=list)
