"""What the combined attack finds of known additions, and whether the positive control says the truth about it.

`python benchmarks/bench_combined.py shares [--seeds 2]`: for four additions of an independent signal and four with
shared noise, what the likelihood ratio adds to the AUC, what the attack adds, and the share.
`... structure [--seeds 4]`: leaks without any shift: noise of two columns that goes together for members and apart for
others, the same with a sign that belongs to the record, and a factor of eight columns that members have in common.
`... null [--seeds 8]`: explanations that tell nothing: the mean difference, and how often the interval holds zero;
beside plain models those that answer on levels or scales of their own, or with far tails.
`... decision [--seeds 25]`: noise beside a bare decision, at 1 % false positives: the mean difference, and on which
side of zero the interval lies.
`... control [--audits 40]`: each audit has a positive control; then another audit is drawn with a leak of the size
that the control says 8 of 10 find. How many find it should lie between 7 and 9 of 10.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from jali.attacks.joint import Joint
from jali.audit.planting import Ideal, plant
from jali.audit.positive_control import control, recover
from jali.audit.trials import ByMetric, Trial, contrast_rows, guess_by_metric
from jali.core.values import Bools, Channel, Evidence, Floats, Game, Rng, SignalName, Unit
from jali.results import Row
from jali.stats.roc import auc

SHIFT = 0.75  # of the score, in deviations within a record
MODELS = 17
PEOPLE = 2_000
AUC = float(ndtr(SHIFT / math.sqrt(2)))


def independent(addition: float) -> tuple[float, float]:
    """Correlation and shift of an independent signal that adds so much."""
    end = math.sqrt(2) * float(ndtri(AUC + addition))
    return 0.0, math.sqrt(end**2 - SHIFT**2)


# Correlation of the noise of both signals, and the shift of the second.
SETTINGS = {
    "independent, .0024": independent(0.0024),
    "independent, .006": independent(0.006),
    "independent, .023": independent(0.023),
    "independent, .056": independent(0.056),
    "correlation .6, no shift": (0.6, 0.0),
    "correlation .9, no shift": (0.9, 0.0),
    "correlation .8, shift .3": (0.8, 0.3),
    "correlation .3, opposite shifts": (0.3, -0.5),
}


@dataclass(frozen=True)
class Manner:
    """How models answer: deviations of their levels and of the logarithms of their scales; t-noise, if not normal.

    by_class: the same for levels whose sign is turned for half of the records. shared: whether score and explanation of
    a model have the same level and scale.
    """

    level: float = 0.0
    by_class: float = 0.0
    scale: float = 0.0
    freedom: float = math.inf
    shared: bool = False

    def noise(self, rng: Rng, shape: tuple[int, int, int]) -> Floats:
        """Noise of signals (S, N, M) before its manner."""
        return rng.normal(size=shape) if math.isinf(self.freedom) else rng.standard_t(self.freedom, shape)

    def __call__(self, rng: Rng, value: Floats) -> Floats:
        """Signals (S, N, M) without the records' levels, as the models give them."""
        shape = (1 if self.shared else len(value), 1, value.shape[2])
        scale = np.exp(self.scale * rng.normal(size=shape))
        out = scale * value + self.level * rng.normal(size=shape)
        if not self.by_class:
            return np.asarray(out)
        turned = rng.choice([-1.0, 1.0], (1, value.shape[1], 1))
        return np.asarray(out + self.by_class * turned * rng.normal(size=shape))


MANNERS = {
    "plain": Manner(),
    "levels of half a deviation": Manner(level=0.5),
    "levels of one deviation": Manner(level=1.0),
    "the same for score and explanation": Manner(level=1.0, shared=True),
    "levels of two deviations": Manner(level=2.0),
    "scales by a factor of 1.6": Manner(scale=0.5),
    "scales by a factor of 2.7": Manner(scale=1.0),
    "levels and scales": Manner(level=1.0, scale=0.5),
    "t noise, two degrees": Manner(freedom=2.0),
    "Cauchy noise": Manner(freedom=1.0),
}


@dataclass(frozen=True)
class Size:
    """How large an audit is; targets: how many of its models are attacked, all others being their shadows.

    answered: the share of people with an explanation. shift: that of the score.
    """

    people: int
    models: int
    targets: int
    columns: int
    answered: float = 1.0
    manner: Manner = Manner()
    shift: float = SHIFT


