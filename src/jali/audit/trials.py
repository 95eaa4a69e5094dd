"""One attack on some signals: run it on every target, join the truth, and put an interval on each number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jali.audit.reference import REFERENCE, known
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Combined, Estimate, Guesses, Records, Shadows, Target, weighted
from jali.core.protocols import Attack, Combines
from jali.core.values import Bools, Channel, Evidence, Floats, Game, Ints, Rng, SignalName
from jali.results import Curve, Kind, Row
from jali.stats.intervals import HOW_UNITS, average, clopper_pearson, contrast, estimate
from jali.stats.people import people, trials
from jali.stats.roc import METRICS

Fresh = Callable[[], Rng]  # makes the random stream of a bootstrap anew
TOGETHER = 8  # targets for which a combination is learnt at once, at most
KEPT = 0.65  # share of their shadow models that must be common to them
GRID = tuple(float(f) for f in np.logspace(-4, 0, 41).round(8))


@dataclass(frozen=True)
class Trial:
    """One attack on some signals of one channel; the first `base` of them are those of its baseline, `against`."""

    attack: Attack
    names: tuple[SignalName, ...]
    channel: Channel
    explainer: str = ""
    against: Channel | None = None
    base: int = 0

    def row(self, metric: str, kind: Kind = "attack") -> Row:
        """An empty row of this trial."""
        return Row(
            kind=kind,
            metric=metric,
            value=None,
            learns="membership",
            explainer=self.explainer,
            channel=self.channel,
            signal=" + ".join(dict.fromkeys(name.signal for name in self.names)),
            attack=registry.spec(self.attack),
            combined=self.attack.many,
            against=self.against,
        )

    def without_explanation(self) -> Trial:
        """The same attack on the baseline's signals alone."""
        channel = self.channel if self.against is None else self.against
        return replace(self, names=self.names[: self.base], channel=channel, base=0)


def guess(
    evidence: Evidence, game: Game, trial: Trial, records: Records | None = None, person: Ints | None = None
) -> Guesses:
    """Attack every target with its own shadows; guesses exist where a record is scored and observed.

    records: the records themselves, which only attacks that require a reference are given. person (N,): whose record
    each is; without it every record is a person of its own.
    """
    return guess_by_metric(evidence, game, replace(trial, base=0), records, person, ("auc",)).score["auc"]


@dataclass(frozen=True)
class ByMetric:
    """The guesses of a trial by metric, for which an attack may combine signals differently.

    score: what the attack says. baseline: the same attack without the explanation's signals, on the same records; empty
    where the trial has no baseline. forced: the attack made to use all signals; used (T,): in which target models it
    does so by its own choice, made on shadow models.
    """

    score: Mapping[str, Guesses]
    baseline: Mapping[str, Guesses]
    forced: Mapping[str, Guesses]
    used: Mapping[str, Bools]


def guess_by_metric(
    evidence: Evidence,
    game: Game,
    trial: Trial,
    records: Records | None = None,
    person: Ints | None = None,
    metrics: Sequence[str] = tuple(METRICS),
) -> ByMetric:
    """Attack every target, with the combination chosen for each metric, and without the explanation's signals."""
    chosen = evidence.pick(trial.names)
    found = [
        one for group in _together(trial.attack, game) for one in _scores(chosen, game, trial, group, records, metrics)
    ]
    rows = [r for _, r in found]
    unit = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    record = np.concatenate(rows)
    truth = game.member[record, game.targets[unit]]
    group = record if person is None else person[record]

    def joined(scores: list[Floats]) -> Guesses:
        return weighted(game, Guesses(np.concatenate(scores), truth, unit, record, group))

    every = {metric: [scores[metric] for scores, _ in found] for metric in metrics}
    beside = trial.base > 0
    return ByMetric(
        {metric: joined([c.score for c in each]) for metric, each in every.items()},
        {metric: joined([c.baseline for c in each]) for metric, each in every.items() if beside},
        {metric: joined([c.forced for c in each]) for metric, each in every.items() if beside},
        {metric: np.array([c.helps for c in each]) for metric, each in every.items() if beside},
    )


