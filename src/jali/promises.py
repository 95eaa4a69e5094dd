"""Guarantees of an experiment's parts, and attacks that achieved more than their guarantee allows."""

from __future__ import annotations

from collections.abc import Sequence

from jali import parts
from jali.core import JaliError, Schema, Trainer
from jali.explanation import Explainer
from jali.guarantee import Guarantee, Private, doubled
from jali.results import Capped, Promise, Row
from jali.stats.caps import auc_cap, balanced_accuracy_cap, pawelczyk_cap, tpr_cap

Promises = dict[tuple[str, str], Guarantee]
PREDICTION = ("score", "decision")
BOTH = ("score+explanation", "decision+explanation")


def promises(model: Trainer, explainers: Sequence[Explainer]) -> Promises:
    """The guarantee that covers each (explainer, channel), where there is one.

    A private model covers its predictions, and explanations that do not read its training rows again; these are
    computed from it alone. An explainer's own guarantee covers its answers, not the prediction beside them.
    """
    given = guarantee_of(model)
    out: Promises = {}
    if given is not None and "decisions" in given.covers:
        out |= {("", channel): given for channel in PREDICTION}
    for explainer in explainers:
        name, own = parts.spec(explainer), guarantee_of(explainer)
        if own is not None:
            out[name, "explanation"] = own
        elif given is not None and not explainer.reads:
            out |= {(name, channel): given for channel in (*PREDICTION, "explanation", *BOTH)}
    return out


def told(given: Promises) -> list[Promise]:
    """What is promised, once for each explainer or for the predictions, with all that it rests on."""
    out: dict[str, Promise] = {}
    for (explainer, _), found in given.items():
        for_what = explainer or "predictions"
        out.setdefault(
            for_what,
            Promise(what=for_what, claim=str(found), assumes=list(found.conditions), refuted=found.refuted),
        )
    return list(out.values())


def uncounted(given: Promises, schema: Schema) -> list[str]:
    """A warning where a guarantee is given and the schema was taken from the rows that it is to protect."""
    taken = [c.name for c in schema.columns if c.kind != "category" and c.known != "declared"]
    if not given or not taken:
        return []
    some = ", ".join(taken[:5]) + (f" and {len(taken) - 5} more" if len(taken) > 5 else "")
    return [
        f"Bounds or scale of {len(taken)} columns ({some}) were taken from the rows themselves. No epsilon covers "
        "that: a guarantee below holds only as far as these numbers were public anyway."
    ]


def guarantee_of(part: object) -> Guarantee | None:
    """What a part promises, if anything."""
    if not isinstance(part, Private):
        return None
    try:
        return part.guarantee()
    except JaliError:  # a wrapper around something that promises nothing
        return None


def stamped(rows: list[Row], given: Promises) -> list[Row]:
    """The rows with the guarantee that covers them in words."""
    return [row.model_copy(update={"guarantee": str(found)}) if (found := _of(row, given)) else row for row in rows]


def broken(rows: list[Row], given: Promises) -> list[str]:
    """One sentence per attack whose whole interval lies above what its guarantee allows."""
    return [contradiction(beside) for beside in capped(rows, given) if beside.exceeds]


def contradiction(beside: Capped) -> str:
    """What a result above its cap means, in one sentence."""
    return (
        f"{beside.what}: {beside.metric} is {beside.value:.3f} ({beside.low:.3f} to {beside.high:.3f}), and no attack "
        f"can exceed {beside.cap:.3f} if the claim holds: {beside.guarantee}."
    )


def capped(rows: list[Row], given: Promises) -> list[Capped]:
    """Every result of an attack on something with a guarantee, beside what the guarantee allows."""
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
        needs: frozenset[str] = parts.build("signal", signal).needs
    except JaliError:  # a signal of an evidence file, of which nothing is known
        return True
    return bool(needs & {"decision", "logits"})