SIZES_OF_AUDITS = {
    "1,000 people, 9 targets": Size(1_000, 9, 9, 1),
    "300 people, 32 targets, 10 columns": Size(300, 32, 32, 10),
    "300 people, 16 targets, 5 columns, 25 % answered": Size(300, 16, 16, 5, 0.25),
    "400 people, one target of 33": Size(400, 33, 1, 1),
    # Not looked at before the rule of the control was fixed.
    "500 people, 12 targets, 3 columns, half answered": Size(500, 12, 12, 3, 0.5),
    "150 people, 20 targets, 2 columns": Size(150, 20, 20, 2),
    "2,000 people, 6 targets, 8 columns": Size(2_000, 6, 6, 8),
    "1,500 people, 4 targets of 16, 6 columns": Size(1_500, 16, 4, 6),
    "800 people, 3 targets of 12, 3 columns": Size(800, 12, 3, 3),
    # Models with a manner of their own.
    "levels, 1,000 people, 9 targets": Size(1_000, 9, 9, 1, manner=MANNERS["levels of one deviation"]),
    "scales, 1,000 people, 9 targets": Size(1_000, 9, 9, 1, manner=MANNERS["scales by a factor of 1.6"]),
    "far tails, 1,000 people, 9 targets": Size(1_000, 9, 9, 1, manner=MANNERS["t noise, two degrees"]),
    # Strong scores: AUC .96 and .995.
    "strong score, 300 people, 16 targets, 3 columns": Size(300, 16, 16, 3, shift=2.5),
    "very strong score, 300 people, 16 targets, 3 columns": Size(300, 16, 16, 3, shift=3.64),
    "very strong score, 1,000 people, 9 targets": Size(1_000, 9, 9, 1, shift=3.64),
}


def everyone(member: Bools, targets: int) -> Game:
    """The first few models in turn the target, all others their shadows."""
    some = np.arange(targets)
    shadows = ~np.eye(member.shape[1], dtype=bool)[some]
    return Game(member, some, shadows, np.ones((len(member), targets), dtype=bool))


def signals(rng: Rng, member: Bools, correlation: float, shift: float) -> tuple[Floats, Floats, Floats]:
    """Both signals (2, N, M), and what the likelihood ratios of the first alone and of both see (N, M)."""
    first = rng.normal(size=member.shape)
    second = correlation * first + math.sqrt(1 - correlation**2) * rng.normal(size=member.shape)
    rest = np.stack([SHIFT * member + first, shift * member + second])
    weight = np.linalg.solve([[1, correlation], [correlation, 1]], [SHIFT, shift])
    level = rng.normal(0, 2, (2, len(member), 1))
    return level + rest, rest[0], np.tensordot(weight, rest, 1)


def audit_of(found: Evidence, game: Game) -> tuple[ByMetric, Row, Trial]:
    """The combined attack with the first signal as the baseline, and its difference in AUC."""
    names = found.names
    trial = Trial(Joint(), names, Channel.SCORE_AND_EXPLANATION, "e", Channel.SCORE, 1)
    made = guess_by_metric(found, game, trial, metrics=("auc",))
    (row,) = contrast_rows(trial, made, game, np.random.default_rng(0))
    return made, row, trial


def evidence(value: Floats, member: Bools, observed: Bools | None = None) -> Evidence:
    """A score and columns of an explanation."""
    names = (SignalName("confidence"), *(SignalName(f"column {i}", "e") for i in range(1, len(value))))
    seen = np.ones(value.shape, dtype=bool) if observed is None else observed
    return Evidence(names, np.where(seen, value, 0.0), seen, member)


def interval(row: Row) -> tuple[float, float, float]:
    """Value, low and high of a difference, which simulated audits always have."""
    if row.value is None or row.low is None or row.high is None:
        raise ValueError(f"A simulated audit has no interval: {row.reason}")
    return row.value, row.low, row.high


def shares(seeds: int) -> None:
    """Print the share of the likelihood ratio's addition that is found, by setting."""
    for name, (correlation, shift) in SETTINGS.items():
        ideal, found = np.zeros(seeds), np.zeros(seeds)
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            member = rng.random((PEOPLE, MODELS)) < 0.5
            value, before, after = signals(rng, member, correlation, shift)
            columns = range(MODELS)
            ideal[seed] = np.mean([auc(after[:, t], member[:, t]) - auc(before[:, t], member[:, t]) for t in columns])
            _, row, _ = audit_of(evidence(value, member), everyone(member, MODELS))
            found[seed] = interval(row)[0]
        share = found.mean() / ideal.mean()
        print(f"{name:34} ideal {ideal.mean():.4f}  found {found.mean():.4f}  share {share:.0%}", flush=True)


def together(rng: Rng, member: Bools, strength: float) -> tuple[Floats, Floats]:
    """Two columns that correlate by this much for members, and by minus as much for others; and their ratio."""
    first, noise = rng.normal(size=(2, *member.shape))
    left = 1 - strength**2
    second = np.where(member, strength, -strength) * first + math.sqrt(left) * noise
    return np.stack([first, second]), 2 * strength * first * second / left


