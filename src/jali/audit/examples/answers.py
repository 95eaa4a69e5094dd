"""Example answers to people without the favourable outcome, explainer by explainer, for a reader who asked for values.

An audit keeps signals and drops explanations, so the few that are shown are recomputed: for the first target, with the
streams and the whole tiles of the audit, because some answers depend on the other records of their tile.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from jali.anonymity.measures import pureness
from jali.audit.all_models import blocks
from jali.audit.one_model import EXPLAIN, STATISTICS, Readout, models_of, preparations, stream
from jali.audit.one_tile import look, tiles
from jali.audit.outcome import Outcome
from jali.audit.setup import Resources, Setup
from jali.core.explanation import Counterfactual, Explainer
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Game, Ints
from jali.parallel import alone
from jali.text.sentences import sentences, value

PEOPLE = 3
LEARNT = 4  # values of a person found that are written out
SHORT = 12  # columns of a record that are written out; the others are only counted
WITHHELD, NOTHING = "withheld", "no answer"


def examples(setup: Setup, resources: Resources, outcome: Outcome) -> dict[str, Any]:
    """The target, the outcome hoped for, and for up to three records the answer of each explainer, ready for JSON.

    The records are those without the favourable outcome: those with most answers first, then the exposed ones, then by
    row number. Empty where no explainer gives counterfactuals, where records are pictures, or where there are none.
    """
    data = setup.data
    explainers = [e for e in setup.parts.explain if e.gives == "counterfactual"]
    if data.schema.image is not None or not explainers:
        return {}
    target = _Target(setup.parts.seed, data, setup.game, alone(lambda _: _model(setup, resources), None))
    records = target.denied(_answered(outcome, explainers), [row.record for row in outcome.results.exposed])[:PEOPLE]
    if not len(records):
        return {}
    answers = {Readout(e, ()).label: alone(lambda e: target.answers(e, records), e) for e in explainers}
    hoped = data.schema.favourable
    return {
        "model": target.number,
        "hoped": "" if hoped is None else data.schema.classes[hoped],
        "explainers": list(answers),
        "records": [
            target.record(i)
            | {"said": [by[i].said for by in answers.values()], "found": [by[i].leads for by in answers.values()]}
            for i in records.tolist()
        ],
    }


def _model(setup: Setup, resources: Resources) -> Model:
    """The first target, from the store if it is stored."""
    todo = blocks(setup, replace(resources, block=1), ())
    return models_of(next(islice(todo, int(setup.game.targets[0]), None)))(0)


def _answered(outcome: Outcome, explainers: list[Explainer]) -> Ints:
    """How many of the explainers answered each record (N,) under the first target."""
    names, observed = outcome.evidence.names, outcome.evidence.observed[:, :, int(outcome.game.targets[0])]
    out = np.zeros(observed.shape[1], dtype=np.int64)
    for label in (Readout(e, ()).label for e in explainers):
        out += next((observed[s] for s, name in enumerate(names) if name.explainer == label), False)
    return out


@dataclass(frozen=True)
class _Told:
    """One answer in words, and whom it leads to: the training people who fit it, and what is learnt of one alone."""

    said: str
    leads: str


@dataclass(frozen=True)
class _Target:
    """The first target of a game, with what is needed to explain it again."""

    seed: int
    data: Dataset
    game: Game
    model: Model

    @property
    def number(self) -> int:
        """The number of the model in the game."""
        return int(self.game.targets[0])

    def denied(self, answers: Ints, exposed: list[int]) -> Ints:
        """Scored records (R,) without the favourable class, or all where none is: most answers (N,) first."""
        scored = np.flatnonzero(self.game.scored[:, 0])
        hoped = self.data.schema.favourable
        rows = scored[_decided(self.model, self.data.X[scored]) != (-1 if hoped is None else hoped)]
        return np.asarray(rows[np.lexsort((rows, ~np.isin(rows, exposed), -answers[rows]))])

    def record(self, i: int) -> dict[str, Any]:
        """A record by its columns, whether the target was trained on it, and the outcome it has now."""
        columns, x = self.data.schema.columns, self.data.X[i]
        now = int(_decided(self.model, self.data.X[[i]])[0])
        return {
            "record": i,
            "member": bool(self.game.member[i, self.number]),
            "now": self.data.schema.classes[now],
            "cells": {c.name: value(c, float(v)) for c, v in zip(columns[:SHORT], x[:SHORT], strict=True)},
            "more": max(0, len(columns) - SHORT),
        }

    def answers(self, explainer: Explainer, records: Ints) -> dict[int, _Told]:
        """The explainer's answer to each of the records in words, from the random streams of the audit."""
        member = self.game.member[:, self.number]
        out: dict[int, _Told] = {}
        prepared = preparations(self.model, self.data, member, self.seed, self.number)
        where = zlib.crc32(Readout(explainer, ()).label.encode()), self.number
        for tile, rows in tiles(self.game.cells()[:, self.number]):
            if (mine := np.isin(rows, records)).any():
                seen = look(prepared, self.data, explainer, rows, stream(self.seed, EXPLAIN, *where, tile))
                counterfactuals, X = seen.explanation.pick(mine), self.data.X[rows[mine]]
                share, sampled = self.pure(
                    X, counterfactuals, prepared.train, stream(self.seed, STATISTICS, *where, tile)
                )
                lines = sentences(X, counterfactuals, self.data.schema, share, sampled)
                leads = leads_to(counterfactuals, self.data, np.flatnonzero(member))
                said = map(_Told, _marked(lines, counterfactuals), leads)
                out |= dict(zip(rows[mine].tolist(), said, strict=True))
        return out

    def pure(
        self, X: Floats, counterfactuals: Counterfactual, train: Dataset, rng: np.random.Generator
    ) -> tuple[Floats, Bools]:
        """Pureness (n,) of the answers to X, NaN where there is none, and where it is an estimate (n,).

        It is the share of the values covered with the favourable class; without one, with another class than now.
        """
        found = counterfactuals.found
        given = counterfactuals.pick(found)
        hoped = self.data.schema.favourable
        share = np.full(len(X), np.nan)
        sampled = np.zeros(len(X), dtype=bool)
        of = _decided(self.model, X[found]) if hoped is None else np.full(int(found.sum()), hoped)
        pure = pureness(self.model, given.shown(self.data.schema), train, of, rng)
        share[found] = 1 - pure.value if hoped is None else pure.value
        sampled[found] = pure.low < pure.high
        return share, sampled