def _together(attack: Attack, game: Game) -> list[list[int]]:
    """Groups of consecutive targets for which a combination is learnt once, on the shadow models that all of them have.

    No target is a shadow of itself, so none of the group is among those. A group loses few shadow models.
    """
    if not isinstance(attack, Combines):
        return [[t] for t in range(len(game.targets))]
    groups: list[list[int]] = []
    for t in range(len(game.targets)):
        grown = [*groups[-1], t] if groups else [t]
        left = game.shadows[grown].all(axis=0).sum()
        if groups and len(grown) <= TOGETHER and left >= KEPT * game.shadows[grown].sum(axis=1).max():
            groups[-1] = grown
        else:
            groups.append([t])
    return groups


def _scores(
    evidence: Evidence, game: Game, trial: Trial, group: list[int], records: Records | None, metrics: Sequence[str]
) -> list[tuple[dict[str, Combined], Ints]]:
    """By target of a group: the scores by metric, and the rows that are judged."""
    attack = trial.attack
    views = [_view(evidence, game, attack, t, records) for t in group]
    rows = [np.flatnonzero(judged) for _, _, judged in views]
    if not isinstance(attack, Combines):
        return [(dict.fromkeys(metrics, _plain(trial, *view)), r) for view, r in zip(views, rows, strict=True)]
    shared = _shadows(evidence, game, attack, np.asarray(game.shadows[group].all(axis=0)))
    learnt = attack.learn(shared, trial.base or len(trial.names), metrics)
    out = []
    for (target, shadows, judged), r in zip(views, rows, strict=True):
        out.append(({metric: c.pick(judged) for metric, c in learnt.apply(target, shadows).items()}, r))
    return out


def _plain(trial: Trial, target: Target, shadows: Shadows, judged: Bools) -> Combined:
    """The scores of an attack that always combines signals alike, with all signals and without the explanation's."""
    score = trial.attack.score(target, shadows)
    some = slice(0, trial.base)
    baseline = trial.attack.score(target.pick(some), shadows.pick(some)) if trial.base else score
    return Combined(score, baseline, score, helps=trial.base > 0).pick(judged)


def _view(
    evidence: Evidence, game: Game, attack: Attack, t: int, records: Records | None
) -> tuple[Target, Shadows, Bools]:
    """What the adversary sees of target t and of its shadows, and which records (N,) are judged."""
    column = game.targets[t]
    judged = game.scored[:, t] & evidence.observed[:, :, column].all(axis=0)
    shadows = _shadows(evidence, game, attack, game.shadows[t])
    _check_shadows(attack, shadows, judged, int(column))
    mine = known(records, game, t) if records is not None and REFERENCE in attack.requires else None
    observed = evidence.observed[:, :, column]
    return Target(evidence.value[:, :, column], observed & _visible(game, attack), mine), shadows, judged


def _shadows(evidence: Evidence, game: Game, attack: Attack, helpers: Bools) -> Shadows:
    """What the adversary knows of some of its own models."""
    observed = evidence.observed[:, :, helpers] & _visible(game, attack)[:, None]
    return Shadows(evidence.value[:, :, helpers], observed, evidence.member[:, helpers], evidence.units)


def _visible(game: Game, attack: Attack) -> Bools:
    """The records (N,) that an attack reads: those set aside only where it compares with them.

    They are in no training set, so attacks that are tuned on shadow models would learn to recognise them.
    """
    if game.aside is None or REFERENCE in attack.requires:
        return np.ones(len(game.member), dtype=bool)
    return ~game.aside


def _check_shadows(attack: Attack, shadows: Shadows, judged: Bools, column: int) -> None:
    if not judged.any():
        raise JaliError(f"Nothing was observed under model {column}, so there is nothing to judge.")
    seen = {"in": shadows.member, "out": ~shadows.member}
    for kind in sorted(attack.requires - {REFERENCE}):
        if not (seen[kind] & judged[:, None]).any():
            how = "trained on" if kind == "in" else "trained without"
            raise JaliError(
                f"{registry.name_of(attack)} needs shadow models {how} the records it judges; model {column} has none: "
                "choose an attack that does without, or another game."
            )


def feasible(attack: Attack, game: Game) -> bool:
    """Whether every target has the kinds of shadow, or the reference, that an attack requires."""
    for t in range(len(game.targets)):
        if REFERENCE in attack.requires and not game.reference(t).any():
            return False
        member = game.member[:, game.shadows[t]][game.scored[:, t]]
        if ("in" in attack.requires and not member.any()) or ("out" in attack.requires and member.all()):
            return False
    return True