def turned(rng: Rng, member: Bools, strength: float) -> tuple[Floats, Floats]:
    """Two columns of eight, as `together`, but for half of the records the other way round; and their ratio."""
    (first, second), ratio = together(rng, member, strength)
    sign = rng.choice([-1.0, 1.0], (len(member), 1))
    return np.stack([first, sign * second, *rng.normal(size=(6, *member.shape))]), ratio


def factor(rng: Rng, member: Bools, strength: float) -> tuple[Floats, Floats]:
    """Eight columns of which members' have this correlation, with signs of the columns; and their ratio."""
    columns = 8
    noise = rng.normal(size=(columns, *member.shape))
    sign = rng.choice([-1.0, 1.0], (columns, 1, 1))
    shared = math.sqrt(1 - strength) * noise + math.sqrt(strength) * sign * rng.normal(size=member.shape)
    value = np.where(member, shared, noise)
    squares = (value**2).sum(axis=0)
    along = (sign * value).sum(axis=0) ** 2
    end = 1 - strength + columns * strength
    ratio = squares / (1 - strength) - strength / ((1 - strength) * end) * along
    constant = (columns - 1) * math.log(1 - strength) + math.log(end)
    return value, (squares - ratio - constant) / 2


STRUCTURES = {
    "two columns, correlation ± .2": (together, 0.2),
    "two columns, correlation ± .4": (together, 0.4),
    "two columns of eight, correlation ± .4 by record": (turned, 0.4),
    "two columns of eight, correlation ± .6 by record": (turned, 0.6),
    "eight columns, a factor of .3": (factor, 0.3),
}
AUDITS = ((700, 10), (2_000, 12), (1_000, 33))  # people and models


def structure(seeds: int) -> None:
    """Print the share of such leaks that is found; the likelihood ratio knows the levels of the records."""
    for name, (make, strength) in STRUCTURES.items():
        for people, models in AUDITS:
            ideal, found = np.zeros(seeds), np.zeros(seeds)
            for seed in range(seeds):
                rng = np.random.default_rng([3, seed])
                member = rng.random((people, models)) < 0.5
                rest = SHIFT * member + rng.normal(size=member.shape)
                columns, ratio = make(rng, member, strength)
                value = rng.normal(0, 2, (1 + len(columns), people, 1)) + np.concatenate([rest[None], columns])
                before = SHIFT * rest
                each = range(models)
                ideal[seed] = np.mean(
                    [auc((before + ratio)[:, t], member[:, t]) - auc(before[:, t], member[:, t]) for t in each]
                )
                _, row, _ = audit_of(evidence(value, member), everyone(member, models))
                found[seed] = interval(row)[0]
            share = found.mean() / ideal.mean()
            size = f"{people:,} people, {models} models"
            print(f"{name}, {size}: ideal {ideal.mean():.4f}  found {found.mean():.4f}  share {share:.0%}", flush=True)


NULLS = {
    "1 column, 17 models": Size(PEOPLE, MODELS, MODELS, 1),
    "12 columns, 17 models": Size(PEOPLE, MODELS, MODELS, 12),
    **{f"{name}, 12 models": Size(PEOPLE, 12, 12, 1, manner=manner) for name, manner in MANNERS.items()},
    "20 columns, 5 models": Size(1_000, 5, 5, 20),
    "levels by class of record, 8 columns, 10 models": Size(700, 10, 10, 8, manner=Manner(by_class=0.7)),
    "levels by class of record, 8 columns, 16 models": Size(700, 16, 16, 8, manner=Manner(by_class=0.7)),
}


def null(seeds: int, words: str) -> None:
    """Print what is found where nothing is added, and how often the interval holds zero."""
    for name, size in NULLS.items():
        if words not in name:
            continue
        rows = [audit_of(*drawn(np.random.default_rng([1, seed]), size))[1] for seed in range(seeds)]
        values = [interval(row)[0] for row in rows]
        half = np.mean([(high - low) / 2 for _, low, high in map(interval, rows)])
        holds = sum(low <= 0 <= high for _, low, high in map(interval, rows))
        error = np.std(values, ddof=1) / math.sqrt(seeds) if seeds > 1 else math.nan
        mean = f"{np.mean(values):+.5f} (± {error:.5f}), half-width {half:.5f}"
        print(f"{name}: {mean}, zero held {holds} of {seeds}", flush=True)


