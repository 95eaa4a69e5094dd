"""What attacks that ask achieved and told, as rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from jali.audit.attack_runs import LINKED, Inquest
from jali.core import registry
from jali.core.values import Estimate, Floats, Guesses, Rng
from jali.results import Row
from jali.stats import decided
from jali.stats.intervals import estimate, over_units

CLAIMED = ("base_rate", "precision", "recall", "f1", decided.BALANCED, "auc", "tpr@0.01")
COUNTS = frozenset({"rules", "rules_below_10", "surrogates", "voters"})
Fresh = Callable[[], Rng]  # the stream of a bootstrap, from its beginning


def fact(name: str, values: Floats) -> Estimate:
    """What an attack tells of every target (T,), on average; all but counts are shares."""
    return over_units(values, bounds=(0.0, np.inf if name in COUNTS else 1.0))


def told(facts: Mapping[str, Floats]) -> dict[str, Estimate]:
    """All that an attack tells besides, without what it says of single classes."""
    return {name: fact(name, values) for name, values in facts.items() if "_of_class_" not in name}


def claimed(guesses: Guesses, fresh: Fresh) -> dict[str, Estimate]:
    """How good claims of membership are, at the attack's own threshold first."""
    return {metric: estimate(metric, guesses, fresh())[0] for metric in CLAIMED}


def row(metric: str, number: Estimate, attack: str, group: str, explainer: str = "") -> Row:
    """A number of an attack that asked."""
    return Row(
        kind="measure",
        metric=metric,
        explainer=explainer,
        group=group,
        attack=attack,
        value=number.value,
        low=number.low,
        high=number.high,
        units=number.units,
        reason=number.reason,
    )


def rows(
    inquest: Inquest, guesses: Guesses, facts: Mapping[str, Floats], measured: Sequence[Row], fresh: Fresh
) -> list[Row]:
    """Everything there is to say of an inquest; measured: what was measured of the answers, its own among them."""
    head = _head(inquest)
    more = [row(name, number, **head) for name, number in told(facts).items()]
    if not inquest.inquiry.links:
        return [row(name, number, **head) for name, number in claimed(guesses, fresh).items()] + more
    mine = [r for r in measured if _of(r, inquest)]
    return [r.model_copy(update={"metric": r.metric.rpartition(": ")[2], **head}) for r in mine] + more


def failed(inquest: Inquest, reason: str) -> list[Row]:
    """Rows without a value, where an inquest could not be made."""
    metrics = LINKED if inquest.inquiry.links else CLAIMED
    return [row(metric, Estimate(None, reason=reason), **_head(inquest)) for metric in metrics]


def foreign(row: Row, inquests: Sequence[Inquest]) -> bool:
    """Whether a measure is none of any inquest's."""
    return not any(_of(row, inquest) for inquest in inquests)


def _head(inquest: Inquest) -> dict[str, str]:
    asked = "" if inquest.explainer is None else registry.spec(inquest.explainer)
    return {"attack": registry.spec(inquest.inquiry), "group": registry.spec(inquest.knowledge), "explainer": asked}


def _of(row: Row, inquest: Inquest) -> bool:
    """Whether a measure is one of an inquest's own."""
    return f"{row.explainer}/{row.metric}" in inquest.measures()
