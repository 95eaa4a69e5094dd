"""Guarantees of an experiment's parts, and attacks that achieved more than their guarantee allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace

import numpy as np

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.guarantee import Guarantee, Private, Unmet, doubled
from jali.core.protocols import Source, Trainer
from jali.core.values import Dataset
from jali.results import Capped, Promise, Row
from jali.stats.caps import auc_cap, balanced_accuracy_cap, pawelczyk_cap, tpr_cap

Promises = dict[tuple[str, str], Guarantee]
PREDICTION = ("score", "decision")
BOTH = ("score+explanation", "decision+explanation")
PREDICTIONS = "predictions"
CHANCE = 1e-6  # of a claim being called void because rows of different people happen to be equal


def promises(model: Trainer, explainers: Sequence[Explainer], data: Dataset | None = None) -> Promises:
    """The guarantee that covers each (explainer, channel), where there is one, on these data.

    A private model covers its predictions, and explanations that do not read its training rows again; these are
    computed from it alone. An explainer's own guarantee covers its answers, not the prediction beside them. A
    guarantee with a condition that is visibly not met is here too, as void.
    """
    given = _seen(model, data)
    schema = None if data is None else data.schema
    out: Promises = {}
    if given is not None and "decisions" in given.covers:
        out |= {("", channel): given.on(schema) for channel in PREDICTION}
    for explainer in explainers:
        name = registry.spec(explainer)
        own = _seen(explainer, data)
        if own is not None:
            out[name, "explanation"] = own.on(schema)
        elif given is not None and not explainer.reads_training_data:
            out |= {(name, channel): given.of_explanations(schema) for channel in ("explanation", *BOTH)}
            out |= {(name, channel): given.on(schema) for channel in PREDICTION}
    return out


def told(given: Promises) -> list[Promise]:
    """What is promised, once for each explainer or for the predictions, with all that it rests on."""
    out: dict[str, Promise] = {}
    for (explainer, _), found in given.items():
        for_what = explainer or PREDICTIONS
        words = {"claim": str(found), "refuted": found.refuted, "void": found.void}
        out.setdefault(for_what, Promise(what=for_what, assumes=list(found.conditions), **words))
    return list(out.values())


def voided(given: Promises) -> list[str]:
    """One sentence for each reason why privacy claims are void, with what they are about."""
    found: dict[str, list[str]] = {}
    for (explainer, _), claim in given.items():
        what = explainer or PREDICTIONS
        if claim.void and what not in found.setdefault(claim.void, []):
            found[claim.void].append(what)
    return [f"VOID: what is claimed of the privacy of {' and of '.join(some)}: {why}." for why, some in found.items()]


def guarantee_of(part: object) -> Guarantee | None:
    """What a part promises, if anything; void where it lacks what its promise needs."""
    if not isinstance(part, Private):
        return None
    try:
        return part.guarantee()
    except JaliError:  # a wrapper around something that promises nothing, or a part without its key
        return part.claim() if isinstance(part, Unmet) else None


def _seen(part: object, data: Dataset | None) -> Guarantee | None:
    """What a part promises about the people in these data; void where public data of its own are visibly not public."""
    given = guarantee_of(part)
    if given is None or data is None or given.void:
        return given
    mixed = [text for public in _public(part) if (text := shared(public.load(), data))]
    if mixed:
        return replace(given, void=mixed[0])
    return given if data.groups is None else given.of_people(int(np.unique(data.groups, return_counts=True)[1].max()))


def _public(part: object) -> list[Source]:
    """The public data that a part, or a part in it, was given."""
    if not is_dataclass(part) or isinstance(part, type):
        return []
    found: list[Source] = []
    for field in fields(part):
        value = getattr(part, field.name)
        found += [value] if field.name == "public" and value is not None else _public(value)
    return found


def shared(public: Dataset, data: Dataset) -> str:
    """Why public data are not public: they hold more rows of the data than chance explains; empty where they do not.

    Rows of different people can be equal. How often is seen in the data themselves, as the share of rows with a twin.
    """
    from scipy.stats import binom

    if public.X.shape[1] != data.X.shape[1]:
        return ""
    own = Counter(_rows(data))
    same = sum(row in own for row in _rows(public))
    twins = sum(count for count in own.values() if count > 1)
    by_chance = max(1, twins) / len(data)
    if binom.sf(same - 1, len(public), by_chance) > CHANCE:
        return ""
    return (
        f"{same} of the {len(public)} rows of its public data are also in the data that the claim is about; take "
        "public data that hold none of these people"
    )


def _rows(data: Dataset) -> list[bytes]:
    """The contents of each row and its label."""
    return [row.tobytes() for row in np.column_stack([data.X, data.y]) + 0.0]


def stamped(rows: list[Row], given: Promises) -> list[Row]:
    """The rows with the guarantee that covers them in words, or why it is void."""
    return [row.model_copy(update={"guarantee": _stamp(found)}) if (found := _of(row, given)) else row for row in rows]


def _stamp(given: Guarantee) -> str:
    """A claim for one line of a table; of a void one the reason alone, without what to do about it."""
    return f"VOID: {given.void.partition(';')[0]}" if given.void else str(given)


def broken(rows: list[Row], given: Promises) -> list[str]:
    """One sentence per attack whose whole interval lies above what its guarantee allows; a void one allows all."""
    return [contradiction(beside) for beside in capped(rows, given) if beside.exceeds and not beside.void]


def contradiction(beside: Capped) -> str:
    """What a result above its cap means, in one sentence."""
    return (
        f"{beside.what}: {beside.metric} is {beside.value:.3f} ({beside.low:.3f} to {beside.high:.3f}), and no attack "
        f"can exceed {beside.cap:.3f} if the claim holds: {beside.guarantee}."
    )


def capped(rows: list[Row], given: Promises) -> list[Capped]:
    """Every result of an attack on something with a guarantee, beside what that allows, or would allow if not void."""
    out = []
    for row in rows:
        found = _of(row, given)
        cap = None if found is None else cap_of(row.metric, found)
        if found is None or cap is None or row.value is None or row.low is None or row.high is None:
            continue
        where = f" with {row.explainer}" if row.explainer else ""
        looser = pawelczyk_cap(doubled(found)) if row.metric == "balanced_accuracy" and not found.delta else None
        out.append(
            Capped(
                what=f"{row.attack} on {row.signal}{where}",
                metric=row.metric,
                value=row.value,
                low=row.low,
                high=row.high,
                cap=cap,
                looser=looser,
                guarantee=str(found),
                refuted=bool(found.refuted),
                void=found.void,
            )
        )
    return out


def cap_of(metric: str, given: Guarantee) -> float | None:
    """The most any attack achieves under a guarantee, for metrics that have a cap.

    >>> round(cap_of("auc", Guarantee("x", 1.0, "replace-one", ("decisions",))), 3)
    0.731
    """
    epsilon, (name, _, alpha) = doubled(given), metric.partition("@")
    if name in ("tpr", "tnr"):
        return tpr_cap(epsilon, float(alpha), given.delta)
    caps = {"auc": auc_cap, "balanced_accuracy": balanced_accuracy_cap}
    return caps[metric](epsilon, given.delta) if metric in caps else None


def _of(row: Row, given: Promises) -> Guarantee | None:
    """What covers a row: a claim for explanations alone does not cover signals that read the decision or the score."""
    found = given.get((row.explainer, row.channel)) if row.kind == "attack" else None
    if found is None or "decisions" in found.covers:
        return found
    return None if any(map(_reads_more, row.signal.split(" + "))) else found


def _reads_more(signal: str) -> bool:
    try:
        needs: frozenset[str] = registry.build("signal", signal).needs
    except JaliError:  # a signal of an evidence file, of which nothing is known
        return True
    return bool(needs & {"decision", "logits"})
