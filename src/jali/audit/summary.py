"""Rows and facts beside the attacks: exposed records, subgroups, quality of models and explanations, sizes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jali.audit.quality import RELIANCE, SHOWN, Measured, Quality
from jali.audit.thresholds import flagged
from jali.audit.unique import one_of_a_kind
from jali.core.guesses import Estimate, Guesses
from jali.core.metrics import metric as metric_of
from jali.core.values import Bools, Dataset, Evidence, Floats, Game, Ints, SignalName
from jali.data.tables.copies import copies
from jali.results import Exposed, Row
from jali.stats.influence import spread
from jali.stats.intervals import average, clopper_pearson, over_units
from jali.stats.people import people

SMALLEST_GROUP = 20
SOMETIMES = (RELIANCE, "clamped", "ncp_above_bound", "withheld", *SHOWN)  # measures that only some explainers have
BY_GROUP = ("anonymity_set", "ncp", "pureness")
NOBODY = "There is no record to measure it on."


def exposed(guesses: Guesses, alpha: float, most: int = 20) -> list[Exposed]:
    """The records most often recognised at a share alpha of false positives, by row number."""
    hit = flagged(guesses, alpha) & guesses.truth
    width = int(guesses.record.max()) + 1
    times = np.bincount(guesses.record[guesses.truth], minlength=width)
    hits = np.bincount(guesses.record[hit], minlength=width)
    # Rates are shrunk by one more membership with a tenth of a hit, so that 5 of 5 comes before 1 of 1.
    order = np.lexsort((np.arange(width), -(hits + 0.1) / (times + 1)))[:most]
    return [
        Exposed(record=int(i), recognised=int(hits[i]), member_of=int(times[i]), rate=float(hits[i] / times[i]))
        for i in order
        if hits[i]
    ]


def groups(data: Dataset) -> dict[str, Bools]:
    """Subgroups of records: people who are one of a kind, and those of `by_value`; small ones are left out."""
    return _large(one_of_a_kind(data)) | by_value(data)


def _large(found: dict[str, Bools]) -> dict[str, Bools]:
    return {label: inside for label, inside in found.items() if inside.sum() >= SMALLEST_GROUP}


def by_value(data: Dataset) -> dict[str, Bools]:
    """Subgroups of records: each value of a quasi-identifier, numbers cut at their thirds; small ones are left out."""
    out: dict[str, Bools] = {}
    for j, column in enumerate(data.schema.columns):
        if column.role != "quasi" and column.name != data.schema.sensitive:
            continue
        if column.kind == "category":
            found = {f"{column.name} = {v}": data.X[:, j] == code for code, v in enumerate(column.categories)}
            out |= found if len(found) <= 30 else _by_size(column.name, data.X[:, j])
        else:
            out |= _thirds(column.name, data.X[:, j])
    return _large(out)


def _thirds(name: str, x: Floats) -> dict[str, Bools]:
    """Three subgroups cut at the thirds of a column, named by the cuts so that no extreme value is revealed."""
    cuts = np.unique(np.quantile(x, [1 / 3, 2 / 3]))
    third = np.searchsorted(cuts, x, side="left")
    words = [f"up to {cuts[0]:.4g}", *(f"above {low:.4g} to {high:.4g}" for low, high in itertools.pairwise(cuts))]
    return {f"{name} {word}": third == k for k, word in enumerate([*words, f"above {cuts[-1]:.4g}"])}


def _by_size(name: str, codes: Floats) -> dict[str, Bools]:
    """Too many categories to show each: records by how common their category is."""
    count = np.bincount(codes.astype(np.int64))[codes.astype(np.int64)]
    cuts = np.quantile(count, [1 / 3, 2 / 3])
    third = np.searchsorted(cuts, count, side="left")
    words = ("rare", "middling", "common")
    return {f"{name}: {words[k]}": third == k for k in np.unique(third)}


def measures(
    evidence: Evidence, game: Game, quality: Quality, of: Mapping[str, Bools], person: Ints | None = None
) -> list[Row]:
    """Accuracy of the targets on members and non-members, the share each explainer answered, quality of recourse.

    The cost of generalising is also reported for the records of each group (N,). person (N,): whose record each is;
    without it every record is a person of its own.
    """
    unit, record = np.nonzero(game.scored.T)
    who = record if person is None else person[record]
    column = game.targets[unit]
    out = []
    correct = SignalName("correctness")
    if correct in evidence.names:
        right = evidence.value[evidence.names.index(correct)][record, column]
        inside = game.member[record, column]
        for metric, side in {"train_accuracy": inside, "test_accuracy": ~inside}.items():
            out.append(measure(Measured(metric), right[side], unit[side], who[side]))
    seen = set()
    for signal, observed in zip(evidence.names, evidence.observed, strict=True):
        explainer = signal.explainer
        if explainer not in seen and (explainer or not observed[game.cells()].all()):
            seen.add(explainer)
            out.append(measure(Measured("answered", explainer), observed[record, column], unit, who))
    for name, value, defined in zip(quality.names, quality.value, quality.defined, strict=True):
        if defined.any() or name.metric not in SOMETIMES:
            out.append(measure(name, value[defined], unit[defined], who[defined]))
        for label, inside in of.items() if name.metric in BY_GROUP else ():
            mine = defined & inside[record]
            row = measure(name, value[mine], unit[mine], who[mine])
            out.append(row.model_copy(update={"group": label, "n": int(mine.sum())}))
    return out


@dataclass(frozen=True)
class Cells:
    """One number per scored cell of a game (G,), and where it is defined (G,), in all or in one subgroup."""

    value: Floats
    defined: Bools
    group: str = ""


def cells_of(quality: Quality, name: Measured, inside: Bools | None, game: Game, group: str = "") -> Cells | None:
    """A measure in all scored cells, of the records inside a group (N,) if one is given; None if not measured."""
    if name not in quality.names:
        return None
    at = quality.names.index(name)
    record = np.nonzero(game.scored.T)[1]
    defined = quality.defined[at] if inside is None else quality.defined[at] & inside[record]
    return Cells(quality.value[at].astype(np.float64), defined, group)


def combined(game: Game, signs: Sequence[int], cells: Sequence[Cells], person: Ints | None = None) -> Estimate | None:
    """Signed sum of the means of measures, on the same target models; None if no target has all of them.

    Means are added within each target. Unless groups are compared, they are taken over the records that have all.
    person (N,): whose record each is; without it every record is a person of its own.
    """
    unit, record = np.nonzero(game.scored.T)
    value = np.stack([c.value for c in cells])
    defined = np.stack([c.defined for c in cells])
    if not any(c.group for c in cells):
        defined[:] = defined.all(axis=0)
    count = np.stack([np.bincount(unit, side, len(game.targets)) for side in defined])
    every: Bools = np.asarray((count > 0).all(axis=0))
    if not every.any():
        return None
    totals = np.stack([np.bincount(unit, v * t, len(every)) for v, t in zip(value, defined, strict=True)])
    means = totals / count.clip(1)
    effect = np.where(defined, (value - means[:, unit]) / count.clip(1)[:, unit], 0.0)
    weight = np.asarray(signs, dtype=np.float64)
    mine = weight @ effect
    there = every[unit]
    who = record if person is None else person[record]
    known = spread(mine[there], unit[there], who[there])
    return over_units((weight @ means)[every], 0.95, (-np.inf, np.inf), known)


def sensitive(data: Dataset) -> dict[str, Bools]:
    """Records by the value of the sensitive attribute."""
    name = data.schema.sensitive
    return {} if name is None else {k: v for k, v in by_value(data).items() if k.startswith(f"{name} ")}


def measure(name: Measured, x: Any, unit: Ints, person: Ints) -> Row:
    """The mean of a measure, one number (G,) per target model (G,) and record of a person (G,), as a row."""
    row = Row(kind="measure", metric=name.metric, explainer=name.explainer, value=None, reason=NOBODY)
    if not len(x):
        return row
    e = average(x.astype(np.float64), unit, person)
    about = metric_of(name.metric)
    low = None if e.low is None else min(max(e.low, about.low), about.high)
    high = None if e.high is None else min(max(e.high, about.low), about.high)
    if about.yes_no and e.value in (0.0, 1.0) and low is not None:
        # No case among some people does not mean none among all.
        low, high = clopper_pearson(e.value * people(person), people(person))
    return row.model_copy(update={"value": e.value, "low": low, "high": high, "units": e.units, "reason": ""})


def twins(data: Dataset, game: Game) -> list[str]:
    """A warning where non-members are copies of members."""
    rows = np.concatenate([data.X, data.y[:, None]], axis=1)
    same = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)
    most = 0
    for t, j in enumerate(game.targets.tolist()):
        inside = np.zeros(same.max() + 1, dtype=bool)
        inside[same[game.member[:, j]]] = True
        most = max(most, int((inside[same] & ~game.member[:, j] & game.scored[:, t]).sum()))
    alike = "non-member of a target is an exact copy" if most == 1 else "non-members of a target are exact copies"
    text = f"{most} {alike} of its members (same columns, same label): they are counted as non-members."
    return [text] if most else []


def known_people(data: Dataset, game: Game) -> list[str]:
    """A warning where rows of a user's population are those of training people, and are judged on neither side."""
    if len(game.targets) != 1 or game.asked is None:
        return []
    inside = game.member[:, game.targets[0]]
    found = int((copies(data, inside, ~inside).same_people & ~game.scored[:, 0]).sum())
    rows = "1 row of the population equals" if found == 1 else f"{found:,} rows of the population equal"
    text = f"{rows} a training row in every column and the label: taken for training people, not judged as non-members."
    return [text] if found else []