# How often the decision is right about members and about others, and the share of people about whom it always is.
DECISIONS = {
    "right about all members and 70 % of others": (1.0, 0.7, 0.6),
    "right about 95 % of members and 85 % of others": (0.95, 0.85, 0.9),
    "right about 90 % of everybody": (0.9, 0.9, 0.9),
}


def decision(seeds: int) -> None:
    """Print what noise adds to a bare decision at 1 % false positives (5,000 people, 8 models, each a target)."""
    for name, (inside, outside, easy) in DECISIONS.items():
        rows = []
        for seed in range(seeds):
            rng = np.random.default_rng([8, seed])
            member = rng.random((5_000, 8)) < 0.5
            right = (rng.random((5_000, 1)) < easy) | (rng.random(member.shape) < np.where(member, inside, outside))
            noise = rng.normal(0, 2, (5_000, 1)) + rng.normal(size=member.shape)
            value = np.stack([right.astype(np.float64), noise])
            names = (SignalName("correctness"), SignalName("column", "noise"))
            units = (Unit.YES_NO, Unit.PLAIN)
            found = Evidence(names, value, np.ones(value.shape, dtype=bool), member, units)
            trial = Trial(Joint(), names, Channel.DECISION_AND_EXPLANATION, "noise", Channel.DECISION, 1)
            game = everyone(member, 8)
            made = guess_by_metric(found, game, trial, metrics=("auc", "tpr@0.01"))
            rows.append(interval(contrast_rows(trial, made, game, rng)[1]))
        value, low, high = np.array(rows).T
        above = int((low > 0).sum())
        below = int((high < 0).sum())
        print(f"{name}: {value.mean():+.4f}; above zero {above}, below {below} of {seeds}", flush=True)


def drawn(rng: Rng, size: Size) -> tuple[Evidence, Game]:
    """An audit whose explanation tells nothing, for a share of the people in each model."""
    member = rng.random((size.people, size.models)) < 0.5
    ground = rng.normal(0, 2, (1 + size.columns, size.people, 1))
    noise = size.manner.noise(rng, (1 + size.columns, *member.shape))
    noise[0] += size.shift * member
    value = ground + size.manner(rng, noise)
    observed = np.ones(value.shape, dtype=bool)
    often = (
        rng.beta(size.answered * 2, (1 - size.answered) * 2, size.people) if size.answered < 1 else np.ones(size.people)
    )
    observed[1:] = rng.random(member.shape) < often[:, None]
    return evidence(value, member, observed), everyone(member, size.targets)


def one_control(seed: int, size: Size) -> tuple[float | None, bool]:
    """What the control of one audit says that 8 of 10 find, and whether another audit with such a leak finds it."""
    rng = np.random.default_rng([2, seed])
    found, game = drawn(rng, size)
    trial = Trial(Joint(), found.names, Channel.SCORE_AND_EXPLANATION, "e", Channel.SCORE, 1)
    limit = control(trial, recover(found, game, trial, rng)).detectable
    if limit is None:
        return None, False
    other, game = drawn(rng, size)
    made, _, _ = audit_of(other, game)
    shift = Ideal.of(made.baseline["auc"]).shift_for(limit, rng)
    if shift is None:
        return None, False
    _, row, _ = audit_of(plant(other, trial, shift, rng).evidence, game)
    return limit, interval(row)[1] > 0


def controls(audits: int, words: str) -> None:
    """Print how often the stated addition is found, by size of the audit."""
    for name, size in SIZES_OF_AUDITS.items():
        if words not in name:
            continue
        said = [one_control(seed, size) for seed in range(audits)]
        known = [(limit, hit) for limit, hit in said if limit is not None]
        limits = np.array([limit for limit, _ in known])
        hits = sum(hit for _, hit in known)
        low, middle, high = np.quantile(limits, (0.1, 0.5, 0.9)) if len(limits) else (math.nan,) * 3
        # Limits that luck made low would be found seldom: those below the median are counted by themselves.
        lower = [hit for limit, hit in known if limit < middle]
        print(
            f"{name}: found {hits} of {len(known)}; stated {middle:.4f} (80 % of audits {low:.4f} to {high:.4f}); "
            f"of those below the median found {sum(lower)} of {len(lower)}; nothing stated in {len(said) - len(known)}",
            flush=True,
        )


def main() -> None:
    """Run one of the five."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("shares", "structure", "null", "decision", "control"))
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--audits", type=int, default=40)
    parser.add_argument("--size", default="", help="only sizes of audits whose name has these words")
    given = parser.parse_args()
    if given.what == "control":
        controls(given.audits, given.size)
    elif given.what == "null":
        null(given.seeds, given.size)
    else:
        {"shares": shares, "structure": structure, "decision": decision}[given.what](given.seeds)


if __name__ == "__main__":
    main()
