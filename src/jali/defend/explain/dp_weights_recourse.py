"""Recourse computed from differentially private weights, for decisions made by another model."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.guarantee import Guarantee, announce
from jali.core.protocols import Model, Trainer
from jali.core.values import Bools, Dataset, Floats, Rng, Schema
from jali.defend._dp.checks import chance
from jali.defend._dp.recourse import Free, Requests, free, recourse_requests, two_classes
from jali.defend._dp.scaling import Frame
from jali.defend._keys import FRESH, MAKE, secret_of
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.defend.models.dp_logistic import DPLogistic
from jali.models.fitted.linear import LinearEnsemble
from jali.privacy.byte_sources import KeyedRandom
from jali.privacy.mechanisms import released

NO_KEY = f"no key was given, so anybody who knows the rows can compute the noise and subtract it; {MAKE}"
NEAR = 1e-3  # first step of the search along the weights, in encoded features
DOUBLINGS = 40
HALVINGS = 40


@dataclass(frozen=True)
class DPWeightsRecourse:
    """The nearest row that private weights classify as valid by a margin, for decisions of a model that is not private.

    `weights` (a `dp_logistic`) are released once per training set, and every answer is computed from them: unlimited
    answers for one epsilon. The record moves along them, within bounds and to whole numbers, to the first row x with
    w.x >= r ||x||  (x a scaled row with its constant one). With probability 1 - `beta`, r is at least the distance of w
    from the weights trained without noise on the same rows with the same C and bound. All answers of a release are then
    valid for `clipped_logistic` with these settings. For any other deployed model the margin is only a heuristic. A
    margin for one row fixed beforehand would be shorter, but here the row depends on the noise: such a margin fails
    where w is mostly noise. beta = 1 leaves the margin out.

    The noise is drawn from bytes that a key and the training rows determine (`KeyedRandom`), so that all tiles and
    workers answer from the same weights. `key` names a file with at least 16 random bytes that other users cannot read;
    the name need not be secret. Without a key, anybody who knows the rows can compute the noise: that is enough for a
    study, but there is no guarantee. The deployed model is asked only for its decisions.

    Chaudhuri, Monteleoni and Sarwate, JMLR 2011 (weights); Mochaourab et al., 2021 (margins).

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> X = np.linspace(-1, 1, 2000)[:, None]
    >>> schema = Schema((Column("x", low=-1, high=1),), favourable=1)
    >>> decides = LinearModel(Encoding(schema), np.array([[-1.0, 1.0]]), np.zeros(2))
    >>> part = DPWeightsRecourse(DPLogistic(epsilon=1.0, bound=1.0, C=0.1, method="output"), key=FRESH)
    >>> ready = part.prepare(decides, schema, Dataset(X, X[:, 0] > 0, schema), np.random.default_rng(0))
    >>> out = ready.explain(np.array([[-0.5]]), np.random.default_rng(0))
    >>> bool(0 < out.rows[0, 0] < 0.8)
    True
    """

    weights: Trainer
    beta: float = 0.05
    key: str = ""
    gives: ClassVar[Gives] = "counterfactual"
    reads_training_data: ClassVar[bool] = True
    wants: ClassVar[Wants] = "labels"
    checked: ClassVar[bool] = False

    def __post_init__(self) -> None:
        chance("dp_weights_recourse", self.beta, 1.0)
        self._private()

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Release the private weights; their noise comes from the key and the training set, not from rng."""
        if train is None:
            raise JaliError("dp_weights_recourse learns private weights from the training rows: pass train.")
        secret = self._secret()
        announce("dp_weights_recourse", self.claim(), schema)
        two_classes("dp_weights_recourse", schema)
        trainer = self._private()
        known = trainer.frame(schema)
        w = self._released(replace(train, schema=schema), [secret])[0]
        return _Prepared(model, known, w, trainer.error(w, self.beta, known, len(train)))

    def guarantee(self, schema: Schema | None = None) -> Guarantee:
        """The guarantee of the weights, for the explanations alone; without a usable key there is none.

        With the schema of the data, it is void if constants that it depends on were taken from the rows.
        """
        given = self.claim()
        if given.void:
            raise JaliError(f"dp_weights_recourse makes no privacy claim: {given.void}.")
        return given.on(schema)

    def claim(self) -> Guarantee:
        """The guarantee with a key; void if there is no usable key."""
        given = self._private().guarantee()
        assumes = [
            "the key of the noise is drawn at random and secret",
            "who needs recourse is decided by another model, and is not covered",
        ]
        if self.key == FRESH:
            assumes.append("one process answers: each draws a key of its own, and the releases of k cost k epsilon")
        return replace(given, covers=("explanations",), assumes=(*given.assumes, *assumes), void=self._keyless())

    def _keyless(self) -> str:
        """The reason why there is no secret key; empty if there is one."""
        if not self.key:
            return NO_KEY
        try:
            self._secret()
        except JaliError as error:
            return str(error).removeprefix("dp_weights_recourse: ").removesuffix(".")
        return ""

    def draws(self, data: Dataset, count: int, rng: Rng) -> LinearEnsemble:
        """What `prepare` releases with new secrets of the same length, for tests of the guarantee."""
        secrets = [rng.bytes(len(self._secret())) for _ in range(count)]
        return self._private().frame(data.schema).ensemble(self._released(data, secrets))

    def plain(self) -> ClippedLogistic:
        """The same fit without noise, for which answers are valid."""
        return self._private().plain()

    @classmethod
    def example(cls, epsilon: float) -> DPWeightsRecourse:
        """A part with this epsilon and a fresh key, for tests of the guarantee on standardised columns."""
        return cls(DPLogistic(epsilon, bound=1.0, method="output"), key=FRESH)

    def _secret(self) -> bytes:
        """The bytes of the key; without a key, bytes that are public."""
        if not self.key:
            return b"no secret"
        return secret_of("dp_weights_recourse", self.key)

    def _released(self, rows: Dataset, secrets: list[bytes]) -> Floats:
        """The weights (count, P + 1) that are released for these rows with each of the secrets."""
        trainer = self._private()
        scale = trainer.noise(trainer.frame(rows.schema), len(rows))
        return released("private weights", lambda: all_drawn(trainer, rows, secrets), scale=scale)

    def _private(self) -> DPLogistic:
        """The trainer of the private weights; any other trainer is refused."""
        if not isinstance(self.weights, DPLogistic):
            raise JaliError(
                "dp_weights_recourse needs private weights: write weights=dp_logistic(epsilon=…, bound=…), "
                f"not {type(self.weights).__name__}."
            )
        return self.weights


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The deployed model, the private weights w (P + 1,) on rows of a frame, and the margin that they need."""

    model: Model
    known: Frame
    w: Floats
    error: float

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """Rows (n, D) for the records that the model denies, where the search along the weights finds one."""
        requests = recourse_requests("dp_weights_recourse", self.model, X, self.known.encoding.schema)
        rows, reached = nearest(X, requests, self.known, self.w, self.error)
        found = requests.needed & reached
        return Counterfactual(np.where(found[:, None], rows, X), found)


def drawn(trainer: DPLogistic, train: Dataset, secret: bytes) -> Floats:
    """The draw of weights (P + 1,) for these training rows and this secret, which is the same at every call."""
    return np.asarray(all_drawn(trainer, train, [secret])[0])


def all_drawn(trainer: DPLogistic, train: Dataset, secrets: list[bytes]) -> Floats:
    """The draws of weights (count, P + 1) for these training rows, one for each secret."""
    content = f"{trainer}|{train.X.shape}{train.schema}".encode() + train.X.tobytes() + train.y.tobytes()
    names = [hmac.digest(secret, content, "sha256") for secret in secrets]
    return trainer.weights_from(train, 1, [KeyedRandom(name) for name in names])


def nearest(X: Floats, requests: Requests, known: Frame, w: Floats, error: float) -> tuple[Floats, Bools]:
    """The first legal rows (n, D) along weights w (P + 1,) with w.x >= error ||x||, and where (n,) there is one.

    The distance is doubled until it is enough and then found by bisection. A record that has the margin already gets no
    answer.
    """
    able = free(known.encoding)
    slope = w[:-1] * known.scale * known.encoding.movable()
    way = np.outer(requests.sign, slope / max(float(np.linalg.norm(slope)), 1e-300))
    path = _Path(X, way, known.rows(X), known, able)

    def short(t: Floats) -> Bools:
        rows = path.scaled(t)
        return np.asarray(requests.sign * (rows @ w) < error * np.linalg.norm(rows, axis=1) + 1e-9)

    low = np.zeros(len(X))
    high = np.full(len(X), NEAR)
    for _ in range(DOUBLINGS):
        more = short(high)
        low = np.where(more, high, low)
        high = np.where(more, 2 * high, high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = short(middle)
        low = np.where(more, middle, low)
        high = np.where(more, high, middle)
    rows = X.copy()
    rows[:, able.column] = path.values(high)
    return rows, short(np.zeros(len(X))) & ~short(high)


@dataclass(frozen=True, eq=False)
class _Path:
    """Paths from raw rows X (n, D) in the directions way (n, P); start (n, P + 1): the scaled rows of X."""

    X: Floats
    way: Floats
    start: Floats
    known: Frame
    able: Free

    def values(self, t: Floats) -> Floats:
        """Legal values (n, p) of the mutable numbers at distances t (n,)."""
        return self.able.values(self.X, self.way * t[:, None])

    def scaled(self, t: Floats) -> Floats:
        """Scaled rows (n, P + 1) at distances t (n,)."""
        able = self.able
        rows = self.start.copy()
        moved = (self.values(t) - self.X[:, able.column]) / able.spread
        rows[:, able.at] += moved * self.known.scale[able.at]
        return rows
