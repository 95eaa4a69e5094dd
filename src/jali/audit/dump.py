"""One model's dump: queries, outputs and explanations in a table, with a column that says who was trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual
from jali.core.protocols import HasUnit, OnRequest, Signal, Vector
from jali.core.values import Bools, Column, Dataset, Evidence, Floats, Game, Ints, Schema, Seen, SignalName, Unit
from jali.data.tables import columns
from jali.data.tables.aligned import Aligned, aligned
from jali.data.tables.copies import copies
from jali.data.tables.frames import label, near
from jali.games.given_model import HALF

FEWEST = 200  # people who were not trained on: half are set aside to compare with, half are judged
SMALLEST = 1e-12  # probability that an output of zero counts as
EXPLAINED = frozenset({"attribution", "counterfactual"})


@dataclass(frozen=True)
class Layout:
    """Which columns of a dump hold what; prefixes stand for all columns that begin with them.

    outputs: probabilities of the classes, in the order of their names, or one of the second class. signals: columns
    that are attacked as they are, larger for members unless listed in low, where built-in signals may stand too. The
    rest are the queries.
    """

    member: str
    label: str = ""
    groups: str = ""
    outputs: tuple[str, ...] = ()
    attribution: str = ""
    counterfactual: str = ""
    signals: tuple[str, ...] = ()
    low: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Dump:
    """The queries as a table, the signals as evidence of one model, and the game in which they are attacked."""

    data: Dataset
    evidence: Evidence
    game: Game
    notes: tuple[str, ...]


def gathered(table: Any, layout: Layout, member: Bools, seed: int) -> Dump:
    """The evidence in a dump: every signal that its columns allow."""
    parts = _parts(table, layout)
    both = _queries(table, parts, layout)
    kept = both.at["queries"]
    schema, y = _labels(table, layout, both.schema)
    person = columns.whose(table, layout.groups)[0][kept] if layout.groups else None
    data = Dataset(both.rows["queries"], y[kept], schema, person)
    found = _signals(table, parts, layout, both, data, kept)
    if not found:
        raise JaliError(
            "The dump holds nothing to attack: name columns with --signal, --output and --label, --attribution or "
            "--counterfactual, such as jali attack dump.csv --member member --output p_ --label y."
        )
    names = tuple(name for name, *_ in found)
    value = np.stack([cells for _, cells, _, _ in found])[:, :, None]
    observed = np.stack([seen for _, _, seen, _ in found])[:, :, None]
    inside = member[kept]
    evidence = Evidence(names, np.where(observed, value, 0.0), observed, inside[:, None], tuple(u for *_, u in found))
    asked = ", ".join(c.name for c in both.schema.columns[:8]) + (" and more" if len(both.schema.columns) > 8 else "")
    read = f"Columns taken as queries, which say nothing about the model: {asked}." if parts["queries"] else ""
    game, same = _game(data, inside, seed)
    return Dump(data, evidence, game, (*filter(None, [read, same]), *both.notes))


def _parts(table: Any, layout: Layout) -> dict[str, list[str]]:
    """The columns of each kind."""
    names = [str(c) for c in table.columns]
    outputs = [name for given in layout.outputs for name in _beginning(names, given, "output")]
    parts = {"outputs": outputs}
    for kind in ("attribution", "counterfactual"):
        prefix = getattr(layout, kind)
        parts[kind] = _beginning(names, prefix, kind) if prefix else []
    computed = registry.names("signal")
    for option, some in {"signal": layout.signals, "low": layout.low}.items():
        if unknown := [name for name in some if name not in names and (option == "signal" or name not in computed)]:
            raise JaliError(f"--{option} {unknown[0]}: the dump has no such column; {near(unknown[0], names)}")
    used = {layout.member, layout.label, layout.groups, *layout.signals, *layout.low}
    used |= {name for some in parts.values() for name in some}
    return parts | {"queries": [name for name in names if name not in used]}


def _beginning(names: Sequence[str], given: str, option: str) -> list[str]:
    """A column of this name, or all columns whose names begin so."""
    found = [given] if given in names else [name for name in names if name.startswith(given)]
    if not found:
        raise JaliError(f"--{option} {given}: no column of the dump begins like this; {near(given, list(names))}")
    return found


def _queries(table: Any, parts: Mapping[str, list[str]], layout: Layout) -> Aligned:
    """The queries, and the counterfactuals beside them, on one schema; a dump without queries has one empty column."""
    prefix = layout.counterfactual
    asked = parts["queries"]
    if parts["counterfactual"]:
        pairs = {name.removeprefix(prefix): name for name in parts["counterfactual"]}
        shared = [name for name in asked if name in pairs]
        if not shared:
            raise JaliError(
                f"--counterfactual {prefix}: no counterfactual column is that of a query; for a query column age the "
                f"dump needs {prefix}age."
            )
        answers = table[[pairs[name] for name in shared]].set_axis(shared, axis=1)
        return aligned({"queries": table[shared], "answers": answers})
    if not asked:
        everybody = np.arange(len(table))
        return Aligned(
            Schema((Column("none", low=0, high=1),)), {"queries": np.zeros((len(table), 1))}, {"queries": everybody}, ()
        )
    return aligned({"queries": table[asked]})


def _labels(table: Any, layout: Layout, schema: Schema) -> tuple[Schema, Ints]:
    """The schema with the classes of the labels, and the labels (N,); without any, all are of one class."""
    if not layout.label:
        return schema, np.zeros(len(table), dtype=np.int64)
    if layout.label not in table.columns:
        raise JaliError(
            f"--label {layout.label}: the dump has no such column; {near(layout.label, list(table.columns))}"
        )
    texts = np.array([label(value) for value in table[layout.label]], dtype=str)
    names, codes = np.unique(texts, return_inverse=True)
    if len(names) > 50:
        raise JaliError(f"--label {layout.label}: {len(names)} different values are no classes; name the class column.")
    return Schema(schema.columns, tuple(names.tolist()) if len(names) > 1 else (*names.tolist(), "other")), codes


Signals = list[tuple[SignalName, Floats, Bools, Unit]]


def _signals(
    table: Any, parts: Mapping[str, list[str]], layout: Layout, both: Aligned, data: Dataset, kept: Ints
) -> Signals:
    """Every built-in signal that what is there allows, and the columns that were named."""
    everywhere = np.ones(len(kept), dtype=bool)
    out: Signals = []
    for name in (*layout.signals, *(n for n in layout.low if n not in layout.signals and n in table.columns)):
        x = _numbers(table, [name])[kept, 0]
        seen = np.isfinite(x)
        sign = -1.0 if name in layout.low else 1.0
        out.append((SignalName(name), np.where(seen, sign * x, 0.0), seen, Unit.PLAIN))
    base: dict[str, Any] = {"x": data.X, "encode": Encoding(data.schema).encode, "schema": data.schema}
    if layout.label:
        base["y"] = data.y
    if parts["outputs"]:
        logits = _logits(_numbers(table, parts["outputs"])[kept], data.schema)
        base |= {"logits": logits, "decision": logits.argmax(axis=1)}
        out += _computed(base, "", everywhere, layout.low)
    if parts["attribution"]:
        values = _numbers(table, parts["attribution"])[kept]
        seen = np.asarray(np.isfinite(values).all(axis=1))
        fits = values.shape[1] == len(Encoding(data.schema).source)  # else columns cannot be told from features
        plain = base if fits else {name: value for name, value in base.items() if name != "schema"}
        shown = plain | {"attribution": Attribution(np.where(seen[:, None], values, 0.0))}
        out += _computed(shown, "attribution", seen, layout.low)
    if parts["counterfactual"]:
        seen = np.isin(kept, both.at["answers"])
        rows = data.X.copy()
        rows[seen] = both.rows["answers"][np.isin(both.at["answers"], kept)]
        shown = base | {"counterfactual": Counterfactual(rows, seen)}
        out += _computed(shown, "counterfactual", seen, layout.low)
    return out


def _numbers(table: Any, names: Sequence[str]) -> Floats:
    """Columns of numbers (n, columns); an error names the first that holds something else, and no value of it."""
    for name in names:
        if table[name].dtype.kind not in "biuf":
            raise JaliError(f"Column {name!r} of the dump must hold numbers only.")
    found: Floats = table[list(names)].to_numpy(np.float64, na_value=np.nan)
    return found


def _logits(p: Floats, schema: Schema) -> Floats:
    """Log-probabilities (n, C) from probabilities of all classes, or of the second one alone."""
    if not np.isfinite(p).all() or p.min() < 0 or p.max() > 1 + 1e-6:
        off = int((~((p >= 0) & (p <= 1 + 1e-6))).any(axis=1).sum())
        raise JaliError(
            f"--output: probabilities between 0 and 1 are expected, and {off} of {len(p)} rows have others or none: "
            "name the columns of probabilities, and leave such rows out."
        )
    p = np.hstack([1 - p, p]) if p.shape[1] == 1 else p
    if p.shape[1] != len(schema.classes):
        raise JaliError(
            f"--output: {p.shape[1]} columns of probabilities, but the labels have {len(schema.classes)} classes."
        )
    return np.log(np.maximum(p, SMALLEST))


def _computed(given: Mapping[str, Any], kind: str, seen: Bools, low: Sequence[str]) -> Signals:
    """The built-in signals that read no more than what is given, and the explanation of this kind if there is one."""
    view = Seen({name: lambda value=value: value for name, value in given.items()})  # type: ignore[misc]
    out: Signals = []
    for name in registry.names("signal"):
        signal: Signal = registry.build("signal", name)
        usual = (not isinstance(signal, OnRequest) or signal.usual) and not isinstance(signal, Vector)
        if not usual or not signal.needs <= set(given) or signal.needs & EXPLAINED != ({kind} - {""}):
            continue
        cells = np.asarray(signal(view.only(signal.needs)), dtype=np.float64)
        good = seen & np.isfinite(cells)
        unit = signal.unit if isinstance(signal, HasUnit) and name not in low else Unit.PLAIN
        sign = -1.0 if name in low else 1.0
        out.append((SignalName(name, kind), np.where(good, sign * cells, 0.0), good, unit))
    return out


def _game(data: Dataset, member: Bools, seed: int) -> tuple[Game, str]:
    """One target without shadow models; half of the people outside are set aside to compare with.

    Second, a sentence where rows that were not trained on are rows of members all the same.
    """
    person = data.group_numbers()
    inside = np.unique(person[member])
    outside = np.setdiff1d(np.unique(person), inside)
    if len(outside) < FEWEST or len(inside) < FEWEST // 2:
        raise JaliError(
            f"The dump has {len(inside)} people who were trained on and {len(outside)} who were not; at least "
            f"{FEWEST // 2} and {FEWEST} are needed, since half of these are set aside to compare with."
        )
    drawn = np.random.default_rng(seed).permutation(outside)[: round(HALF * len(outside))]
    aside = np.isin(person, drawn)
    found = copies(data, member, ~member)
    if found.too_many:
        raise JaliError(
            f"{found.count:,} of {found.others:,} rows that were not trained on equal one that was, in every query "
            f"column and the label, and {found.twins:,} of {found.train:,} training rows equal another one: does the "
            "member column say who was trained on?"
        )
    mixed = ~member & (np.isin(person, inside) | found.same_people)  # rows of members that were not trained on
    many = int(found.same_people.sum())
    same = f"{many:,} rows that were not trained on equal a training row: they are left out." if many else ""
    aside = aside & ~mixed
    scored = (~aside & ~mixed)[:, None]
    asked = (~mixed)[:, None]
    return Game(member[:, None], np.array([0]), np.zeros((1, 1), dtype=bool), scored, asked, aside), same