def rows_of(trial: Trial, guesses: Mapping[str, Guesses], game: Game, rng: Rng) -> list[Row]:
    """One row per metric, each with the guesses made for it."""
    out = []
    for metric, mine in guesses.items():
        number, how = estimate(metric, mine, rng)
        out.append(_filled(trial.row(metric), number, how, _facts(mine, game)))
    return out


def unresolved(trial: Trial, reason: str, kind: Kind = "attack") -> list[Row]:
    """Rows without a value, where an attack could not be run on what was observed."""
    return [trial.row(metric, kind).model_copy(update={"reason": reason}) for metric in METRICS]


def contrast_rows(trial: Trial, found: ByMetric, game: Game, rng: Rng) -> list[Row]:
    """Paired differences to the baseline.

    Where the attack uses the explanation in no target, there is no difference and no interval; then it is made to use
    it, and the interval is that of the forced combination, with zero inside: an attacker may ignore what hurts.
    """
    out = []
    for metric, with_ in found.score.items():
        number, how = contrast(metric, with_, found.baseline[metric], rng)
        if number.value is not None and not found.used[metric].any():
            forced, how = contrast(metric, found.forced[metric], found.baseline[metric], rng)
            number = _around_zero(forced)
            how = f"{how}, of the combination made to use the explanation"
        row = _filled(trial.row(metric, "contrast"), number, how, _facts(with_, game))
        out.append(row.model_copy(update={"unchanged": int((~found.used[metric]).sum())}))
    return out


def _around_zero(forced: Estimate) -> Estimate:
    """No difference, with the interval of the forced combination; where that lies above zero, the leak itself."""
    if forced.low is None or forced.high is None:
        return replace(forced, value=0.0)
    if forced.low > 0:
        return forced
    return replace(forced, value=0.0, low=min(forced.low, 0.0), high=max(forced.high, 0.0))


def paired_rows(trial: Trial, found: ByMetric, game: Game, fresh: Fresh) -> list[Row]:
    """The metrics of both sides of a difference."""
    out = []
    for side, guesses in ((trial, found.score), (trial.without_explanation(), found.baseline)):
        rng = fresh()
        for metric, mine in guesses.items():
            number, how = estimate(metric, mine, rng)
            out.append(_filled(side.row(metric, "paired"), number, how, _facts(mine, game)))
    return out


def paired(a: Guesses, b: Guesses) -> tuple[Guesses, Guesses]:
    """The guesses about the same (target, record) pairs, in the same order."""
    width = int(max(a.record.max(initial=0), b.record.max(initial=0))) + 1
    ka, kb = a.unit * width + a.record, b.unit * width + b.record
    _, ia, ib = np.intersect1d(ka, kb, assume_unique=True, return_indices=True)
    return a.pick(ia), b.pick(ib)


def _facts(guesses: Guesses, game: Game) -> dict[str, float]:
    scored = int(game.judged().sum())
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
    few = min(_others(guesses, at == u) for u in range(len(units)))
    low = [min(max(float(e.low or 0.0), 0.0), 1.0) for e in found]
    high = [min(max(float(e.high or 0.0), 0.0), 1.0) for e in found]
    floor = float(1 - 0.05 ** (1 / max(1, few)))
    tpr = [float(e.value or 0.0) for e in found]
    return Curve(label=label, explainer=explainer, fpr=list(GRID), tpr=tpr, low=low, high=high, floor=floor)


def _others(guesses: Guesses, of: Bools) -> float:
    """The number of people who are non-members among some guesses (G,), with weights their effective number."""
    side = of & ~guesses.truth
    return people(guesses.group[side], None if guesses.weights is None else guesses.weight[side])


def flagged(guesses: Guesses, alpha: float) -> Bools:
    """Which guesses (G,) exceed the threshold of their target that at most a share alpha of its non-members exceeds.

    With weights, a share alpha of their sum. A target without non-members has no such threshold, and nobody is flagged.
    """
    out = np.zeros(len(guesses.score), dtype=bool)
    for u in np.unique(guesses.unit):
        mine = guesses.unit == u
        others = np.flatnonzero(mine & ~guesses.truth)
        ranked = others[np.argsort(-guesses.score[others])]
        above = np.cumsum(guesses.weight[ranked])
        if len(ranked):
            allowed = int(np.searchsorted(above, alpha * above[-1] + 1e-9, side="right"))
            out[mine] = guesses.score[mine] > guesses.score[ranked[allowed]] if allowed < len(ranked) else True
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
