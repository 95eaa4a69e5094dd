"""Guarantees of an experiment's parts, and attacks that achieved more than their guarantee allows."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Explainer
from jali.core.guarantee import Guarantee, Private, Unmet, under_replacement
from jali.core.protocols import Trainer
from jali.core.values import Channel, Dataset
from jali.privacy.overlap import overlaps
from jali.results import Row, StatedGuarantee
from jali.stats.dp_bounds import auc_cap, balanced_accuracy_cap, pawelczyk_cap, tpr_cap

if TYPE_CHECKING:
    from jali.results.reproduction import Capped

Guarantees = dict[tuple[str, Channel], Guarantee]
PREDICTION = (Channel.SCORE, Channel.DECISION)
BOTH = (Channel.SCORE_AND_EXPLANATION, Channel.DECISION_AND_EXPLANATION)
PREDICTIONS = "predictions"


def guarantees(model: Trainer, explainers: Sequence[Explainer], data: Dataset | None = None) -> Guarantees:
    """The guarantee that covers each (explainer, channel), where there is one, on these data.

    A private model covers its predictions, and explanations that do not read its training rows again; these are
    computed from it alone. An explainer's own guarantee covers its answers, not the prediction beside them. A
    guarantee with a condition that is visibly not met is here too, as void.
    """
    given = _checked(model, data)
    schema = None if data is None else data.schema
    out: Guarantees = {}
    if given is not None and "decisions" in given.covers:
        out |= {("", channel): given.on(schema) for channel in PREDICTION}
    for explainer in explainers:
        name = registry.spec(explainer)
        own = _checked(explainer, data)
        if own is not None:
            out[name, Channel.EXPLANATION] = own.on(schema)
        elif given is not None and not explainer.reads_training_data:
            out |= {(name, channel): given.of_explanations(schema) for channel in (Channel.EXPLANATION, *BOTH)}
            out |= {(name, channel): given.on(schema) for channel in PREDICTION}
    return out


def stated(given: Guarantees) -> list[StatedGuarantee]:
    """The guarantee of each explainer and of the predictions, once each, with its conditions."""
    out: dict[str, StatedGuarantee] = {}
    for (explainer, _), found in given.items():
        for_what = explainer or PREDICTIONS
        words = {"claim": str(found), "refuted": found.refuted, "void": found.void}
        out.setdefault(for_what, StatedGuarantee(what=for_what, assumes=list(found.conditions), **words))
    return list(out.values())


def voided(given: Guarantees) -> list[str]:
    """One sentence for each reason why privacy claims are void, with the explainers concerned."""
    found: dict[str, list[str]] = {}
    for (explainer, _), claim in given.items():
        what = explainer or PREDICTIONS
        if claim.void and what not in found.setdefault(claim.void, []):
            found[claim.void].append(what)
    return [f"VOID: the privacy claim of {' and of '.join(some)}: {why}." for why, some in found.items()]


def guarantee_of(part: object) -> Guarantee | None:
    """The guarantee of a part, if it has one; void where the part lacks what the guarantee needs."""
    if not isinstance(part, Private):
        return None
    try:
        return part.guarantee()
    except JaliError:  # a wrapper around a part without a guarantee, or a part without its key
        return part.claim() if isinstance(part, Unmet) else None


def _checked(part: object, data: Dataset | None) -> Guarantee | None:
    """The guarantee of a part for the people in these data; void where its public data are visibly not public."""
    given = guarantee_of(part)
    if given is None or data is None or given.void:
        return given
    if mixed := overlaps(part, data):
        return replace(given, void=mixed)
    return given.for_people_in(data)


def stamped(rows: list[Row], given: Guarantees) -> list[Row]:
    """The rows with the guarantee that covers them in words, or why it is void."""
    return [row.model_copy(update={"guarantee": _stamp(found)}) if (found := _of(row, given)) else row for row in rows]


def _stamp(given: Guarantee) -> str:
    """A claim for one line of a table; for a void one the reason alone, without the advice."""
    return f"VOID: {given.void.partition(';')[0]}" if given.void else str(given)


def contradicted(rows: list[Row], given: Guarantees) -> list[str]:
    """One sentence per attack whose whole interval lies above what its guarantee allows; void ones allow anything."""
    return [contradiction(beside) for beside in capped(rows, given) if beside.exceeds and not beside.void]


def contradiction(beside: Capped) -> str:
    """One sentence about a result above its cap."""
    return (
        f"{beside.what}: {beside.metric} is {beside.value:.3f} ({beside.low:.3f} to {beside.high:.3f}), and no attack "
        f"can exceed {beside.cap:.3f} if the claim holds: {beside.guarantee}."
    )


def capped(rows: list[Row], given: Guarantees) -> list[Capped]:
    """Every result of an attack on a part with a guarantee, beside the cap under that guarantee, void or not."""
    from jali.results.reproduction import Capped  # the schema of papers, which most audits do without

    out = []
    for row in rows:
        found = _of(row, given)
        cap = None if found is None else cap_of(row.metric, found)
        if found is None or cap is None or row.value is None or row.low is None or row.high is None:
            continue
        where = f" with {row.explainer}" if row.explainer else ""
        looser = (
            pawelczyk_cap(under_replacement(found).epsilon)
            if row.metric == "balanced_accuracy" and not found.delta
            else None
        )
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
    epsilon, delta = under_replacement(given)
    name, _, alpha = metric.partition("@")
    if name in ("tpr", "tnr"):
        return tpr_cap(epsilon, float(alpha), delta)
    caps = {"auc": auc_cap, "balanced_accuracy": balanced_accuracy_cap}
    return caps[metric](epsilon, delta) if metric in caps else None


def _of(row: Row, given: Guarantees) -> Guarantee | None:
    """The guarantee of a row; one for explanations alone does not cover signals that read the decision or the score."""
    found = given.get((row.explainer, row.channel)) if row.kind == "attack" and row.channel is not None else None
    if found is None or "decisions" in found.covers:
        return found
    return None if any(map(_reads_more, row.signal.split(" + "))) else found


def _reads_more(signal: str) -> bool:
    try:
        # The name may come from somebody's evidence file: what is not loaded already is not imported.
        needs: frozenset[str] = registry.build("signal", signal, modules=sys.modules).needs
    except JaliError:  # a signal from an evidence file, about which nothing is known
        return True
    return bool(needs & {"decision", "logits"})
