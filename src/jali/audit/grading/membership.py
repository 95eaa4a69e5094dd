"""Grades claims of membership."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jali.core.claims import Harm, Membership
from jali.core.explanation import Surrogate
from jali.core.grading import About, Graded, Truth
from jali.core.values import Dataset, Ints
from jali.stats import precision_recall
from jali.text.rules import Readable, accuracy, exposing, hits

FEW = 10  # a rule that covers fewer training people counts as one about few


@dataclass(frozen=True)
class GradesMembership:
    """Scores with the truth; overall: the quality of the oracle, and the rules of a surrogate."""

    harm: ClassVar[Harm] = "membership"
    claim: ClassVar[type] = Membership
    metrics: ClassVar[tuple[str, ...]] = (
        "base_rate",
        "precision",
        "recall",
        "f1",
        precision_recall.BALANCED,
        "auc",
        "tpr@0.01",
    )
    per_record: ClassVar[tuple[str, ...]] = ()
    about: ClassVar[About] = "members and non-members"

    def grade(self, claim: Membership, truth: Truth) -> Graded:
        """Score and truth of each record, and numbers about attack, oracle and surrogate."""
        overall = {**claim.overall, **_classes(truth), **_surrogate(truth)}
        return Graded(truth.about_each(claim.score), truth.member, overall=overall)


def _classes(truth: Truth) -> dict[str, float]:
    """Precision, recall and F1 of each class, by number, of the oracle's labels of non-members."""
    outside = truth.records.rows(~truth.member)
    if truth.labels is None or not len(outside):
        return {}
    out: dict[str, float] = {}
    for number in range(len(outside.schema.classes)):
        out |= _one_class(truth.labels[~truth.member], outside, number)
    return out


def _one_class(labels: Ints, outside: Dataset, number: int) -> dict[str, float]:
    claimed = labels == number
    true = outside.y == number
    both = float((claimed & true).sum())
    whole = {"precision": claimed.sum(), "recall": true.sum(), "f1": (claimed.sum() + true.sum()) / 2}
    return {f"class_{name}@{number}": both / max(float(of), 1.0) for name, of in whole.items()}


def _surrogate(truth: Truth) -> dict[str, float]:
    """The fidelity of the surrogates shown, and how many of their rules cover few training people."""
    explanation = truth.explanation
    if not isinstance(explanation, Surrogate) or truth.explained is None:
        return {}
    rules = [rule for model in explanation.models if isinstance(model, Readable) for rule in model.rules()]
    few = exposing(rules, truth.train.X, FEW)
    out = {
        "fidelity": float(hits(explanation, truth.model, truth.explained).mean()),
        "rules": float(len(rules)),
        "rules_below_10": float(few.sum()),
    }
    if explanation.fidelity is not None and len(explanation.fidelity):
        out["local_fidelity"] = float(explanation.fidelity.mean())
    if explanation.countered is not None and len(explanation.countered):
        out["countered"] = float(explanation.countered.mean())
    outside = truth.records.rows(~truth.member)
    if len(explanation.models) == 1 and len(outside):
        out["surrogate_accuracy"] = float(accuracy(explanation.models[0], outside.X, outside.y))
    return out
