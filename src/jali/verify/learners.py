"""Methods that learn a score from answers of two data sets: the larger, the more likely the first data set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import chdtrc

from jali.core.values import Bools, Floats, Ints, Rng
from jali.parallel import alone
from jali.verify.views import BITS, DIRECTION, LENGTH, PATTERN, RECORD, TOGETHER, WHOLE

Score = Callable[[Floats], Floats]
Learner = Callable[[Floats, Bools, Rng], Score]
FLAT = 1e-9  # a direction whose spread is a smaller share of that of its columns may be rounding
WIDEST = 40  # columns for methods that combine all of them: those that differ most
NEIGHBOURS = 15


def linear(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """Logistic regression on standardised columns."""
    from sklearn.linear_model import LogisticRegression

    scaled = _standard(seen)
    model = LogisticRegression(C=1.0, max_iter=500).fit(scaled(seen), first)
    return lambda x: np.asarray(model.decision_function(scaled(x)))


def trees(seen: Floats, first: Bools, rng: Rng) -> Score:
    """Gradient boosting, for differences that are not linear."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(max_iter=40, max_leaf_nodes=8, random_state=int(rng.integers(2**31)))
    alone(lambda m: m.fit(seen, first), model)  # called here too: a limit on threads misses libraries loaded later
    return lambda x: np.asarray(alone(model.decision_function, x))


def neighbours(seen: Floats, first: Bools, rng: Rng) -> Score:
    """The share of the nearest answers, in standardised columns, that came from the first data set."""
    from scipy.spatial import cKDTree

    if len(np.unique(seen, axis=0)) < len(seen) / 4:  # an answer is its own neighbour many times over
        return repeated(seen, first, rng)
    kept = _widest(seen, first)
    scaled = _standard(seen[:, kept])
    tree = cKDTree(scaled(seen[:, kept]), balanced_tree=False, compact_nodes=False)
    many = min(NEIGHBOURS, len(seen))
    return lambda x: np.asarray(first[tree.query(scaled(x[:, kept]), k=many)[1]].reshape(len(x), -1).mean(axis=1))


