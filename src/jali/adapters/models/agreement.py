"""Does a model know the rows it is said to be trained on? The mistakes that this finds are made silently."""

from __future__ import annotations

from typing import Any

import numpy as np

from jali.adapters.models.function import FunctionModel
from jali.core.errors import JaliError
from jali.data.tables.schema_files import label
from jali.models.fitted.estimator import classifier, scores_of
from jali.text.shares import whole_percent

CLEARLY = 0.1  # by how much another order of the classes must fit better before it is taken for the right one
SPREADS = 4.0  # standard deviations of chance by which it must fit better to be refused


def agreement(estimator: Any, rows: Any, labels: Any, known: bool) -> list[str]:
    """Ask a model about some of its training rows; warn where it is worse than always giving the commonest class.

    known: whether the model says itself which classes its answers are about. Where it does not, they are taken to be
    in ascending order, and a clearly better agreement in another order is an error.
    """
    names = [label(c) for c in classifier(estimator).classes_]
    truth = [label(v) for v in labels]
    scores = scores_of(estimator, rows)
    if scores.shape != (len(truth), len(names)):
        raise JaliError(
            f"The model gave scores of shape {scores.shape} for {len(truth)} rows: expected one number for each of the "
            f"{len(names)} classes {', '.join(names[:5])}."
        )
    answer = scores.argmax(axis=1)
    places = np.array([names.index(t) if t in names else -1 for t in truth])
    right = float((answer == places).mean())
    doubt = [] if known or len(set(answer)) < 2 else _check_order(answer, places, names, right)
    doubt += _classes_alone(estimator, rows)
    common = max(float((places == k).mean()) for k in range(len(names)))
    if right < common - CLEARLY:
        return [
            f"On the first {len(truth)} training rows the model is right in {whole_percent(right)}, less than always "
            f"answering with the commonest class ({whole_percent(common)}): are these the rows and labels that it was "
            "trained on?",
            *doubt,
        ]
    return doubt


def _classes_alone(estimator: Any, rows: Any) -> list[str]:
    """Say where a function gives classes in the place of probabilities: what a score shows is then not looked at."""
    if not isinstance(estimator, FunctionModel) or not np.isin(estimator.predict_proba(rows), (0, 1)).all():
        return []
    return [
        f"For the first {len(rows)} training rows all answers are 0 or 1, as if the model gave classes alone, and then "
        "a score shows no more here than the decision: if people see probabilities, give predict_proba(X)."
    ]


def _check_order(answer: Any, places: Any, names: list[str], right: float) -> list[str]:
    """Refuse answers that agree clearly better with the labels if the classes are taken in another order.

    A model that knows nothing agrees better in another order by chance, the more so the fewer the rows; then it is
    said, and the audit goes on.
    """
    from scipy.optimize import linear_sum_assignment

    counts = np.zeros((len(names), len(names)))
    np.add.at(counts, (answer[places >= 0], places[places >= 0]), 1)
    own, best = linear_sum_assignment(-counts)
    share = float(counts[own, best].sum() / len(answer))
    if share <= right + CLEARLY:
        return []
    order = [names[k] for k in best]
    text = (
        f"The model agrees with {whole_percent(right)} of the labels of its training rows if its answers are about the "
        f"classes {', '.join(names)} in this order, and with {whole_percent(share)} for {', '.join(order)}: name the "
        f"order of its answers, as in classes={order!r}."
    )
    if share - right > SPREADS * np.sqrt((share + right) / len(answer)):
        raise JaliError(text)
    return [f"If the answers are in another order than assumed, this audit is void. {text}"]
