"""One model's dump, attacked without the model."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jali.api.finishing import finished
from jali.api.own_model import NO_MODEL
from jali.api.released import frame_of, truths
from jali.api.result import Audit
from jali.audit import distribution_shift, sanity
from jali.audit.dump import Layout, gathered
from jali.audit.one_model import digest
from jali.audit.outcome import Outcome, stamped
from jali.audit.setup import Resources
from jali.audit.signal_attacks import attack_evidence
from jali.audit.summary import left_out, sizes
from jali.config import checked
from jali.core import registry
from jali.core.errors import JaliError
from jali.results import Results, Row
from jali.store import read_arrays

ONE_MODEL = "This is one model: intervals are over people and conditional on it; another model may leak more or less."
AGAIN = "Attacks that read the records cannot be repeated from evidence.npz: attack the dump again."


def attack_dump(
    dump: Any,
    member: str = "member",
    *,
    signal: Sequence[str] = (),
    low: Sequence[str] = (),
    label: str = "",
    output: Sequence[str] = (),
    attribution: str = "",
    counterfactual: str = "",
    groups: str = "",
    attack: Sequence[str] = (),
    seed: int = 0,
    resources: Resources = Resources(),  # noqa: B008 (frozen)
) -> Audit:
    """Attack one model's dump: a table of queries, outputs and explanations, with a column of who was trained on.

    `dump` is a .csv, .tsv, .parquet or .npz file, or a pandas table. `output` names columns of probabilities (or how
    their names begin), `label` the true class, `attribution` and `counterfactual` how the names of such columns begin,
    `signal` columns that are attacked as they are (larger for members; lower for those in `low`). All other columns are
    the queries. Half of the people who were not trained on are set aside to compare with.
    """
    began = time.perf_counter()
    table = table_of(dump)
    layout = Layout(member, label, groups, tuple(output), attribution, counterfactual, tuple(signal), tuple(low))
    found = gathered(table, layout, truths(table, member, "member"), seed)
    checked({"seed": seed})
    against = distribution_shift.of_existing(found.data, found.game, seed)
    attacks = [registry.build("attack", a) for a in attack]
    resources = resources.for_cells(found.evidence.value.size)
    attacked = attack_evidence(found.evidence, against.game, attacks, seed, resources, found.data)
    key = registry.key("dump", digest(found.evidence.value, found.evidence.observed, found.game.member), seed)
    results = Results(
        rows=stamped(attacked.rows, key),
        controls=attacked.controls,
        curves=attacked.curves,
        exposed=attacked.exposed,
        sanity=[against.check, *sanity.rows_per_person(found.data, against.game), *attacked.checks],
        warnings=[ONE_MODEL, *found.notes, *against.warnings, *left_out(against.game), *_turned(attacked.rows), AGAIN],
        facts={**sizes(against.game, found.data), **against.facts},
        timings={"attacks and statistics": time.perf_counter() - began},
    )
    return finished(Outcome(results, found.evidence, against.game), checked(NO_MODEL | {"seed": seed}))


def _turned(rows: Sequence[Row]) -> list[str]:
    """Signals that are lower for members here: an attacker who knows that is stronger than the one who was tried."""
    out = []
    for row in rows:
        if (row.kind, row.attack, row.metric, row.group) == ("attack", "threshold", "auc", "") and (
            row.high or 1.0
        ) < 0.5:
            name = row.signal.rpartition("/")[2]
            out.append(
                f"{name} is lower for members in this dump, with an AUC of {row.value:.3f}: an attacker who knows that "
                f"has {1 - (row.value or 0.0):.3f}. Attack it the other way round with --low {name}."
            )
    return out


def table_of(dump: Any) -> Any:
    """A dump as a table; of an npz file each array is a column, or columns name_0, name_1, …"""
    import pandas as pd

    if not isinstance(dump, str | Path) or Path(dump).suffix.lower() != ".npz":
        return frame_of(dump)
    columns: dict[str, Any] = {}
    for name, array in read_arrays(Path(dump).expanduser()).items():
        if array.ndim == 2:
            columns |= {f"{name}_{j}": column for j, column in enumerate(array.T)}
        elif array.ndim == 1:
            columns[name] = array
    if len({len(column) for column in columns.values()}) != 1:
        raise JaliError(
            f"{dump}: the arrays of a dump have one entry per query, (n,) or (n, columns); these do not agree."
        )
    return pd.DataFrame({name: np.asarray(column) for name, column in columns.items()})
