"""Explanations as answers: sentences, and values by column under the names that people know."""

from __future__ import annotations

from typing import Any

import numpy as np

from jali.anonymity.region_search import needed, points
from jali.core.encoding import Encoding
from jali.core.explanation import Attribution, Counterfactual, Regions, Surrogate, categories
from jali.core.protocols import Model
from jali.core.values import Bools, Column, Floats, Ints, Schema
from jali.protect.answers import Answer
from jali.text.catalogue import ENGLISH, Catalogue
from jali.text.rules import Readable
from jali.text.sentences import sentences, value

TINY = 1e-6  # share of the largest attribution below which a column is not named
MOST = 5  # columns that a sentence on attributions names


def kept_immutable(X: Floats, given: Counterfactual, schema: Schema) -> Counterfactual:
    """The answers with immutable columns exactly as in the record; one that needs another value is dropped."""
    fixed = np.flatnonzero([not c.mutable for c in schema.columns])
    if not len(fixed):
        return given
    own = Regions.of(X, schema)
    shown = given.shown(schema)
    outside = needed(X, shown)[:, fixed].any(axis=1) if given.regions is not None else False
    moved = (given.rows[:, fixed] != X[:, fixed]).any(axis=1)
    found = given.found & ~outside & ~moved
    regions = None
    if given.regions is not None:
        low = shown.low.copy()
        high = shown.high.copy()
        allowed = shown.allowed.copy()
        low[:, fixed] = X[:, fixed]
        high[:, fixed] = X[:, fixed]
        allowed[:, fixed] = own.allowed[:, fixed]
        regions = Regions(low, high, allowed, schema)
    return Counterfactual(np.where(found[:, None], given.rows, X), found, regions)


def recourse_answers(
    model: Model,
    X: Floats,
    given: Counterfactual,
    schema: Schema,
    claim: str,
    predicted: Ints,
    say: Catalogue = ENGLISH,
) -> list[Answer]:
    """Answers to records X (n, D); predicted (n,): the classes that they have now; say: in which language."""
    share = _share(model, X, given, schema, predicted)
    # A share of 1 at all rows that were tried is not mentioned.
    lines = sentences(X, given, schema, share, given.found & (share < 1), say)
    shown = given.shown(schema)
    moves = needed(X, shown)
    hoped = "" if schema.favourable is None else schema.classes[schema.favourable]
    out = []
    for i in range(len(X)):
        if predicted[i] == schema.favourable:
            out.append(Answer(say.already.format(outcome=hoped), claim, outcome=hoped))
        elif not given.found[i]:
            out.append(Answer(say.withheld, claim, withheld=say.withheld, outcome=hoped))
        else:
            row = {c.name: plain(c, x) for c, x in zip(schema.columns, given.rows[i], strict=True)}
            region = None if given.regions is None else region_of(shown, i, moves[i])
            if region is None:
                region = {
                    c.name: row[c.name] for c, x, y in zip(schema.columns, X[i], given.rows[i], strict=True) if x != y
                }
            out.append(Answer(lines[i], claim, outcome=hoped, row=row, region=region))
    return out


def _share(model: Model, X: Floats, given: Counterfactual, schema: Schema, predicted: Ints) -> Floats:
    """The share (n,) of rows of each region that have the outcome, of those tried; NaN where there is no region."""
    out = np.full(len(X), np.nan)
    at = np.flatnonzero(given.found)
    if given.regions is None or not len(at):
        return np.where(given.found, 1.0, np.nan)
    regions = given.regions.pick(at)
    rows = points(X[at], regions, needed(X[at], regions))
    labels = model.logits(rows.reshape(-1, X.shape[1])).argmax(axis=1).reshape(len(at), -1)
    good = labels != predicted[at, None] if schema.favourable is None else labels == schema.favourable
    out[at] = good.mean(axis=1)
    return out


def region_of(shown: Regions, i: int, moves: Bools) -> dict[str, Any]:
    """What the columns that change would have to be: an interval, or the categories in words."""
    named = categories(shown.schema)
    out: dict[str, Any] = {}
    for j in np.flatnonzero(moves):
        column = shown.schema.columns[j]
        if j in named:
            out[column.name] = [column.categories[code] for code in np.flatnonzero(shown.allowed[i, j])]
        else:
            low, high = plain(column, shown.low[i, j]), plain(column, shown.high[i, j])
            out[column.name] = (low, high)
    return out


def attribution_answers(given: Attribution, schema: Schema, claim: str, predicted: Ints) -> list[Answer]:
    """Answers by column: what each of them added to the score of the outcome, largest first."""
    source = Encoding(schema).source
    names = [c.name for c in schema.columns]
    out = []
    for value_, label in zip(given.value, predicted, strict=True):
        total = np.bincount(source, value_, len(names))
        order = np.argsort(-np.abs(total), kind="stable")
        share = {names[j]: float(total[j]) for j in order}
        top = ", ".join(
            f"{names[j]} ({total[j]:+.3g})" for j in order[:MOST] if abs(total[j]) > TINY * abs(total[order[0]])
        )
        outcome = schema.classes[label]
        line = f"Most for or against {outcome}, in units of its score: {top}." if top else "No column stands out."
        out.append(Answer(line, claim, outcome=outcome, attribution=share))
    return out


def surrogate_answers(given: Surrogate, X: Floats, schema: Schema, claim: str, predicted: Ints) -> list[Answer]:
    """The rule that covers each record, and the rules with another outcome that were found for it."""
    out = []
    for x, which, label in zip(X, given.which, predicted, strict=True):
        model = given.models[which]
        rules = model.rules() if isinstance(model, Readable) else ()
        own = [rule.sentence(schema) for rule in rules if rule.covers(x[None])[0]][:1]
        others = [rule.change(x, schema) for rule in rules if len(given.models) > 1 and not rule.covers(x[None])[0]]
        text = " ".join([*own, *others])
        gone = "" if text else ENGLISH.withheld
        out.append(Answer(text or ENGLISH.withheld, claim, withheld=gone, outcome=schema.classes[label]))
    return out


def plain(column: Column, x: float) -> Any:
    """A raw value as people know it: a category by its name, a date as yyyy-mm-dd, a whole number whole."""
    if column.kind == "category" or column.date:
        return value(column, float(x))
    return int(x) if column.kind == "integer" else float(x)
