"""The most any membership attack can achieve against a mechanism with a proven guarantee.

A measured value above its cap contradicts the guarantee; one below it proves nothing. The membership game replaces one
record, so epsilon and delta are those of replace-one adjacency (`jali.core.guarantee.under_replacement`).
"""

from __future__ import annotations

import math

from scipy.special import expit

from jali.core.errors import JaliError


def balanced_accuracy_cap(eps: float, delta: float = 0.0) -> float:
    """Largest balanced accuracy under (eps, delta)-DP: (e^eps + delta) / (1 + e^eps), attained by randomised response.

    >>> round(balanced_accuracy_cap(1.0), 3)
    0.731
    """
    _check(eps, delta)
    return float(expit(eps) + delta * expit(-eps))


def auc_cap(eps: float, delta: float = 0.0) -> float:
    """Largest AUC under (eps, delta)-DP: (e^eps + 2 delta - delta^2) / (1 + e^eps), the area under the tpr_cap.

    >>> round(auc_cap(2.0), 3)
    0.881
    """
    _check(eps, delta)
    return float(expit(eps) + delta * (2 - delta) * expit(-eps))


def tpr_cap(eps: float, alpha: float, delta: float = 0.0) -> float:
    """Largest TPR at FPR alpha under (eps, delta)-DP: min(e^eps alpha + delta, 1 - e^-eps (1 - delta - alpha), 1).

    >>> round(tpr_cap(4.0, 0.001), 4)
    0.0546
    """
    _check(eps, delta)
    if not 0 <= alpha <= 1:
        raise JaliError(f"alpha must be a rate between 0 and 1, not {alpha}.")
    growing = math.exp(min(eps, 700.0)) * alpha + delta
    return min(growing, 1 - math.exp(-eps) * (1 - delta - alpha), 1.0)


def pawelczyk_cap(eps: float) -> float:
    """The valid but looser cap on balanced accuracy of Pawelczyk et al. (2023): 1/2 + (1 - e^-eps) / 2.

    >>> round(pawelczyk_cap(1.0), 3)
    0.816
    """
    _check(eps, 0.0)
    return 0.5 - math.expm1(-eps) / 2


def _check(eps: float, delta: float) -> None:
    if not (eps >= 0 and 0 <= delta <= 1):
        raise JaliError(f"A guarantee has epsilon >= 0 and delta between 0 and 1, not {eps} and {delta}.")