def discriminant(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """Linear discriminant after whitening, which sees a combination of numbers in which noise cancels."""
    white = _whitened(seen, first)
    z = white(seen)
    slope = z[first].mean(axis=0) - z[~first].mean(axis=0)
    return lambda x: np.asarray(white(x) @ slope)


def quadratic(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """Quadratic discriminant after whitening: differences of spread and correlation."""
    white = _whitened(seen, first)
    z = white(seen)
    ridge = 1e-6 * np.eye(z.shape[1])
    laws = []
    for mine in (z[first], z[~first]):
        covariance = np.atleast_2d(np.cov(mine, rowvar=False)) + ridge
        laws.append((mine.mean(axis=0), np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]))

    def score(x: Floats) -> Floats:
        logs = [-((white(x) - m) @ inverse * (white(x) - m)).sum(axis=1) - size for m, inverse, size in laws]
        return np.asarray(logs[0] - logs[1])

    return score


def repeated(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """For answers that repeat exactly: the log-ratio of how often each data set gave them, zero for new answers."""
    count: dict[bytes, list[float]] = {}
    for key, inside in zip(_keys(seen), first, strict=True):
        count.setdefault(key, [0.5, 0.5])[int(inside)] += 1

    def score(x: Floats) -> Floats:
        known = (count.get(key, [1.0, 1.0]) for key in _keys(x))
        return np.array([np.log(b / a) for a, b in known])

    return score


def repeated_numbers(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """The same for each number of an answer, to the last bit: the log-ratio of the one that says most."""
    columns = _widest(seen, first)
    known = [_ratios(seen[:, j], first, least=2) for j in columns]

    def score(x: Floats) -> Floats:
        ratios = np.stack([_looked_up(x[:, j], *found) for j, found in zip(columns, known, strict=True)])
        return np.asarray(np.take_along_axis(ratios, np.abs(ratios).argmax(axis=0)[None], axis=0)[0])

    return score


def patterns(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is drawn)
    """The log-ratio of the codes of one column: the one whose frequencies differ most for their number (G-test)."""
    known = [_ratios(column, first, least=1) for column in seen.T]
    best = int(np.argmin([_p_value(column, first) for column in seen.T]))
    return lambda x: _looked_up(x[:, best], *known[best])


def as_it_is(seen: Floats, first: Bools, rng: Rng) -> Score:  # noqa: ARG001 (nothing is learnt)
    """The first column itself."""
    return lambda x: x[:, 0]


# --- helpers -------------------------------------------------------------------------------------------------------


def _standard(seen: Floats) -> Score:
    """Columns with mean 0 and standard deviation 1 on the draws for learning."""
    centre = seen.mean(axis=0)
    spread = seen.std(axis=0)
    spread = np.where(spread > 1e-12 * (np.abs(centre) + 1e-300), spread, 1.0)
    return lambda x: np.asarray(np.clip((x - centre) / spread, -1e3, 1e3))


def _whitened(seen: Floats, first: Bools) -> Score:
    """Uncorrelated columns of unit spread within each data set; a spread of rounding counts as FLAT."""
    kept = _widest(seen, first)
    scaled = _standard(seen[:, kept])
    z = scaled(seen[:, kept])
    within = np.concatenate([z[first] - z[first].mean(axis=0), z[~first] - z[~first].mean(axis=0)])
    _, size, axes = np.linalg.svd(within / np.sqrt(len(within)), full_matrices=False)
    stretch = axes.T / np.maximum(size, FLAT)
    return lambda x: np.asarray(scaled(x[:, kept]) @ stretch)


def _widest(seen: Floats, first: Bools) -> Ints:
    """The columns whose means differ most for their spread, if there are too many."""
    if seen.shape[1] <= WIDEST:
        return np.arange(seen.shape[1])
    gap = np.abs(seen[first].mean(axis=0) - seen[~first].mean(axis=0))
    return np.sort(np.argsort(-gap / (seen.std(axis=0) + 1e-300), kind="stable")[:WIDEST])


def _ratios(column: Floats, first: Bools, least: int) -> tuple[Floats, Floats]:
    """Values that occur at least so often, sorted, and the log-ratios of how often each data set gave them."""
    values, which = np.unique(column, return_inverse=True)
    here = np.bincount(which[first], minlength=len(values))
    there = np.bincount(which[~first], minlength=len(values))
    often = here + there >= least
    return values[often], np.log((here[often] + 0.5) / (there[often] + 0.5))


def _looked_up(column: Floats, values: Floats, ratios: Floats) -> Floats:
    """The ratio of each value; zero for one that is not known."""
    if not len(values):
        return np.zeros(len(column))
    at = np.minimum(np.searchsorted(values, column), len(values) - 1)
    return np.where(values[at] == column, ratios[at], 0.0)


def _p_value(column: Floats, first: Bools) -> float:
    """The G-test that codes are equally frequent in both data sets: smaller where they are not."""
    values, which = np.unique(column, return_inverse=True)
    if len(values) < 2:
        return 1.0
    counts = np.stack([np.bincount(which[mine], minlength=len(values)) for mine in (first, ~first)])
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    g = 2 * (counts * np.log(np.maximum(counts, 1e-300) / expected)).sum()
    tail = float(chdtrc(len(values) - 1, max(g, 0.0)))
    return tail if tail > 0 else -float(g)  # beyond what a float can hold, the larger statistic wins


def _keys(seen: Floats) -> list[bytes]:
    """One key per row, rounded to ten significant digits of its largest number."""
    size = np.maximum(np.abs(seen).max(axis=1, keepdims=True, initial=0.0), 1e-300)
    power = 10.0 ** np.floor(np.log10(size))
    return [row.tobytes() for row in np.round(seen / power, 10) * power + 0.0]


Named = dict[str, Learner]
QUICK: dict[str, Named] = {
    WHOLE: {"linear discriminant": discriminant, "quadratic discriminant": quadratic, "repeated values": repeated},
    PATTERN: {"frequencies of patterns": patterns},
    BITS: {"frequencies of last bits": patterns},
    RECORD: {"exact equality": as_it_is},
}
MEDIUM: dict[str, Named] = QUICK | {
    WHOLE: {
        "logistic regression": linear,
        "boosted trees": trees,
        "nearest neighbours": neighbours,
        "repeated numbers": repeated_numbers,
        **QUICK[WHOLE],
    },
    TOGETHER: {"repeated values": repeated, "repeated numbers": repeated_numbers},
}
FULL: dict[str, Named] = MEDIUM | {
    DIRECTION: {"logistic regression": linear, "boosted trees": trees, "repeated values": repeated},
    LENGTH: {"logistic regression": linear, "boosted trees": trees, "repeated values": repeated},
    TOGETHER: {"boosted trees": trees, **MEDIUM[TOGETHER]},
}
