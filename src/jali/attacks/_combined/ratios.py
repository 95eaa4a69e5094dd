"""Log-likelihood ratios of single features, all features at once."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from jali.attacks._combined.sums import Side
from jali.core.values import Bools, Floats

TINY = 1e-12
PSEUDO = 2.0  # shadow models that the common rate of a yes-or-no feature counts for
LOOSE = 3.0  # shadow models that the usual spread counts for where records are taken to differ in it
LEAST = 0.05  # of the pooled variance, the least that the usual one is taken for


def own_ratio(value: Floats, outside: Side, inside: Side, prior: float) -> Floats:
    """Log-likelihood ratio (F, N) with spread and shift in - out of each record shrunken towards those of all.

    The shift of a record is d ~ N(D, T), D and T by moments over records; the estimate of d from its shadows, with
    noise v_in/k_in + v_out/k_out, is weighted against that. The spread is that of a normal-inverse-gamma prior worth
    `prior` models. A record without in-models still gets the common shift. value: (F, N).
    """
    v_in, v_out = np.maximum(inside.pooled, TINY), np.maximum(outside.pooled, TINY)
    both = (inside.count > 0) & (outside.count > 0)
    everybody = bool(both.all())
    noise = v_in / np.maximum(inside.count, 1)
    noise += v_out / np.maximum(outside.count, 1)
    away = inside.mean - outside.mean
    away = away if everybody else np.where(both, away, 0.0)
    common = _weighted(away, both / noise)
    away -= common
    scatter = np.maximum(_weighted(away**2 - noise, both), 0.0)
    noise += scatter
    trust = scatter / noise
    trust = trust if everybody else np.where(both, trust, 0.0)
    away *= trust
    away += common
    shift = away
    np.subtract(1, trust, out=trust)
    trust *= scatter
    unsure = trust
    cells = np.maximum(inside.count + outside.count, 1)
    level = _level(outside, inside, shift, cells)
    moved = level + shift
    ratio = _wide(value, moved, inside, prior, unsure * (outside.count / cells) ** 2 + v_in / cells)
    ratio -= _wide(value, level, outside, prior, unsure * (inside.count / cells) ** 2 + v_out / cells)
    return ratio


def common_ratio(value: Floats, outside: Side, inside: Side) -> tuple[Floats, Floats]:
    """Log-likelihood ratio (F, N) if membership shifted every record alike: (D / v)(value - level - D / 2).

    D is the mean shift in - out over records, v the pooled variance, level (F, N) the record's mean with its in-cells
    moved back by D. Second, the place value - level - D / 2 itself: where D is near 0, its sign is chance and differs
    between sets of shadow models, so that a rule on products of ratios would not carry over from one to another.
    """
    both = (inside.count > 0) & (outside.count > 0)
    shift = _weighted(inside.mean - outside.mean, both)
    variance = np.maximum((inside.pooled + outside.pooled) / 2, TINY)
    cells = np.maximum(inside.count + outside.count, 1)
    place = value - _level(outside, inside, shift, cells)
    place -= shift / 2
    return np.asarray(shift / variance * place), place


def steady_ratio(value: Floats, outside: Side, inside: Side) -> Floats:
    """`common_ratio` with each record's own spread v_i (F, N), so that records which hardly vary count for more.

    v_i is the variance over the shadow models of both sides, shrunken a little towards the median one, which a few
    records that vary much do not move; the shift D is the mean over records weighted by 1 / v_i.
    """
    both = (inside.count > 0) & (outside.count > 0)
    f_in = np.maximum(inside.count - 1, 0)
    f_out = np.maximum(outside.count - 1, 0)
    pooled = np.maximum((inside.pooled + outside.pooled) / 2, TINY)
    squares = f_in * inside.variance + f_out * outside.variance
    # A record without two models on one side shows no spread.
    free = f_in + f_out > 0
    shown = squares / np.maximum(f_in + f_out, 1)
    shown = shown if free.all() else shown[:, free]
    usual = np.median(shown, axis=1, keepdims=True) if free.any() else np.zeros((len(value), 1))
    variance = (LOOSE * np.maximum(usual, LEAST * pooled) + squares) / (LOOSE + f_in + f_out)
    shift = _weighted(inside.mean - outside.mean, both / variance)
    cells = np.maximum(inside.count + outside.count, 1)
    place = value - _level(outside, inside, shift, cells)
    place -= shift / 2
    np.divide(shift, variance, out=variance)
    variance *= place
    return variance


def above_outside(value: Floats, outside: Side, inside: Side) -> Floats:
    """How far a value lies above the record's mean over out-models (F, N).

    Where it has none, above that over in-models moved back by the mean shift.
    """
    both = (inside.count > 0) & (outside.count > 0)
    shift = _weighted(inside.mean - outside.mean, both)
    back = np.where(inside.count > 0, inside.mean - shift, value)
    return np.asarray(value - np.where(outside.count > 0, outside.mean, back))


def far_from_outside(value: Floats, outside: Side, inside: Side) -> Floats:
    """Logarithm of the mean squared distance (N,) of features (F, N) from what out-models answer about the record.

    mean_f (value - mean_out)^2 / (v_out (1 + 1 / k_out)), v_out the pooled variance. In directions in which features
    are uncorrelated this is the Mahalanobis distance of the whole answer. It has no sign: an answer may be conspicuous
    because it is far from them, or too near. A record without out-models lies where `above_outside` puts it.
    """
    away = above_outside(value, outside, inside) ** 2
    away /= np.maximum(outside.pooled, TINY) * (1 + 1 / np.maximum(outside.count, 1))
    return np.asarray(np.log(np.maximum(away.mean(axis=0), TINY)))


def yes_no_ratios(value: Floats, outside: Side, inside: Side) -> tuple[Floats, Floats]:
    """Bernoulli log-likelihood ratios (F, N) of features that are 0 or 1: with own shifts, and with one shift for all.

    The common shift is one of log-odds, around the record's rate on both sides together, shrunken a little towards that
    of all. Own shifts depart from it by as much as the scatter of the records' departures, less their binomial noise,
    makes credible. value and means are true zeros and ones here, not less a mean.
    """
    everybody_out = _rate(_weighted(outside.mean, outside.count))
    everybody_in = _rate(_weighted(inside.mean, inside.count))
    shift = _logit(everybody_in) - _logit(everybody_out)
    middle = (everybody_in + everybody_out) / 2
    cells = inside.count + outside.count
    # A feature is known as yes or no from some shadow models; others may show it at values beyond.
    hits = np.clip(inside.count * inside.mean + outside.count * outside.mean, 0, cells)
    level = _logit((hits + PSEUDO * middle) / (cells + PSEUDO))
    likely_in, likely_out = _expit(level + shift / 2), _expit(level - shift / 2)
    common = _bernoulli(value, likely_in) - _bernoulli(value, likely_out)
    both = (inside.count > 0) & (outside.count > 0)
    rate = _expit(level)
    noise = rate * (1 - rate) * (1 / np.maximum(inside.count, 1) + 1 / np.maximum(outside.count, 1))
    apart = np.where(both, inside.mean - outside.mean - (likely_in - likely_out), 0.0)
    scatter = np.maximum(_weighted(apart**2 - noise, both), 0.0)
    further = apart * scatter / (scatter + noise)
    own_in = _departed(likely_in, further * outside.count / np.maximum(cells, 1), cells)
    own_out = _departed(likely_out, -further * inside.count / np.maximum(cells, 1), cells)
    return _bernoulli(value, own_in) - _bernoulli(value, own_out), common


def _departed(rate: Floats, by: Floats, cells: Floats) -> Floats:
    """Rates moved by so much, but no nearer to 0 and 1 than so many cells can show."""
    least = 1 / (2 * cells + 2 * PSEUDO)
    return np.clip(rate + by, np.minimum(least, rate), np.maximum(1 - least, rate))


def _level(outside: Side, inside: Side, shift: Floats, cells: Floats) -> Floats:
    """The mean of each record (F, N) with its in-cells moved back by a shift, of so many cells (N,)."""
    level = inside.mean - shift
    level *= inside.count
    level += outside.count * outside.mean
    level /= cells
    return np.asarray(level)


def _weighted(x: Floats, weight: Floats | Bools) -> Floats:
    """Weighted mean (F, 1) of x (F, N) over records, with weights (N,) or (F, N); 0 where all weights are 0."""
    weight = np.asarray(weight, dtype=np.float64)
    whole = weight.sum(axis=-1, keepdims=True)
    return np.asarray((x * weight).sum(axis=1, keepdims=True) / np.where(whole > 0, whole, 1.0))


def _wide(value: Floats, mean: Floats, side: Side, prior: float, extra: Floats) -> Floats:
    """Student-t log density with shrunken variance, widened by the variance of the mean."""
    freedom = np.maximum(side.count - 1, 0)
    a = prior + freedom / 2
    scale2 = freedom / 2 * side.variance
    scale2 += (prior - 1) * side.pooled
    scale2 /= a
    scale2 += extra
    np.maximum(scale2, TINY, out=scale2)
    df = 2 * a
    away = value - mean
    away *= away
    away /= df * scale2
    away += 1
    np.log(away, out=away)
    away *= (df + 1) / 2
    np.log(scale2, out=scale2)
    scale2 /= 2
    # What depends on the degrees of freedom alone is computed once for each whole number of models.
    each = 2 * prior + np.arange(freedom.max(initial=0) + 1)
    constant = gammaln((each + 1) / 2) - gammaln(each / 2) - np.log(each * np.pi) / 2
    np.subtract(constant[freedom.astype(np.int64)], scale2, out=scale2)
    scale2 -= away
    return np.asarray(scale2)


def _rate(p: Floats) -> Floats:
    return np.clip(p, 1e-6, 1 - 1e-6)


def _logit(p: Floats) -> Floats:
    return np.asarray(np.log(p) - np.log1p(-p))


def _expit(t: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-t)))


def _bernoulli(value: Floats, p: Floats) -> Floats:
    p = _rate(p)
    return np.asarray(np.where(value > 0.5, np.log(p), np.log1p(-p)))
