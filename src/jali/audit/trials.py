"""One attack on some signals: run it on every target, join the truth, and put an interval on each number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jali.audit.evidence import read_only
from jali.audit.reference import REFERENCE
from jali.audit.reference import known as known_records
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Combined, Estimate, Guesses, Records, Shadows, Target, places, rows_by_unit, weighted
from jali.core.protocols import Attack, Combination, Combines, ScoresTogether
from jali.core.values import Bools, Channel, Evidence, Floats, Game, Ints, Rng, SignalName
from jali.results import Curve, Kind, Row
from jali.stats.intervals import HOW_UNITS, Judged, average, averages, clopper_pearson, contrast, estimate
from jali.stats.people import people, trials
from jali.stats.roc import METRICS

TOGETHER = 32  # targets for which a combination is learnt at once, at most
KEPT = 0.65  # share of their shadow models that must be common to them
NUMBERS = 4_000_000  # records x targets that an attack on one signal scores at once
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
    known: dict[int, Combination] | None = None,
) -> ByMetric:
    """Attack every target, with the combination chosen for each metric, and without the explanation's signals.

    known: what was learnt on the same game with the same baseline, by the first target of each group; it is used where
    it is there, and entered where not.
    """
    chosen = evidence.pick(trial.names)
    memory = {} if known is None else known
    found = []
    for group in together(trial.attack, game):
        found += _scores(chosen, game, trial, group, records, metrics, memory)
    rows = [r for _, r in found]
    unit = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    record = np.concatenate(rows)
    truth = game.member[record, game.targets[unit]]
    owner = np.empty(0, dtype=np.int64) if person is None else person[record]
    read_only(truth, unit, record, owner)

    def joined(part: Callable[[Combined], Floats]) -> dict[str, Guesses]:
        """Metrics with the same scores share one value."""
        made: dict[tuple[int, ...], Guesses] = {}
        out = {}
        for metric in metrics:
            scores = [part(each[metric]) for each, _ in found]
            same = tuple(map(id, scores))
            if same not in made:
                whole = np.concatenate(scores)
                read_only(whole)
                made[same] = weighted(game, Guesses(whole, truth, unit, record, owner))
            out[metric] = made[same]
        return out

    score = joined(lambda c: c.score)
    if not trial.base:
        return ByMetric(score, {}, {}, {})
    used = {metric: np.array([each[metric].helps for each, _ in found]) for metric in metrics}
    return ByMetric(score, joined(lambda c: c.baseline), joined(lambda c: c.forced), used)


def together(attack: Attack, game: Game) -> list[list[int]]:
    """Groups of consecutive targets for which a combination is learnt once, on the shadow models that all of them have.

    No target is a shadow of itself, so none of the group is among those. A group loses few shadow models. An attack
    that learns nothing, but scores several targets at once, has groups that fit in memory.
    """
    if not isinstance(attack, Combines):
        step = max(1, NUMBERS // max(1, len(game.member))) if isinstance(attack, ScoresTogether) else 1
        return [list(range(len(game.targets)))[start : start + step] for start in range(0, len(game.targets), step)]
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
    evidence: Evidence,
    game: Game,
    trial: Trial,
    group: list[int],
    records: Records | None,
    metrics: Sequence[str],
    known: dict[int, Combination],
) -> list[tuple[Mapping[str, Combined], Ints]]:
    """By target of a group: the scores by metric, and the rows that are judged."""
    attack = trial.attack
    seen = [_seen(evidence, game, attack, t, records) for t in group]
    some = np.asarray(game.shadows[group].any(axis=0))
    shadows = _shadows(evidence, game, attack, some)
    if isinstance(attack, Combines):
        sets = game.shadows[group][:, some]
        common = np.asarray(sets.all(axis=0))  # a copy of the models in it is large, and not kept
        learnt = attack.learn(shadows.models(common), trial.base or len(trial.names), metrics, known.get(group[0]))
        known[group[0]] = learnt
        found = learnt.apply([target for target, _ in seen], shadows, sets)
    elif isinstance(attack, ScoresTogether):
        value = np.stack([target.value[0] for target, _ in seen])
        each = attack.scores(value, shadows, game.shadows[group][:, some])
        found = [dict.fromkeys(metrics, Combined(score, score, score, helps=False)) for score in each]
    else:
        found = [dict.fromkeys(metrics, _plain(trial, target, shadows)) for target, _ in seen]
    out: list[tuple[Mapping[str, Combined], Ints]] = []
    for scores, (_, judged) in zip(found, seen, strict=True):
        picked = {id(c): c if judged.all() else c.pick(judged) for c in scores.values()}
        out.append(({metric: picked[id(c)] for metric, c in scores.items()}, np.flatnonzero(judged)))
    return out


def _plain(trial: Trial, target: Target, shadows: Shadows) -> Combined:
    """The scores of an attack that always combines signals alike, with all signals and without the explanation's."""
    score = trial.attack.score(target, shadows)
    some = slice(0, trial.base)
    baseline = trial.attack.score(target.pick(some), shadows.pick(some)) if trial.base else score
    return Combined(score, baseline, score, helps=trial.base > 0)


