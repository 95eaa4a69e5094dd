"""The numbers by which candidates are compared on shadow models, for each metric by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jali.core.values import Bools, Floats, Ints
from jali.stats.roc import steps, vertex
from jali.stats.several_scores import by_rank

LARGEST_ERROR = 0.1
SLACK = 1e-9  # a share of errors that is a whole number may come out just below it


def criteria_of(scores: Floats, truth: Bools, metrics: Sequence[str]) -> Floats:
    """`criteria` (C, metrics) of several candidates (C, n) on one model, from where the others stand among members."""
    rising, ranked = by_rank(scores, truth)
    tied = np.asarray((ranked[:, 1:] == ranked[:, :-1]).any(axis=1)) | ~np.isfinite(scores).all(axis=1)
    member = rising[:, ::-1]
    others = _places(~member)
    members = _places(member)
    # How many members stand above each non-member, and from below how many non-members stand below each member.
    above = others - np.arange(others.shape[1])
    below = len(truth) - 1 - members[:, ::-1] - np.arange(members.shape[1])
    out = np.empty((len(scores), len(metrics)))
    for k, metric in enumerate(metrics):
        kind, _, level = metric.partition("@")
        if kind in ("tpr", "tnr"):
            hits, most = (above, members.shape[1]) if kind == "tpr" else (below, others.shape[1])
            out[:, k] = _rates(hits, most, float(level))
        else:
            out[:, k] = above.sum(axis=1) / (members.shape[1] * others.shape[1])
    for c in np.flatnonzero(tied):
        out[c] = criteria(scores[c], truth, metrics)
    return out


def _places(chosen: Bools) -> Ints:
    """Where the chosen ones of each row (C, n) stand; all rows have as many.

    >>> _places(np.array([[True, False, True], [False, True, True]]))
    array([[0, 2],
           [1, 2]])
    """
    rows, width = chosen.shape
    return np.asarray(np.flatnonzero(chosen).reshape(rows, -1) - width * np.arange(rows)[:, None])


def _rates(hits: Ints, most: int, level: float) -> Floats:
    """As `_rate`, of several candidates (C,): hits (C, E) before each error, of so many at most."""
    errors = hits.shape[1]
    at = _around(level)
    allowed = np.floor(at * errors + SLACK).astype(np.int64)
    reached = np.where(allowed < errors, hits[:, np.minimum(allowed, errors - 1)], most)
    return np.asarray((reached / most) @ at**-0.5)


def criteria(score: Floats, truth: Bools, metrics: Sequence[str]) -> list[float]:
    """The numbers by which candidates for some metrics are compared, from one sort.

    A rate at one small error is the work of a few records, so it is averaged over errors from half to eight times
    that one, each with weight 1 / sqrt(error). Balanced accuracy is chosen by AUC.
    """
    fp, tp, _ = steps(score, truth)
    out = []
    for metric in metrics:
        kind, _, level = metric.partition("@")
        if kind == "tpr":
            out.append(_rate(fp, tp, float(level)))
        elif kind == "tnr":
            out.append(_rate((tp[-1] - tp)[::-1], (fp[-1] - fp)[::-1], float(level)))
        else:
            out.append(float(np.diff(fp) @ (tp[1:] + tp[:-1]) / (2.0 * fp[-1] * tp[-1])))
    return out


def _rate(errors: Floats, hits: Floats, level: float) -> float:
    """Weighted sum of the rates of hits around one rate of errors, from rising counts of both (V,)."""
    at = _around(level)
    return float((hits[vertex(errors, at)] / hits[-1]) @ at**-0.5)


def _around(level: float) -> Floats:
    """The rates of errors around one at which hits are counted."""
    at = level * np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    return at[at <= LARGEST_ERROR]
