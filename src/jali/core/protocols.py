"""The protocol of each kind of part, and the capabilities that models may have."""

from __future__ import annotations

from typing import ClassVar, Protocol, Self, runtime_checkable

from jali.core.values import Bools, Dataset, Floats, Game, Ints, Rng, Seen, Shadows, Target


class Source(Protocol):
    """A data set."""

    def load(self) -> Dataset:
        """Read or make the table."""


class Design(Protocol):
    """A membership design."""

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw who is in which training set; rows of one group stay together."""


class Model(Protocol):
    """One trained classifier."""

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, C) of raw rows (n, D); softmax gives the probabilities."""


@runtime_checkable
class Linear(Protocol):
    """Capability: logits = Z @ coef + intercept in model space."""

    coef: Floats
    intercept: Floats


@runtime_checkable
class Differentiable(Protocol):
    """Capability: exact gradients in model space."""

    def gradient(self, Z: Floats, of: Ints) -> Floats:
        """Gradient (n, P) of the logit of class of (n,) at encoded rows Z (n, P)."""

    def margin(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """Logit of class of (n,) minus the best other one, (n,), and its gradient (n, P) at encoded rows Z (n, P)."""


class Ensemble(Protocol):
    """M trained models as one object."""

    def __len__(self) -> int: ...

    def __getitem__(self, column: int) -> Model: ...

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, M, C) of raw rows."""


class Trainer(Protocol):
    """Turns membership into models."""

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Ensemble:
        """Train one model per column of member (N, M); column j draws from rngs[j] alone."""


@runtime_checkable
class Existing(Protocol):
    """Capability of a trainer: column 0 is a model that exists already; only the shadows are trained."""

    def existing(self, data: Dataset) -> Model:
        """The model itself."""


class ReleasedWeights(Protocol):
    """Weights (M, P, C) and intercepts (M, C) of M linear models."""

    @property
    def coef(self) -> Floats:
        """Weights (M, P, C)."""

    @property
    def intercept(self) -> Floats:
        """Intercepts (M, C)."""


@runtime_checkable
class DrawsModels(Protocol):
    """Capability of a private part: all that it releases is computed from linear models, which can be drawn."""

    def draws(self, data: Dataset, count: int, rng: Rng) -> ReleasedWeights:
        """As many independent releases from one training set."""

    def plain(self) -> Trainer:
        """The same training without noise."""


@runtime_checkable
class ExplainsModels(Protocol):
    """Capability of a private explainer: it adds noise to each answer about a model that is not private."""

    def deployed(self) -> Trainer:
        """A trainer of models that it can explain."""


@runtime_checkable
class UsesPublicData(Protocol):
    """Capability of a private part: it rests on public data, and can be given others for another number of columns."""

    public: Source

    def for_columns(self, columns: int) -> Self:
        """The same part with public data of so many standardised numbers."""


class Signal(Protocol):
    """A number per record from what the adversary sees."""

    needs: ClassVar[frozenset[str]]

    def __call__(self, seen: Seen) -> Floats:
        """One number per record (n,); larger = more member-like."""


class Attack(Protocol):
    """Scores records from signals; never sees the target's membership."""

    requires: ClassVar[frozenset[str]]
    many: ClassVar[bool]

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """One score per record (N,); larger = more member-like."""