def _seen(evidence: Evidence, game: Game, attack: Attack, t: int, records: Records | None) -> tuple[Target, Bools]:
    """What the adversary sees of target t, and which records (N,) are judged."""
    column = game.targets[t]
    observed = evidence.observed[:, :, column]
    judged = game.scored[:, t] & observed.all(axis=0)
    _check_shadows(attack, evidence.member, game.shadows[t], judged, int(column))
    mine = known_records(records, game, t) if records is not None and REFERENCE in attack.requires else None
    return Target(evidence.value[:, :, column], observed & _visible(game, attack), mine), judged


def _shadows(evidence: Evidence, game: Game, attack: Attack, helpers: Bools) -> Shadows:
    """What the adversary knows of some of its own models."""
    hidden = ~_visible(game, attack)
    known = Shadows(evidence.value, evidence.observed, evidence.member, evidence.units).models(helpers)
    return replace(known, observed=known.observed & ~hidden[:, None]) if hidden.any() else known


def _visible(game: Game, attack: Attack) -> Bools:
    """The records (N,) that an attack reads: those set aside only where it compares with them.

    They are in no training set, so attacks that are tuned on shadow models would learn to recognise them.
    """
    if game.aside is None or REFERENCE in attack.requires:
        return np.ones(len(game.member), dtype=bool)
    return ~game.aside


def _check_shadows(attack: Attack, member: Bools, shadows: Bools, judged: Bools, column: int) -> None:
    if not judged.any():
        raise JaliError(f"Nothing was observed under model {column}, so there is nothing to judge.")
    for kind in sorted(attack.requires - {REFERENCE}):
        if not _some_shadow(kind, member, shadows, judged):
            how = "trained on" if kind == "in" else "trained without"
            raise JaliError(
                f"{registry.name_of(attack)} needs shadow models {how} the records it judges; model {column} has none: "
                "choose an attack that does without, or another game."
            )


def _some_shadow(kind: str, member: Bools, shadows: Bools, judged: Bools) -> bool:
    """Whether one of the shadow models (M,) trained on ("in"), or without ("out"), one of the records judged (N,)."""
    return any(bool((judged & (member[:, k] == (kind == "in"))).any()) for k in np.flatnonzero(shadows))


def feasible(attack: Attack, game: Game) -> bool:
    """Whether every target has the kinds of shadow, or the reference, that an attack requires."""
    for t in range(len(game.targets)):
        if REFERENCE in attack.requires and not game.reference(t).any():
            return False
        for kind in attack.requires - {REFERENCE}:
            if not _some_shadow(kind, game.member, game.shadows[t], game.scored[:, t]):
                return False
    return True


def rows_of(trial: Trial, guesses: Mapping[str, Guesses], game: Game, rng: Rng, kind: Kind = "attack") -> list[Row]:
    """One row per metric, each with the guesses made for it."""
    made = {}
    for mine in {id(each): each for each in guesses.values()}.values():  # one at a time: guesses can be millions
        judged = Judged(mine)
        for metric, each in guesses.items():
            if each is mine:
                number, how = estimate(metric, judged, rng)
                made[metric] = _filled(trial.row(metric, kind), number, how, _facts(mine, game))
    return [made[metric] for metric in guesses]


