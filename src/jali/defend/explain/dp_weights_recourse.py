"""Recourse computed from differentially private weights while another model decides."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.guarantee import Guarantee, announce
from jali.core.protocols import Model, Trainer
from jali.core.values import Bools, Dataset, Floats, Rng, Schema
from jali.defend._dp.asking import Asking, Free, asking, free, two_classes
from jali.defend._dp.checks import chance
from jali.defend._dp.frame import Frame
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.defend.models.dp_logistic import DPLogistic
from jali.models.fitted.linear import LinearEnsemble
from jali.privacy.mechanisms import released

SHORTEST = 16  # bytes of a key
VARIED = 8  # different bytes that a key holds at least; 16 random ones hold fewer once in 10^9
FRESH = "fresh, in memory"  # instead of a file: 32 random bytes of this process, which are never written down
MAKE = 'make a key, (umask 077; head -c 32 /dev/urandom > recourse.key), and name it, key="recourse.key"'
NO_KEY = f"no key was given, so anybody who knows the rows can compute the noise and subtract it; {MAKE}"
NEAR, DOUBLINGS, HALVINGS = 1e-3, 40, 40  # first step of the search along the weights, in model space

# Drawn once, when a process imports this: a constant, so that all preparations of one training set give one release.
_PROCESS_KEY = secrets.token_bytes(32)


@dataclass(frozen=True)
class DPWeightsRecourse:
    """The nearest row that private weights hold for valid with room to spare, for a model that is not private.

    `weights` (a `dp_logistic`) are released once per training set, and every answer is computed from them: unlimited
    answers for one epsilon. The record moves along them, as far as bounds and whole numbers allow, to the first row x
    with  w.x >= r ||x||  (x scaled and with its constant). But for a share `beta` of releases, r is at least the
    distance of w from the weights trained without noise on the same rows with the same C and bound, so all answers of
    a release are valid at once for `clipped_logistic` of these settings. For any other model that decides, the margin
    is an orientation only. A margin for one row fixed beforehand would be shorter, but the row is chosen with the
    noise in it: where w is mostly noise such a margin fails. beta = 1 leaves the margin out.

    The noise comes from a stream of a key and the training rows, so that all tiles and workers answer from the same
    weights. `key` names a file with at least 16 random bytes that others cannot read; its name may be known. Without
    one the noise can be computed by anybody who knows the rows: enough for a study, but no claim is made. The deployed
    model is asked only who is denied.

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
        """The private weights; their noise comes from the key and the training set, not from rng."""
        if train is None:
            raise JaliError("dp_weights_recourse learns private weights from the training rows: pass train.")
        secret = self._secret()
        announce("dp_weights_recourse", self.claim(), schema)
        two_classes("dp_weights_recourse", schema)
        trainer = self._private()
        known, rows = trainer.frame(schema), replace(train, schema=schema)
        w = released("private weights", lambda: drawn(trainer, rows, secret), scale=trainer.noise(known))
        return _Prepared(model, known, w, trainer.error(w, self.beta, known))

    def guarantee(self, schema: Schema | None = None) -> Guarantee:
        """The guarantee of the weights, for the explanations alone; without a usable key there is none.

        With the schema of the data, it is void where constants that it rests on were taken from the rows.
        """
        given = self.claim()
        if given.void:
            raise JaliError(f"dp_weights_recourse makes no privacy claim: {given.void}.")
        return given.on(schema)

    def claim(self) -> Guarantee:
        """What it promises with a key; void without one that can be used."""
        given = self._private().guarantee()
        assumes = [
            "the key of the noise is drawn at random and secret",
            "who needs recourse is decided by another model, and is not covered",
        ]
        if self.key == FRESH:
            assumes.append("one process answers: each draws a key of its own, and the releases of k cost k epsilon")
        return replace(given, covers=("explanations",), assumes=(*given.assumes, *assumes), void=self._keyless())

    def _keyless(self) -> str:
        """Why there is no secret key; empty where there is one."""
        if not self.key:
            return NO_KEY
        try:
            self._secret()
        except JaliError as error:
            return str(error).removeprefix("dp_weights_recourse: ").removesuffix(".")
        return ""

    def draws(self, data: Dataset, count: int, rng: Rng) -> LinearEnsemble:
        """Independent releases of the weights behind all answers, for audits of the guarantee."""
        return self._private().draws(data, count, rng)

    def plain(self) -> ClippedLogistic:
        """The fit of the weights without noise, for which answers are valid."""
        return self._private().plain()

    @classmethod
    def example(cls, epsilon: float) -> DPWeightsRecourse:
        """One of this epsilon with a key of its own, for audits of the guarantee on standardised numbers."""
        return cls(DPLogistic(epsilon, bound=1.0, method="output"), key=FRESH)

    def _secret(self) -> bytes:
        """The bytes of the key; of no key, bytes that everybody knows."""
        if not self.key:
            return b"no secret"
        return _PROCESS_KEY if self.key == FRESH else _read(Path(self.key))

    def _private(self) -> DPLogistic:
        if not isinstance(self.weights, DPLogistic):
            raise JaliError(
                "dp_weights_recourse needs private weights: write weights=dp_logistic(epsilon=…, bound=…), "
                f"not {type(self.weights).__name__}."
            )
        return self.weights


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The model that decides, the private weights w (P + 1,) on rows of a frame, and the margin that they need."""

    model: Model
    known: Frame
    w: Floats
    error: float

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:  # noqa: ARG002
        """The rows (n, D) for those whom the model denies, where the weights lead to one."""
        ask = asking("dp_weights_recourse", self.model, X, self.known.encoding.schema)
        rows, reached = nearest(X, ask, self.known, self.w, self.error)
        found = ask.asked & reached
        return Counterfactual(np.where(found[:, None], rows, X), found)


def _read(path: Path) -> bytes:
    """A key from its file, or one sentence on why it is none."""
    try:
        secret = path.read_bytes()
        mode = path.stat().st_mode
    except OSError as error:
        raise JaliError(f"dp_weights_recourse: cannot read the key {str(path)!r}: {error.strerror}; {MAKE}.") from None
    if len(secret) < SHORTEST:
        held = f"not {len(secret)}" if secret else "and it is empty"
        raise JaliError(f"dp_weights_recourse: the key must hold at least {SHORTEST} random bytes, {held}; {MAKE}.")
    if len(set(secret)) < VARIED:
        raise JaliError(
            f"dp_weights_recourse: the key holds {len(set(secret))} different bytes, so few that it is not "
            f"random; {MAKE}."
        )
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise JaliError(
            f"dp_weights_recourse: other users of this machine may read or change the key {str(path)!r}, so it is "
            "not secret: make a new one that only you can read, as chmod 600 leaves it."
        )
    return secret


def drawn(trainer: DPLogistic, train: Dataset, secret: bytes) -> Floats:
    """The one draw of weights (P + 1,) for these training rows and this secret: the same whenever it is made."""
    content = f"{trainer}|{train.X.shape}{train.schema}".encode() + train.X.tobytes() + train.y.tobytes()
    name = hmac.new(secret, content, hashlib.sha256).hexdigest()
    return np.asarray(trainer.weights(train, 1, np.random.default_rng(int(name, 16)))[0])


def nearest(X: Floats, ask: Asking, known: Frame, w: Floats, error: float) -> tuple[Floats, Bools]:
    """The first legal rows (n, D) along weights w (P + 1,) with w.x >= error ||x||, and where there is one (n,).

    The length of the way is doubled until it is enough and then halved in on; a record that has the room already is
    left where it stands, without an answer.
    """
    able = free(known.encoding)
    slope = w[:-1] * known.scale * known.encoding.movable()
    way = np.outer(ask.sign, slope / max(float(np.linalg.norm(slope)), 1e-300))
    path = _Path(X, way, known.rows(X), known, able)

    def short(t: Floats) -> Bools:
        rows = path.scaled(t)
        return np.asarray(ask.sign * (rows @ w) < error * np.linalg.norm(rows, axis=1) + 1e-9)

    low, high = np.zeros(len(X)), np.full(len(X), NEAR)
    for _ in range(DOUBLINGS):
        more = short(high)
        low, high = np.where(more, high, low), np.where(more, 2 * high, high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        more = short(middle)
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    rows = X.copy()
    rows[:, able.column] = path.values(high)
    return rows, short(np.zeros(len(X))) & ~short(high)


@dataclass(frozen=True, eq=False)
class _Path:
    """Raw rows X (n, D) that leave along `way` (n, P), and their scaled rows at the start (n, P + 1)."""

    X: Floats
    way: Floats
    start: Floats
    known: Frame
    able: Free

    def values(self, t: Floats) -> Floats:
        """Legal values (n, p) of the numbers that move, after lengths t (n,)."""
        return self.able.values(self.X, self.way * t[:, None])

    def scaled(self, t: Floats) -> Floats:
        """Scaled rows (n, P + 1) after lengths t (n,)."""
        rows, able = self.start.copy(), self.able
        moved = (self.values(t) - self.X[:, able.column]) / able.spread
        rows[:, able.at] += moved * self.known.scale[able.at]
        return rows
