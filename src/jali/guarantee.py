"""What a private mechanism promises: to whom, how much, and for which of the things that are released."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

from jali.core import JaliError

if TYPE_CHECKING:
    from dp_accounting import DpEvent

Adjacency = Literal["replace-one", "add-remove"]
Covered = Literal["decisions", "explanations", "one noised score"]
Noise = Literal["pure", "laplace"]
SECRET = "the random draws and their seed stay secret: whoever can repeat the noise can subtract it"


@dataclass(frozen=True)
class Guarantee:
    """A claim of (epsilon, delta) differential privacy in the training data.

    adjacency: data sets that differ by one record replaced, or by one added or removed. covers: what may be released
    under it. per: the price of one release, or of all there will ever be. assumes: what must be true besides the
    arithmetic, for this mechanism (`conditions` adds what every claim rests on). refuted: why the claim is false, where
    it is known to be.

    >>> print(Guarantee("objective perturbation", 1.0, "replace-one", ("decisions", "explanations")))
    epsilon = 1 in total (objective perturbation, replace-one), for decisions and explanations
    """

    mechanism: str
    epsilon: float
    adjacency: Adjacency
    covers: tuple[Covered, ...]
    per: Literal["release", "total"] = "total"
    delta: float = 0.0
    noise: Noise = "pure"
    assumes: tuple[str, ...] = ()
    refuted: str = ""

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise JaliError(f"{self.mechanism}: epsilon must be positive and finite, not {self.epsilon}.")
        if not 0 <= self.delta < 1:
            raise JaliError(f"{self.mechanism}: delta must be at least 0 and below 1, not {self.delta}.")
        if self.adjacency not in get_args(Adjacency):
            raise JaliError(
                f"{self.mechanism}: a claim needs its adjacency, {' or '.join(get_args(Adjacency))}, "
                f"not {self.adjacency!r}."
            )

    def __str__(self) -> str:
        delta = f", delta = {self.delta:g}" if self.delta else ""
        when = "a release" if self.per == "release" else "in total"
        text = f"epsilon = {self.epsilon:g}{delta} {when} ({self.mechanism}, {self.adjacency})"
        return f"{text}, for {' and '.join(self.covers)}"

    @property
    def conditions(self) -> tuple[str, ...]:
        """All that must be true besides the arithmetic: what this claim assumes, and what every claim does."""
        return (*self.assumes, SECRET)

    def event(self) -> DpEvent:
        """One use of the mechanism for `dp-accounting`.

        Laplace noise is itself; any other pure guarantee is dominated by randomised response between two answers,
        which differ with probability 1 / (1 + e^epsilon).
        """
        dp = accounting()
        if self.delta:
            raise JaliError(f"{self.mechanism}: only pure guarantees are accounted for here, and delta = {self.delta}.")
        if self.noise == "laplace":
            return dp.LaplaceDpEvent(1 / self.epsilon)
        return dp.RandomizedResponseDpEvent(2 / (1 + math.exp(min(self.epsilon, 700.0))), 2)


@runtime_checkable
class Private(Protocol):
    """A part that promises something: a trainer or an explainer."""

    def guarantee(self) -> Guarantee:
        """What it promises."""
        ...


def accounting() -> Any:
    """The library dp-accounting, or one sentence on how to get it."""
    try:
        import dp_accounting
    except ImportError:
        raise JaliError("Privacy accounting needs dp-accounting: pip install 'jali[dp]'.") from None
    return dp_accounting


def doubled(given: Guarantee) -> float:
    """Epsilon of the membership game, which replaces one record: add-remove pays for a removal and an addition.

    >>> doubled(Guarantee("x", 1.0, "add-remove", ("decisions",)))
    2.0
    """
    return given.epsilon * (1.0 if given.adjacency == "replace-one" else 2.0)