def leads_to(counterfactuals: Counterfactual, data: Dataset, trained: Ints) -> list[str]:
    """Whom each answer leads to among the training rows (M,), for somebody who knows their quasi-identifiers.

    Of a person who fits alone, the values that the answer shows rightly are what is learnt.
    """
    quasi = np.flatnonzero([column.role == "quasi" for column in data.schema.columns])
    if not len(quasi):
        return [""] * len(counterfactuals.found)
    fits = counterfactuals.shown(data.schema).covers(data.X[trained], quasi)
    out = []
    for given, mine, shown in zip(counterfactuals.found, fits, counterfactuals.rows, strict=True):
        people = np.unique(data.group_numbers()[trained[mine]])
        if not given or not len(people):
            out.append("fits nobody in the training data" if given else "")
        elif len(people) > 1:
            out.append(f"fits {len(people):,} training people")
        else:
            out.append(_alone(shown, data, int(trained[mine][0]), quasi))
    return out


def _alone(shown: Floats, data: Dataset, row: int, quasi: Ints) -> str:
    """The one person whom an answer fits, and which other values it shows of them."""
    columns = data.schema.columns
    private = [j for j in range(len(columns)) if j not in quasi.tolist()]
    right = [j for j in private if shown[j] == data.X[row, j]]
    values = ", ".join(f"{columns[j].name} {value(columns[j], float(shown[j]))}" for j in right[:LEARNT])
    more = f" and {len(right) - LEARNT} more" if len(right) > LEARNT else ""
    learnt = f": {values}{more}" if right else ""
    return f"fits row {row} alone; {len(right)} of {len(private)} other values of that person are then known{learnt}"


def _marked(lines: list[str], counterfactuals: Counterfactual) -> list[str]:
    """The sentences, or why there is none."""
    held = np.zeros(len(lines), dtype=bool) if counterfactuals.withheld is None else counterfactuals.withheld
    gone = np.where(held, WITHHELD, NOTHING).tolist()
    return [line if found else word for line, found, word in zip(lines, counterfactuals.found, gone, strict=True)]


def _decided(model: Model, X: Floats) -> Ints:
    """Labels (n,) of raw rows."""
    return np.asarray(model.logits(X).argmax(axis=1)) if len(X) else np.zeros(0, dtype=np.int64)
