"""Exposed records that are pictures, each beside the attributions of the explainers, for a reader who asked for them.

An audit keeps signals and drops explanations, so the few that are shown are recomputed from the same models and the
same random streams: models come from the store, and are trained again without one.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from scipy.special import softmax

from jali.audit.all_models import blocks
from jali.audit.one_model import EXPLAIN, Readout, models_of, preparations, stream
from jali.audit.one_tile import look, tile_numbers
from jali.audit.outcome import Outcome
from jali.audit.preparations import Preparations
from jali.audit.setup import Resources, Setup
from jali.core.explanation import Explainer
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Game, Ints
from jali.parallel import alone
from jali.results import Exposed, Heat, Picture

MODELS = 4  # targets at most that are explained again
SIDE = 64  # pixels at most along a side of a picture
MIDDLE = 128  # the shade of an attribution of zero
STEPS = 127  # shades above and below it


def pictures(setup: Setup, resources: Resources, outcome: Outcome) -> list[Exposed]:
    """The exposed records with label, picture, and maps of their attributions; none where records are no pictures.

    Each explainer has a map under a target that was trained on the record and under one that was not, as far as a few
    targets cover all records.
    """
    data = setup.data
    rows = outcome.results.exposed
    if data.schema.image is None or not rows:
        return []
    targets = _Targets(setup, replace(resources, block=1))
    records = np.array([row.record for row in rows])
    labels = [data.schema.classes[c] for c in data.y[records]]
    return [
        row.model_copy(update={"label": label, "picture": _picture(data, row.record), "maps": maps})
        for row, label, maps in zip(rows, labels, alone(targets.maps, records), strict=True)
    ]


def chosen(game: Game, records: Ints, most: int = MODELS) -> list[tuple[int, Ints]]:
    """Few targets, each with the positions among the records (R,) of those it explains, the most useful target first.

    Every record is explained under one target that was trained on it and one that was not, as far as there are any.

    >>> member = np.array([[1, 0, 1], [0, 1, 1]], dtype=bool)
    >>> game = Game(member, [0, 1, 2], ~np.eye(3, dtype=bool), np.ones((2, 3), dtype=bool))
    >>> [(number, places.tolist()) for number, places in chosen(game, np.array([0, 1]))]
    [(0, [0, 1]), (1, [0, 1])]
    """
    inside = game.member[np.ix_(records, game.targets)]
    scored = game.scored[records]
    serves = np.stack([scored & inside, scored & ~inside])
    out: list[tuple[int, Ints]] = []
    while serves.any() and len(out) < most:
        best = int(serves.sum(axis=(0, 1)).argmax())
        out.append((int(game.targets[best]), np.flatnonzero(serves[:, :, best].any(axis=0))))
        serves &= ~serves[:, :, [best]]
    return out


@dataclass(frozen=True)
class _Seen:
    """One record under one model: attributions (1, height, width) and logits (C,)."""

    model: int
    member: bool
    value: Floats
    logits: Floats


@dataclass(frozen=True)
class _Targets:
    """The target models of an experiment, to explain some of its records again."""

    setup: Setup
    resources: Resources

    def maps(self, records: Ints) -> list[list[Heat]]:
        """Maps of each record, explainer by explainer."""
        explainers = [e for e in self.setup.parts.explain if e.gives == "attribution"]
        seen: list[list[list[_Seen]]] = [[[] for _ in explainers] for _ in records]
        for number, places in chosen(self.setup.game, records) if explainers else ():
            member = self.setup.game.member[:, number]
            prepared = preparations(self.model(number), self.setup.data, member, self.setup.parts.seed, number)
            for at in places:
                for some, explainer in zip(seen[at], explainers, strict=True):
                    some.append(self.seen(prepared, explainer, int(records[at]), number))
        names = [Readout(explainer, ()).label for explainer in explainers]
        return [[h for name, some in zip(names, of, strict=True) for h in self.heats(name, some)] for of in seen]

    def model(self, number: int) -> Model:
        """The model with this number, from the store if it is stored."""
        todo = blocks(self.setup, self.resources, ())
        return models_of(next(islice(todo, number, None)))(0)

    def seen(self, prepared: Preparations, explainer: Explainer, record: int, number: int) -> _Seen:
        """The attributions of the record, from the random stream of the audit."""
        member, label = self.setup.game.member[:, number], zlib.crc32(Readout(explainer, ()).label.encode())
        tile = int(tile_numbers(len(self.setup.data))[record])
        rng = stream(self.setup.parts.seed, EXPLAIN, label, number, tile)
        view = look(prepared, self.setup.data, explainer, np.array([record]), rng)
        value = view.attribution.value.reshape(self.setup.data.schema.image).sum(axis=0, keepdims=True)
        return _Seen(number, bool(member[record]), reduced(value), view.logits[0])

    def heats(self, name: str, seen: list[_Seen]) -> list[Heat]:
        """Maps of one record by one explainer, on one scale, that of the model trained on it first."""
        reach = max((float(np.abs(s.value).max()) for s in seen), default=0.0)
        return [self.heat(name, one, reach) for one in sorted(seen, key=lambda s: not s.member)]

    def heat(self, name: str, seen: _Seen, reach: float) -> Heat:
        """One map."""
        drawn = MIDDLE + np.rint(STEPS * seen.value / (reach or 1.0))
        top = int(seen.logits.argmax())
        return Heat(
            explainer=name,
            model=seen.model,
            member=seen.member,
            prediction=self.setup.data.schema.classes[top],
            chance=float(softmax(seen.logits)[top]),
            reach=reach,
            drawn=_bytes(drawn),
        )


def _picture(data: Dataset, record: int) -> Picture:
    """A record, its pixels from black to white as the columns allow them; without bounds, as the record has them."""
    x, columns = data.X[record], data.schema.columns
    low, high = np.array([c.low for c in columns]), np.array([c.high for c in columns])
    if not np.isfinite(high - low).all():
        low, high = x.min(), x.max()
    shade = np.clip((x - low) / np.maximum(high - low, 1e-300), 0, 1)
    return _bytes(np.rint(255 * reduced(shade.reshape(data.schema.image))))


def reduced(pixels: Floats) -> Floats:
    """Pixels (channels, height, width) brought to sides of at most 64 by the mean over squares.

    >>> reduced(np.arange(130.0).reshape(1, 1, 130))[0, 0, :3]
    array([1., 4., 7.])
    """
    channels, height, width = pixels.shape
    step = -(-max(height, width) // SIDE)
    whole = np.pad(pixels, ((0, 0), (0, -height % step), (0, -width % step)), mode="edge")
    squares = whole.reshape(channels, -(-height // step), step, -(-width // step), step)
    return np.asarray(squares.mean(axis=(2, 4)))


def _bytes(pixels: Floats) -> Picture:
    """Pixels (channels, height, width) from 0 to 255."""
    channels, height, width = pixels.shape
    text = base64.b64encode(pixels.astype(np.uint8).tobytes()).decode()
    return Picture(size=(channels, height, width), pixels=text)
