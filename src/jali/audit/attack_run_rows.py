"""The rows of attack runs, which are query attacks; the metrics of all graders are treated alike."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from jali.audit.all_models import RunRecord
from jali.audit.attack_runs import AttackRun
from jali.audit.quality import Measured
from jali.audit.summary import Cells, combined, measure
from jali.audit.wrapped import wraps
from jali.core import registry
from jali.core.guesses import Estimate, Guesses, weighted
from jali.core.metrics import metric
from jali.core.values import Floats, Game, Ints, Rng
from jali.results import Row
from jali.stats import precision_recall
from jali.stats.intervals import estimate, over_units

Fresh = Callable[[], Rng]  # makes the random stream of a bootstrap anew
NAMING = ("reidentified", "singled_out")  # what an answer that is not given does to nobody
PER_CLASS = frozenset({"class_precision", "class_recall", "class_f1"})  # for papers only


def rows_of_run(record: RunRecord, game: Game, fresh: Fresh, person: Ints | None = None) -> list[Row]:
    """All rows of an attack run: metrics of its guesses, metrics per record, and metrics of the whole claim.

    person (N,): whose record each is; without it every record is a person of its own.
    """
    head = _head(record, int(game.scored.sum()) // max(1, len(game.targets)))
    grader = record.run.grader
    if record.failed:
        nothing = Estimate(None, reason=record.failed)
        return [_row(name, nothing, head) for name in (*grader.metrics, *grader.per_record)]
    out: list[Row] = []
    if record.guesses is not None:
        numbers = guessed(grader.metrics, weighted(game, record.guesses), fresh)
        out += [_row(name, number, head) for name, number in numbers.items()]
    out += _per_record(record, game, head, np.arange(len(game.member)) if person is None else person)
    overall = shown_overall(record.overall or {})
    return out + [_row(name, number, head) for name, number in overall.items()]


def guessed(metrics: tuple[str, ...], guesses: Guesses, fresh: Fresh) -> dict[str, Estimate]:
    """The metrics of guesses, by name; those that have no meaning with weights have a reason instead."""
    return {name: _guessed(name, guesses, fresh) for name in metrics}


def _guessed(name: str, guesses: Guesses, fresh: Fresh) -> Estimate:
    if guesses.weights is not None and name in precision_recall.NAMES:
        return Estimate(None, reason=f"{name} depends on how many records are flagged: it is not defined with weights.")
    return estimate(name, guesses, fresh())[0]


def overall_estimate(name: str, values: Floats) -> Estimate:
    """The mean of a metric of the whole claim over targets (T,), with its interval."""
    about = metric(name)
    return over_units(values, bounds=(about.low, about.high))


def shown_overall(overall: Mapping[str, Floats]) -> dict[str, Estimate]:
    """The metrics of the whole claim, except those of single classes."""
    return {
        name: overall_estimate(name, values) for name, values in overall.items() if metric(name).name not in PER_CLASS
    }


def _per_record(record: RunRecord, game: Game, head: dict[str, Any], person: Ints) -> list[Row]:
    """The mean of each metric that has a number for each record."""
    if record.values is None or record.defined is None:
        return []
    unit, rows = np.nonzero(game.scored.T)
    out = []
    for name, value, defined in zip(record.run.grader.per_record, record.values, record.defined, strict=True):
        made = measure(Measured(name), value[defined], unit[defined], person[rows[defined]])
        out.append(made.model_copy(update=head))
    return out


def changes(records: Sequence[RunRecord], game: Game, person: Ints | None = None) -> list[Row]:
    """What a defence changes: each metric on a defended explanation minus on the bare one, and both sides.

    The same attack asked both about the same people; those are counted to whom the bare one gave an answer. Where the
    defence gives them none, nobody is named: without them, a defence that withholds what is dangerous and changes
    nothing else would seem to have no effect.
    """
    out = []
    for bare, defended in itertools.permutations(records, 2):
        same = (bare.run.attack, bare.run.knowledge) == (defended.run.attack, defended.run.knowledge)
        if same and wraps(defended.run.explainer, bare.run.explainer):
            out += _changed(bare, defended, game, person)
    return out


def _changed(bare: RunRecord, defended: RunRecord, game: Game, person: Ints | None) -> list[Row]:
    if bare.values is None or bare.defined is None or defended.values is None or defended.defined is None:
        return []
    unit, rows = np.nonzero(game.scored.T)
    who = rows if person is None else person[rows]
    out = []
    for at, name in enumerate(bare.run.grader.per_record):
        asked = bare.defined[at]
        before = bare.values[at]
        after = np.where(defended.defined[at], defended.values[at], 0.0)
        found = combined(game, (1, -1), (Cells(after, asked), Cells(before, asked)), person) if name in NAMING else None
        if found is None:
            continue
        for one, other, value in ((bare, defended, before), (defended, bare, after)):
            made = measure(Measured(name), value[asked], unit[asked], who[asked])
            out.append(made.model_copy(update={**about(one.run), "kind": "paired", "beside": other.run.queried}))
        out.append(_row(name, found, {**about(defended.run), "kind": "change", "beside": bare.run.queried}))
    return out


def _head(record: RunRecord, records: int) -> dict[str, Any]:
    """The fields that all rows of a run share."""
    return {**about(record.run), "queries": record.queries, "n": records}


def about(run: AttackRun) -> dict[str, Any]:
    """What every row of an attack run is about."""
    return {
        "kind": "query attack",
        "learns": run.attack.learns,
        "attack": registry.spec(run.attack),
        "knowledge": registry.spec(run.knowledge),
        "explainer": run.queried,
    }


def _row(name: str, number: Estimate, head: dict[str, Any]) -> Row:
    row = Row(
        kind="query attack",
        metric=name,
        value=number.value,
        low=number.low,
        high=number.high,
        units=number.units,
        reason=number.reason,
    )
    return row.model_copy(update=head)
