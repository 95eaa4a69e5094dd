"""From evidence to rows: run attacks on every target, join the truth, put an interval on each number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.protocols import Attack, ChoosesSignals
from jali.core.values import (
    Bools,
    Channel,
    Estimate,
    Evidence,
    Floats,
    Game,
    Guesses,
    Ints,
    Rng,
    Shadows,
    SignalName,
    Target,
)
from jali.results import Curve, Kind, Row
from jali.stats.intervals import HOW_UNITS, average, clopper_pearson, contrast, estimate
from jali.stats.people import people, trials
from jali.stats.roc import METRICS

Fresh = Callable[[], Rng]  # makes the random stream of a bootstrap anew
GRID = tuple(float(f) for f in np.logspace(-4, 0, 41).round(8))


@dataclass(frozen=True)
class Trial:
    """One attack on some signals of one channel."""

    attack: Attack
    names: tuple[SignalName, ...]
    channel: Channel
    explainer: str = ""
    against: Channel | None = None

    def row(self, metric: str, kind: Kind = "attack") -> Row:
        """An empty row of this trial."""
        return Row(
            kind=kind,
            metric=metric,
            value=None,
            learns="membership",
            explainer=self.explainer,
            channel=self.channel,
            signal=" + ".join(name.signal for name in self.names),
            attack=registry.spec(self.attack),
            combined=self.attack.many,
            against=self.against,
        )


def guess(evidence: Evidence, game: Game, trial: Trial, person: Ints | None = None) -> Guesses:
    """Attack every target with its own shadows; guesses exist where a record is scored and observed.

    person (N,): whose record each is; without it every record is a person of its own.
    """
    chosen = evidence.pick(trial.names)
    found = [_one(chosen, game, trial.attack, t) for t in range(len(game.targets))]
    scores, rows = zip(*found, strict=True)
    unit = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    record = np.concatenate(rows)
    truth = game.member[record, game.targets[unit]]
    return Guesses(np.concatenate(scores), truth, unit, record, record if person is None else person[record])


def _one(evidence: Evidence, game: Game, attack: Attack, t: int) -> tuple[Floats, Ints]:
    column = game.targets[t]
    helpers = game.shadows[t]
    judged = game.scored[:, t] & evidence.observed[:, :, column].all(axis=0)
    shadows = Shadows(evidence.value[:, :, helpers], evidence.observed[:, :, helpers], evidence.member[:, helpers])
    _check_shadows(attack, shadows, judged, int(column))
    target = Target(evidence.value[:, :, column], evidence.observed[:, :, column])
    score = attack.score(target, shadows)
    rows = np.flatnonzero(judged)
    return score[rows], rows


def _check_shadows(attack: Attack, shadows: Shadows, judged: Bools, column: int) -> None:
    if not judged.any():
        raise JaliError(f"Nothing was observed under model {column}, so there is nothing to judge.")
    seen = {"in": shadows.member, "out": ~shadows.member}
    for kind in sorted(attack.requires):
        if not (seen[kind] & judged[:, None]).any():
            how = "trained on" if kind == "in" else "trained without"
            raise JaliError(
                f"{registry.name_of(attack)} needs shadow models {how} the records it judges; model {column} has none: "
                "choose an attack that does without, or another game."
            )


def feasible(attack: Attack, game: Game) -> bool:
    """Whether every target has the kinds of shadow an attack requires."""
    for t in range(len(game.targets)):
        member = game.member[:, game.shadows[t]][game.scored[:, t]]
        if ("in" in attack.requires and not member.any()) or ("out" in attack.requires and member.all()):
            return False
    return True


def rows_of(trial: Trial, guesses: Guesses, game: Game, rng: Rng) -> list[Row]:
    """One row per metric."""
    facts = _facts(guesses, game)
    out = []
    for metric in METRICS:
        number, how = estimate(metric, guesses, rng)
        out.append(_filled(trial.row(metric), number, how, facts))
    return out


def unresolved(trial: Trial, reason: str, kind: Kind = "attack") -> list[Row]:
    """Rows without a value, where an attack could not be run on what was observed."""
    return [trial.row(metric, kind).model_copy(update={"reason": reason}) for metric in METRICS]


def contrast_rows(trial: Trial, with_: Guesses, without: Guesses, game: Game, rng: Rng) -> list[Row]:
    """Paired differences on the guesses both sides have."""
    with_, without = paired(with_, without)
    facts = _facts(with_, game)
    same = unchanged(with_, without)
    # The combined attack uses a signal only if it adds this much AUC on shadow models.
    gain = trial.attack.gain if isinstance(trial.attack, ChoosesSignals) else 0.0
    out = []
    for metric in METRICS:
        number, how = contrast(metric, with_, without, rng)
        row = _filled(trial.row(metric, "contrast"), number, how, facts)
        out.append(row.model_copy(update={"unchanged": same, "ignored_below": gain if metric == "auc" else 0.0}))
    return out


def paired_rows(sides: tuple[Trial, Trial], guesses: tuple[Guesses, Guesses], game: Game, fresh: Fresh) -> list[Row]:
    """The metrics of both sides of a difference, each on the guesses that both sides have."""
    about = {"explainer": sides[0].explainer, "against": sides[0].against}
    out = []
    for trial, mine in zip(sides, paired(*guesses), strict=True):
        rng = fresh()
        for metric in METRICS:
            number, how = estimate(metric, mine, rng)
            row = _filled(trial.row(metric, "paired"), number, how, _facts(mine, game))
            out.append(row.model_copy(update=about))
    return out


def unchanged(a: Guesses, b: Guesses) -> int:
    """In how many target models two attacks rank the same people in the same order.

    >>> truth, unit, record = np.array([True, False] * 2), np.array([0, 0, 1, 1]), np.arange(4)
    >>> a = Guesses(np.array([1.0, 2.0, 1.0, 2.0]), truth, unit, record)
    >>> unchanged(a, Guesses(np.array([5.0, 9.0, 2.0, 1.0]), truth, unit, record))
    1
    """
    mine = [a.unit == u for u in np.unique(a.unit)]
    return sum(np.array_equal(rankdata(a.score[m]), rankdata(b.score[m])) for m in mine)


def paired(a: Guesses, b: Guesses) -> tuple[Guesses, Guesses]:
    """The guesses about the same (target, record) pairs, in the same order."""
    width = int(max(a.record.max(initial=0), b.record.max(initial=0))) + 1
    ka, kb = a.unit * width + a.record, b.unit * width + b.record
    _, ia, ib = np.intersect1d(ka, kb, assume_unique=True, return_indices=True)
    return a.pick(ia), b.pick(ib)


def _facts(guesses: Guesses, game: Game) -> dict[str, float]:
    scored = int(game.scored.sum())
    return {
        "n": len(guesses.score) // max(1, len(game.targets)),
        "base_rate": float(guesses.truth.mean()) if len(guesses.truth) else 0.0,
        "coverage": len(guesses.score) / max(1, scored),
    }


def _filled(row: Row, e: Estimate, how: str, facts: dict[str, float]) -> Row:
    fields = {"value": e.value, "low": e.low, "high": e.high, "units": e.units, "reason": e.reason}
    return row.model_copy(update={**fields, **facts, "interval": how})


def curve(label: str, explainer: str, guesses: Guesses) -> Curve:
    """ROC averaged over targets on a grid of false-positive rates, with a band."""
    units, at = np.unique(guesses.unit, return_inverse=True)
    mine = guesses.truth
    person = guesses.group[guesses.truth]
    found = []
    for alpha in GRID:
        passed = flagged(guesses, alpha)[mine]
        found.append(average(passed, at[mine], person))
    few = min(people(guesses.group[~mine & (at == u)]) for u in range(len(units)))
    low = [min(max(float(e.low or 0.0), 0.0), 1.0) for e in found]
    high = [min(max(float(e.high or 0.0), 0.0), 1.0) for e in found]
    floor = float(1 - 0.05 ** (1 / max(1, few)))
    tpr = [float(e.value or 0.0) for e in found]
    return Curve(label=label, explainer=explainer, fpr=list(GRID), tpr=tpr, low=low, high=high, floor=floor)


def flagged(guesses: Guesses, alpha: float) -> Bools:
    """Which guesses (G,) exceed the threshold of their target that at most a share alpha of its non-members exceeds.

    A target without non-members has no such threshold, and nobody is flagged.
    """
    out = np.zeros(len(guesses.score), dtype=bool)
    for u in np.unique(guesses.unit):
        mine = guesses.unit == u
        negatives = np.sort(guesses.score[mine & ~guesses.truth])[::-1]
        allowed = int(np.floor(alpha * len(negatives) + 1e-9))
        if len(negatives):
            out[mine] = guesses.score[mine] > negatives[allowed] if allowed < len(negatives) else True
    return out


def group_rows(trial: Trial, guesses: Guesses, groups: dict[str, Bools], alpha: float, rng: Rng) -> list[Row]:
    """TPR of each subgroup's members at one common threshold per target."""
    metric = f"tpr@{alpha}"
    hit = flagged(guesses, alpha)
    out = []
    gate, how = estimate(metric, guesses, rng)
    for label, inside in groups.items():
        mine = guesses.truth & inside[guesses.record]
        if not mine.any():
            continue
        units = len(np.unique(guesses.unit[mine]))
        number, made = (gate, how) if gate.value is None else _group_rate(hit[mine], guesses.pick(mine), units)
        row = trial.row(metric).model_copy(update={"group": label})
        out.append(_filled(row, number, made, {"n": int(mine.sum() // units)}))
    return out


def _group_rate(hit: Bools, members: Guesses, units: int) -> tuple[Estimate, str]:
    """Share of a subgroup's members that are flagged, with the thresholds taken as fixed."""
    hits = int(hit.sum())
    if units == 1 or hits in (0, len(hit)):
        rate = hits / len(hit)
        n = trials(hit, members.group)
        low, high = clopper_pearson(hits if n == len(hit) else rate * n, n)
        return Estimate(rate, low, high, units), "Clopper-Pearson at the threshold found"
    number = average(hit, members.unit, members.group)
    return replace(number, low=max(number.low or 0.0, 0.0), high=min(number.high or 1.0, 1.0)), HOW_UNITS
