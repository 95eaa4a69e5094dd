"""The protocol of each kind of part, and the capabilities that models, trainers and explainers may have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

import numpy.typing as npt

from jali.core.guesses import Combined, Shadows, Target
from jali.core.values import Bools, Dataset, Floats, Game, Ints, Rng, Schema, Seen, Unit

if TYPE_CHECKING:
    from jali.core.explanation import Recomputed


class Source(Protocol):
    """A data set."""

    def load(self) -> Dataset:
        """Read or make the table."""


class Design(Protocol):
    """A membership design."""

    def draw(self, data: Dataset, rng: Rng) -> Game:
        """Draw who is in which training set; rows of one group stay together."""


@runtime_checkable
class SetsAside(Protocol):
    """Capability of a game: it can set a share of the people aside, as a reference of known non-members."""

    def with_reference(self) -> Design:
        """The same game with people set aside; the game itself if it has some already."""


class Model(Protocol):
    """One trained classifier."""

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, C) of raw rows (n, D); softmax gives the probabilities."""


@runtime_checkable
class Linear(Protocol):
    """Capability: logits = Z @ coef + intercept, for encoded rows Z."""

    coef: Floats
    intercept: Floats


@runtime_checkable
class Differentiable(Protocol):
    """Capability: exact gradients in the encoded features."""

    def gradient(self, Z: Floats, of: Ints) -> Floats:
        """Gradient (n, P) of the logit of class of (n,) at encoded rows Z (n, P)."""

    def margin(self, Z: Floats, of: Ints) -> tuple[Floats, Floats]:
        """Logit of class of (n,) minus the best other one, (n,), and its gradient (n, P) at encoded rows Z (n, P)."""


@runtime_checkable
class Linearisable(Protocol):
    """Capability: a model that knows whether it is linear in the encoded features of a schema."""

    def linear(self, schema: Schema) -> Linear | None:
        """The same model as a linear one, or None if it is not linear there."""


@runtime_checkable
class Trees(Protocol):
    """Capability: a fitted scikit-learn estimator that may be a tree, a forest or boosted trees."""

    estimator: Any
    feed: Callable[[Floats], Any]
    position: Ints

    @property
    def has_trees(self) -> bool:
        """Whether the estimator consists of trees that read the columns themselves."""


@runtime_checkable
class Fed(Protocol):
    """Capability: a model that wraps an object of a user's; feed makes what that object reads from raw rows (n, D).

    position (K,): the class numbers of the object's own classes, in its order.
    """

    estimator: Any
    feed: Callable[[Floats], Any]
    position: Ints


@runtime_checkable
class StandsFor(Protocol):
    """Capability of an estimator that was made from a user's object, which code of the user's expects as the model."""

    @property
    def own(self) -> Any:
        """The user's object, or the estimator itself where that can do all that the object can."""


@runtime_checkable
class CountsFailures(Protocol):
    """Capability of a prepared explainer: it counts the rows that it was asked about and could not explain."""

    @property
    def failures(self) -> tuple[int, str]:
        """How many rows, and what went wrong with the first, without any value of a row."""


@runtime_checkable
class Named(Protocol):
    """Capability: a model with a name of its own."""

    @property
    def name(self) -> str:
        """The name, such as that of the estimator."""


def model_name(model: object) -> str:
    """What an error message calls a model: its own name, or that of its class."""
    return model.name if isinstance(model, Named) else type(model).__name__


@runtime_checkable
class ReleasesRows(Protocol):
    """Capability of an explainer: its explanations may show rows of training people; a wrapper forwards this."""

    def releases_rows(self) -> bool:
        """Whether the explanations contain rows of training people, or parts of such rows."""


@runtime_checkable
class KeepsImmutable(Protocol):
    """Capability of an explainer: its explanations may agree with the record in the columns that cannot change."""

    def keeps_immutable(self) -> bool:
        """Whether they do; an attacker who knows the record then knows these values of the person shown."""


@runtime_checkable
class ShowsWholeRows(Protocol):
    """Capability of a prepared explainer: each counterfactual is a row of the training set, and it knows which may be.

    A defence that promises k people counts only these, and an attack that runs a defence again rules out all others.
    """

    def showable(self) -> Bools:
        """Which training rows (N,) may be shown to anybody."""

    def may_show(self, rows: Floats) -> Bools:
        """Whether rows (n, D) could be shown if training people had them, as far as the model alone decides it."""


@runtime_checkable
class Local(Protocol):
    """Capability of an explainer that gives surrogates: whether each record has a surrogate of its own."""

    local: ClassVar[bool]


@runtime_checkable
class Recomputable(Protocol):
    """Capability of a prepared explainer: its explanation can be recomputed as if it showed another person.

    The minimality attack does this (Wong et al., 2007). The training set is the one it was prepared with.
    """

    def regions_for(self, rows: Floats, person: Ints) -> Recomputed:
        """What it would show of the people at positions (n,) of the training set if they had rows (n, D).

        The quasi-identifiers of the rows must occur in the training set.
        """


def releases_rows(explainer: object) -> bool:
    """Whether an explainer, or one that it wraps, releases rows of training people."""
    return isinstance(explainer, ReleasesRows) and explainer.releases_rows()


def keeps_immutable(explainer: object) -> bool:
    """Whether the rows that an explainer shows agree with the record in what cannot change.

    An attacker who knows the record then knows these values of the person shown, so they must not be generalised.
    """
    return isinstance(explainer, KeepsImmutable) and explainer.keeps_immutable()


