"""C-CHVAE: counterfactuals from the latent space of an autoencoder of the training data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Gives, Wants
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng, Schema
from jali.explain._attribution.marginals import required
from jali.explain._recourse import vae as _vae

CANDIDATES = 1024  # rows that the model scores in one call
CELLS = 2_000_000  # and the most cells in them; both bound the memory


@dataclass(frozen=True)
class CCHVAE:
    """The nearest decoded row with another outcome, from shells of growing radius around a record's latent code.

    A conditional autoencoder (`latent` dimensions, `hidden` units) learns p(mutable columns | z, immutable columns)
    from the training rows, once per model. Shell k = 0, 1, ... draws `samples` codes z = mean(x) + r u, with u uniform
    on the unit sphere and r uniform in (k, k + 1) `step`; each is decoded, together with the record's own immutable
    columns, to a legal row. The first of `shells` shells with a row that the model gives the wanted outcome decides:
    its valid row nearest in l1 distance of the encoded features is the answer. All records of a call share the
    directions. A decoded row is never the record itself, so the distance includes reconstruction error, as published.

    The model is asked for labels only. The decoder is trained on the training rows, so the privacy guarantee of a
    differentially private trainer does not cover these answers.

    Pawelczyk, Broelemann and Kasneci, WWW 2020; attacked by Pawelczyk, Lakkaraju and Neel, AISTATS 2023, whose 8
    latent dimensions and 20 units are the defaults.

    >>> from jali.core.values import Column
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("a"), Column("b"), Column("fixed", mutable=False)), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 0.0]]), np.zeros(2))
    >>> a = np.linspace(-2, 2, 200)
    >>> train = Dataset(np.stack([a, a**2 - 1, a], axis=1), a > 0, schema)
    >>> rng = np.random.default_rng(0)
    >>> ready = CCHVAE(latent=2).prepare(model, schema, train, rng)
    >>> out = ready.explain(np.array([[-1.0, 0.0, 7.0]]), rng)
    >>> bool(out.found[0]), model.logits(out.rows).argmax(axis=1), out.rows[0, 2]
    (True, array([1]), np.float64(7.0))
    """

    latent: int = 8
    hidden: int = 20
    samples: int = 100
    step: float = 0.1
    shells: int = 300
    gives: ClassVar[Gives] = "counterfactual"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Train the autoencoder; its random stream is seeded by the training set, not taken from rng."""
        self._check()
        rows = required("cchvae", train)
        movable = any(c.mutable for c in schema.columns)
        vae = _vae.trained(rows, schema, self.latent, self.hidden) if movable else None
        return _Prepared(self, model, Encoding(schema), vae)

    def _check(self) -> None:
        if not (min(self.latent, self.hidden, self.samples, self.shells) > 0 and self.step > 0):
            raise JaliError(f"cchvae: latent, hidden, samples, step and shells must be positive; got {self}.")

    def search(self, decoder: _Decoder, rng: Rng) -> tuple[Floats, Bools]:
        """Answers (n, D), and whether one was found (n,); only records without one go on to the next shells."""
        moves = self._moves(rng)
        rows = decoder.X.copy()
        found = np.zeros(len(decoder.X), dtype=bool)
        shell = 0
        room = max(1, min(CANDIDATES, CELLS // decoder.origin.shape[1]) // self.samples)
        while shell < self.shells and not found.all():
            left = np.flatnonzero(~found)
            several = moves[shell : shell + max(1, room // len(left))]
            size = max(1, room // len(several))
            for some in np.split(left, range(size, len(left), size)):
                rows[some], found[some] = decoder.nearest(some, several)
            shell += len(several)
        return rows, found

    def _moves(self, rng: Rng) -> Floats:
        """Latent moves (shells, samples, latent), all drawn at the start so that records do not affect each other."""
        move = rng.standard_normal((self.shells, self.samples, self.latent))
        radius = self.step * (np.arange(self.shells)[:, None] + rng.random((self.shells, self.samples)))
        scale: Floats = radius / np.linalg.norm(move, axis=2)
        return move * scale[:, :, None]


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model, with its autoencoder; None where every column is immutable."""

    part: CCHVAE
    model: Model
    encoding: Encoding
    vae: _vae.VAE | None

    def explain(self, X: Floats, rng: Rng) -> Counterfactual:
        """Counterfactual rows (n, D) where one was found within the budget."""
        predicted = self.model.logits(X).argmax(axis=1)
        favourable = self.encoding.schema.favourable
        denied = predicted != (-1 if favourable is None else favourable)
        rows, found = X.copy(), np.zeros(len(X), dtype=bool)
        if denied.any() and self.vae is not None:
            decoder = _Decoder(self.model, self.vae, self.encoding, X[denied], predicted[denied])
            rows[denied], found[denied] = self.part.search(decoder, rng)
        return Counterfactual(rows, found)


@dataclass(frozen=True)
class _Decoder:
    """Decodes latent moves of the records X (n, D) to legal rows; predicted (n,): the records' own labels."""

    model: Model
    vae: _vae.VAE
    encoding: Encoding
    X: Floats
    predicted: Ints

    @cached_property
    def origin(self) -> Floats:
        """The encoded records (n, P)."""
        return self.encoding.encode(self.X)

    @cached_property
    def codes(self) -> Floats:
        """Their latent means (n, latent)."""
        return self.vae.encode(self.origin)

    def nearest(self, who: Ints, moves: Floats) -> tuple[Floats, Bools]:
        """Nearest valid rows (k, D) of the first shell of moves (g, s, latent) with one, and whether one has (k,)."""
        shells = (len(who), *moves.shape[:2])
        made = self._legal(who, moves.reshape(-1, moves.shape[2]))
        valid = self._valid(who, made).reshape(shells)
        hits: Bools = np.any(valid, axis=2)
        hit: Bools = np.any(hits, axis=1)
        valid &= (np.arange(shells[1]) == hits.argmax(axis=1)[:, None])[:, :, None]
        good = np.flatnonzero(valid)
        distance = np.full(valid.size, np.inf)
        distance[good] = np.abs(self.encoding.encode(made[good]) - self.origin[who[good // valid[0].size]]).sum(axis=1)
        best = distance.reshape(len(who), -1).argmin(axis=1)
        rows = made.reshape(len(who), -1, self.X.shape[1])[np.arange(len(who)), best]
        return np.where(hit[:, None], rows, self.X[who]), hit

    def _legal(self, who: Ints, moves: Floats) -> Floats:
        """Raw rows (k m, D) of moves (m, latent) of every record, with its own immutable columns."""
        made = self.vae.decode(self.codes[who][:, None] + moves, self.origin[who])
        rows = self.encoding.decode(made.reshape(-1, made.shape[2]))
        fixed = [j for j, c in enumerate(self.encoding.schema.columns) if not c.mutable]
        rows[:, fixed] = np.repeat(self.X[who][:, fixed], len(moves), axis=0)
        return rows

    def _valid(self, who: Ints, rows: Floats) -> Bools:
        """Whether each of the rows (k m, D) has the wanted outcome: the favourable one, else any but the predicted."""
        label: Ints = self.model.logits(rows).argmax(axis=1)
        wanted = self.encoding.schema.favourable
        unwanted = np.repeat(self.predicted[who], len(rows) // len(who))
        return np.not_equal(label, unwanted) if wanted is None else np.equal(label, wanted)