def _judged_once(guesses: Mapping[str, Guesses]) -> dict[int, Judged]:
    """Guesses that several metrics share are sorted once."""
    return {id(mine): Judged(mine) for mine in guesses.values()}


def unresolved(trial: Trial, reason: str, kind: Kind = "attack") -> list[Row]:
    """Rows without a value, where an attack could not be run on what was observed."""
    return [trial.row(metric, kind).model_copy(update={"reason": reason}) for metric in METRICS]


def contrast_rows(trial: Trial, found: ByMetric, game: Game, rng: Rng) -> list[Row]:
    """Paired differences to the baseline.

    Where the attack uses the explanation in no target, there is no difference and no interval; then it is made to use
    it, and the interval is that of the forced combination, with zero inside: an attacker may ignore what hurts.
    """
    out = []
    once = _judged_once(found.score) | _judged_once(found.baseline) | _judged_once(found.forced)
    for metric, with_ in found.score.items():
        baseline = once[id(found.baseline[metric])]
        number, how = contrast(metric, once[id(with_)], baseline, rng)
        if number.value is not None and not found.used[metric].any():
            forced, how = contrast(metric, once[id(found.forced[metric])], baseline, rng)
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


def paired_rows(trial: Trial, rows: Sequence[Row], found: ByMetric, game: Game, rng: Rng) -> list[Row]:
    """The metrics of both sides of a difference; those with the explanation are the rows of the trial itself."""
    same = [row.model_copy(update={"kind": "paired"}) for row in rows]
    return same + rows_of(trial.without_explanation(), found.baseline, game, rng, "paired")


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
    at = places(guesses.unit)[1]
    mine = guesses.truth
    person = guesses.group[mine]
    thresholds = _thresholds(guesses, GRID)
    found = averages((guesses.score[mine] > cut[at[mine]] for cut in thresholds), at[mine], person)
    few = min(_others(guesses, rows) for rows in rows_by_unit(guesses.unit))
    low = [min(max(float(e.low or 0.0), 0.0), 1.0) for e in found]
    high = [min(max(float(e.high or 0.0), 0.0), 1.0) for e in found]
    floor = float(1 - 0.05 ** (1 / max(1, few)))
    tpr = [float(e.value or 0.0) for e in found]
    return Curve(label=label, explainer=explainer, fpr=list(GRID), tpr=tpr, low=low, high=high, floor=floor)


def _others(guesses: Guesses, of: slice | Ints) -> float:
    """The number of people who are non-members among some guesses, with weights their effective number."""
    side = ~guesses.truth[of]
    return people(guesses.group[of][side], None if guesses.weights is None else guesses.weight[of][side])


def flagged(guesses: Guesses, alpha: float) -> Bools:
    """Which guesses (G,) exceed the threshold of their target that at most a share alpha of its non-members exceeds.

    With weights, a share alpha of their sum. A target without non-members has no such threshold, and nobody is flagged.
    """
    at = places(guesses.unit)[1]
    return np.asarray(guesses.score > _thresholds(guesses, (alpha,))[0][at])


def _thresholds(guesses: Guesses, alphas: Sequence[float]) -> Floats:
    """The threshold (A, T) of each target at each rate, from one sort per target; -inf where everybody may pass."""
    each = rows_by_unit(guesses.unit)
    out = np.full((len(alphas), len(each)), np.inf)
    for k, mine in enumerate(each):
        others = ~guesses.truth[mine]
        if others.any():
            score = guesses.score[mine][others]
            ranked = np.argsort(-score)
            above = np.cumsum(guesses.weight[mine][others][ranked])
            allowed = np.searchsorted(above, np.array(alphas) * above[-1] + 1e-9, side="right")
            out[:, k] = np.append(score[ranked], -np.inf)[allowed]
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