def is_local(explainer: object) -> bool:
    """Whether an explainer gives each record a surrogate of its own."""
    return isinstance(explainer, Local) and explainer.local


class Ensemble(Protocol):
    """M trained models as one object."""

    def __len__(self) -> int: ...

    def __getitem__(self, column: int) -> Model: ...

    def logits(self, X: Floats) -> Floats:
        """Class scores (n, M, C) of raw rows."""


@runtime_checkable
class Storable(Protocol):
    """Capability of an ensemble: it can be kept as plain arrays, one entry per model along the first axis."""

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name."""


class Trainer(Protocol):
    """Turns membership into models."""

    def fit(self, data: Dataset, member: Bools, rngs: list[Rng]) -> Ensemble:
        """Train one model per column of member (N, M); column j draws from rngs[j] alone."""


@runtime_checkable
class Existing(Protocol):
    """Capability of a trainer: model 0 exists already; only the shadows are trained."""

    def existing(self, data: Dataset) -> Model:
        """The model itself."""

    def unfitted(self) -> Trainer:
        """The trainer of the shadows, without the model; the model itself is sent only where it is queried."""


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
    """Capability of a private part: everything it releases is computed from linear models, which can be sampled."""

    def draws(self, data: Dataset, count: int, rng: Rng) -> ReleasedWeights:
        """`count` independent releases from one training set."""

    def plain(self) -> Trainer:
        """The same training without noise."""


@runtime_checkable
class LibraryNoise(Protocol):
    """Capability of a private part: a library trains its models and draws the noise, so it cannot be held fixed."""

    library: ClassVar[str]

    def released(self, data: Dataset, query: Floats, count: int, rng: Rng) -> Floats:
        """What `count` independent models of one training set show, as numbers (count, k)."""

    def plain(self) -> Trainer:
        """Similar training without noise."""


@runtime_checkable
class ExplainsModels(Protocol):
    """Capability of a private explainer: it adds noise to each explanation about a model that is not private."""

    def deployed(self) -> Trainer:
        """A trainer of models that it can explain."""


@runtime_checkable
class UsesPublicData(Protocol):
    """Capability of a private part: it needs public data, and can use others with another number of columns."""

    public: Source

    def for_columns(self, columns: int) -> Self:
        """The same part with public data of this many standardised numbers."""


@runtime_checkable
class HasUnit(Protocol):
    """Capability of a signal: the scale on which it is stored is known, so that attacks can read it on others."""

    @property
    def unit(self) -> Unit:
        """The scale."""


@runtime_checkable
class Vector(Protocol):
    """Capability of a signal: several numbers per record (n, W), which only combined attacks read."""

    def width(self, schema: Schema) -> int:
        """How many numbers W there are for rows of this schema."""


@runtime_checkable
class ReadsMissing(Protocol):
    """Capability of an explainer: it explains rows with missing numbers (NaN); all others are refused for such rows."""

    reads_missing: ClassVar[bool]


class Signal(Protocol):
    """One number per record, computed from what the adversary sees."""

    needs: ClassVar[frozenset[str]]

    def __call__(self, seen: Seen) -> Floats:
        """One number per record (n,); larger = more member-like."""


class Attack(Protocol):
    """Scores records from signals; never sees the target's membership.

    requires: shadow models trained with ("in") or without ("out") the records judged, or a "reference": people known
    not to be in the training set. Only an attack that requires a reference is given the records (`Target.records`).
    """

    requires: ClassVar[frozenset[str]]
    many: ClassVar[bool]

    def score(self, target: Target, shadows: Shadows) -> Floats:
        """One score per record (N,); larger = more member-like."""


@runtime_checkable
class ScoresTogether(Protocol):
    """Capability of an attack: it scores several targets at once, as `score` would one by one."""

    def scores(self, value: Floats, shadows: Shadows, sets: Bools) -> Floats:
        """The scores (T, N) of targets with these values (S, T, N), each judged by its own set (T, K) of shadows."""


class Combination(Protocol):
    """What a combined attack has learnt on shadow models."""

    def apply(self, targets: Sequence[Target], shadows: Shadows, sets: Bools) -> Sequence[Mapping[str, Combined]]:
        """The scores of each target by metric, judged by its own set (T, K) of the shadow models."""


@runtime_checkable
class Combines(Protocol):
    """Capability of an attack: it chooses on its shadow models how to combine signals, for each metric by itself.

    learns_from: how many records it learns from at most.
    """

    learns_from: ClassVar[int]

    def learn(self, shadows: Shadows, base: int, metrics: Sequence[str], known: Any = None) -> Combination:
        """Choose by metric how to combine signals; the first `base` are those of the baseline, and always used.

        known: what it learnt with the same baseline on the same shadow models, so that this is not learnt again.
        """


@runtime_checkable
class OnRequest(Protocol):
    """Capability of a signal: whether every audit computes it, or only one that names it."""

    usual: ClassVar[bool]


@runtime_checkable
class AsksMore(Protocol):
    """Capability of a signal: it asks the model about rows other than the record."""

    @property
    def queries(self) -> int:
        """How many such rows it asks about for one record."""


@runtime_checkable
class Controlled(Protocol):
    """Capability of such a signal that reads an explanation: the signal that asks as much without any explanation.

    Both are audited together, so that what the queries reveal is not credited to the explanation.
    """

    control: ClassVar[str]


@runtime_checkable
class Cautioned(Protocol):
    """A part with a warning for its users, such as that it exists for comparison only."""

    @property
    def caution(self) -> str:
        """One sentence."""