def left_out(game: Game) -> list[str]:
    """A warning where a game with one target does not score all records."""
    if len(game.targets) != 1 or game.asked is None:
        return []
    inside = game.member[:, game.targets[0]]
    judged = game.scored[:, 0]
    aside = np.zeros_like(inside) if game.aside is None else game.aside
    if (judged | aside).all():
        return []
    return [
        f"Of {int(inside.sum()):,} members {int((inside & judged).sum()):,} are judged, and of "
        f"{int((~inside & ~aside).sum()):,} others {int((~inside & judged).sum()):,}: one side is much larger, or "
        "others have rows among the members. Those who are judged are drawn at random."
    ]


def sizes(game: Game, data: Dataset | None = None) -> dict[str, Any]:
    """Numbers of rows, models, targets and shadow models, for the report."""
    members = game.member[:, game.targets].sum(axis=0)
    low, high = int(members.min()), int(members.max())
    out: dict[str, Any] = {"rows": int(game.member.shape[0])}
    if data is not None:
        persons = int(people(data.group_numbers()))
        out |= {"people": persons} if persons < len(data) else {}
        out |= {"columns": len(data.schema.columns), "classes": list(data.schema.classes)}
    if game.aside is not None:
        out["records set aside"] = int(game.aside.sum())
    if game.asked is not None or game.aside is not None:
        out["records scored per target"] = int(game.scored.sum(axis=0).max())
    return out | {
        "members per target": f"{low:,}" if low == high else f"{low:,} to {high:,}",
        "models": int(game.member.shape[1]),
        "targets": len(game.targets),
        "shadows per target": int(game.shadows[0].sum()),
    }
