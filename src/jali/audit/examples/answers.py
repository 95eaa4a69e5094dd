"""What people who are denied an outcome are told, explainer beside explainer, for a reader who asked for values.

An audit keeps signals and drops explanations, so the few that are shown are made again: by the first target, with the
streams and for the whole tiles of the audit, because some answers depend on who else is asked about.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from jali.anonymity.measures import pureness
from jali.audit.experiment import Outcome
from jali.audit.gather import blocks
from jali.audit.setup import Machine, Setup
from jali.audit.worker import EXPLAIN, JUDGE, Readout, look, models_of, preparations, stream, tiles
from jali.core.explanation import Counterfactual, Explainer
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Game, Ints
from jali.parallel import alone
from jali.text.sentences import sentences, value

PEOPLE = 3
SHORT = 12  # columns of a record that are written out; more are counted
WITHHELD, NOTHING = "withheld", "no answer"


def examples(setup: Setup, machine: Machine, outcome: Outcome) -> dict[str, Any]:
    """The target asked, the outcome hoped for, and of up to three records what each explainer says, ready for JSON.

    Records are those that the target denies the outcome, those with most answers first, of these the exposed, then by
    row number. Empty where no explainer gives counterfactuals, where records are pictures, and where nobody is denied.
    """
    data = setup.data
    explainers = [e for e in setup.parts.explain if e.gives == "counterfactual"]
    if data.schema.image is not None or not explainers:
        return {}
    asked = _Asked(setup.parts.seed, data, setup.game, alone(lambda _: _model(setup, machine), None))
    records = asked.denied(_answers(outcome, explainers), [row.record for row in outcome.results.exposed])[:PEOPLE]
    if not len(records):
        return {}
    said = {Readout(e, ()).label: alone(lambda e: asked.said(e, records), e) for e in explainers}
    hoped = data.schema.favourable
    return {
        "model": asked.column,
        "hoped": "" if hoped is None else data.schema.classes[hoped],
        "explainers": list(said),
        "records": [asked.record(i) | {"said": [by[i] for by in said.values()]} for i in records.tolist()],
    }


def _model(setup: Setup, machine: Machine) -> Model:
    """The first target, from the store where it is there."""
    columns = blocks(setup, replace(machine, block=1), ())
    return models_of(next(islice(columns, int(setup.game.targets[0]), None)))(0)


def _answers(outcome: Outcome, explainers: list[Explainer]) -> Ints:
    """How many of the explainers answered each record (N,) under the first target."""
    names, there = outcome.evidence.names, outcome.evidence.observed[:, :, int(outcome.game.targets[0])]
    out = np.zeros(there.shape[1], dtype=np.int64)
    for label in (Readout(e, ()).label for e in explainers):
        out += next((there[s] for s, name in enumerate(names) if name.explainer == label), False)
    return out


@dataclass(frozen=True)
class _Asked:
    """The first target of a game, to be asked again."""

    seed: int
    data: Dataset
    game: Game
    model: Model

    @property
    def column(self) -> int:
        """Its column in the game."""
        return int(self.game.targets[0])

    def denied(self, answers: Ints, exposed: list[int]) -> Ints:
        """Scored records (R,) without the favourable class, or all where none is: most answers (N,) first."""
        scored, hoped = np.flatnonzero(self.game.scored[:, 0]), self.data.schema.favourable
        rows = scored[_decided(self.model, self.data.X[scored]) != (-1 if hoped is None else hoped)]
        return np.asarray(rows[np.lexsort((rows, ~np.isin(rows, exposed), -answers[rows]))])

    def record(self, i: int) -> dict[str, Any]:
        """A record by its columns, whether the target was trained on it, and the outcome it has now."""
        columns, x = self.data.schema.columns, self.data.X[i]
        now = int(_decided(self.model, self.data.X[[i]])[0])
        return {
            "record": i,
            "member": bool(self.game.member[i, self.column]),
            "now": self.data.schema.classes[now],
            "cells": {c.name: value(c, float(v)) for c, v in zip(columns[:SHORT], x[:SHORT], strict=True)},
            "more": max(0, len(columns) - SHORT),
        }

    def said(self, explainer: Explainer, records: Ints) -> dict[int, str]:
        """What the explainer tells each of the records, from the streams that the audit explained and judged with."""
        member, out = self.game.member[:, self.column], dict[int, str]()
        prepared = preparations(self.model, self.data, member, self.seed, self.column)
        where = zlib.crc32(Readout(explainer, ()).label.encode()), self.column
        for tile, rows in tiles(self.game.cells()[:, self.column]):
            if (mine := np.isin(rows, records)).any():
                seen = look(prepared, self.data, explainer, rows, stream(self.seed, EXPLAIN, *where, tile))
                there, X = seen.answer.pick(mine), self.data.X[rows[mine]]
                share, sampled = self.kept(X, there, prepared.train, stream(self.seed, JUDGE, *where, tile))
                lines = sentences(X, there, self.data.schema, share, sampled)
                out |= dict(zip(rows[mine].tolist(), _marked(lines, there), strict=True))
        return out

    def kept(self, X: Floats, there: Counterfactual, train: Dataset, rng: np.random.Generator) -> tuple[Floats, Bools]:
        """How often (n,) answers to X keep their promise, NaN where there is none, and where that is an estimate (n,).

        Of the values covered, the share with the favourable class; without one, that with another class than now.
        """
        given, hoped, found = there.pick(there.found), self.data.schema.favourable, there.found
        share, sampled = np.full(len(X), np.nan), np.zeros(len(X), dtype=bool)
        of = _decided(self.model, X[found]) if hoped is None else np.full(int(found.sum()), hoped)
        pure = pureness(self.model, given.shown(self.data.schema), train, of, rng)
        share[found] = 1 - pure.value if hoped is None else pure.value
        sampled[found] = pure.low < pure.high
        return share, sampled


def _marked(lines: list[str], there: Counterfactual) -> list[str]:
    """The sentences, and a word where there is none."""
    held = np.zeros(len(lines), dtype=bool) if there.withheld is None else there.withheld
    gone = np.where(held, WITHHELD, NOTHING).tolist()
    return [line if found else word for line, found, word in zip(lines, there.found, gone, strict=True)]


def _decided(model: Model, X: Floats) -> Ints:
    """Labels (n,) of raw rows."""
    return np.asarray(model.logits(X).argmax(axis=1)) if len(X) else np.zeros(0, dtype=np.int64)
