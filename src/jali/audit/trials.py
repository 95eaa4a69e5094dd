"""One attack on some signals: run it on every target, join the truth, and put an interval on each number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from jali.audit.evidence import read_only
from jali.audit.gaps import original
from jali.audit.growing import Growing
from jali.audit.lots import by_lot
from jali.audit.reference import REFERENCE
from jali.audit.reference import known as known_records
from jali.audit.requirements import check_shadows
from jali.audit.steadied import with_steadied
from jali.core import registry
from jali.core.columns import columns
from jali.core.errors import JaliError
from jali.core.guesses import NOT_FINITE, Combined, Estimate, Guesses, Records, Shadows, Target, weighted
from jali.core.protocols import Attack, Combination, Combines, ScoresTogether
from jali.core.values import Bools, Channel, Evidence, Floats, Game, Ints, Rng, SignalName
from jali.results import Kind, Row
from jali.stats.intervals import Judged, Paired, difference, estimate, over_targets
from jali.stats.judged import OneTarget, measured
from jali.stats.roc import METRICS
from jali.store import release

SCORES = ("score", "baseline", "forced")
TOGETHER = 32  # targets for which a combination is learnt at once, at most
KEPT = 0.65  # share of their shadow models that must be common to them
NUMBERS = 3_000_000  # records x targets x signals that an attack scores at once


@dataclass(frozen=True)
class Known:
    """What was learnt, or scored by the baseline alone, by the first target of each group of a game."""

    learnt: dict[int, Combination] = field(default_factory=dict)
    baseline: dict[int, list[Floats]] = field(default_factory=dict)


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
            signal=" + ".join(dict.fromkeys(original(name).signal for name in self.names)),
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
    known: Known | None = None,
) -> ByMetric:
    """Attack every target, with the combination chosen for each metric, and without the explanation's signals.

    known: what was learnt on the same game with the same baseline; it is used where it is there, and entered where not.
    """
    kinds = SCORES if trial.base else SCORES[:1]
    growing = {kind: Growing(metrics, int(game.scored.sum())) for kind in kinds}
    helps: dict[str, list[bool]] = {metric: [] for metric in metrics}
    rows: list[Ints] = []
    for scores, judged in _by_target(evidence, game, trial, records, metrics, known):
        same = bool(rows) and np.array_equal(rows[-1], judged)
        rows.append(rows[-1] if same else judged)  # most often all targets have the same records
        for kind, mine in growing.items():
            mine.add({metric: vars(combined)[kind] for metric, combined in scores.items()})
        for metric, combined in scores.items():
            helps[metric].append(combined.helps)
    about = _about(game, rows, person)
    found = {kind: _joined(growing.pop(kind).whole(), about) for kind in kinds}
    if not trial.base:
        return ByMetric(found["score"], {}, {}, {})
    used = {metric: np.array(each) for metric, each in helps.items()}
    return ByMetric(found["score"], found["baseline"], found["forced"], used)


def _about(game: Game, rows: Sequence[Ints], person: Ints | None) -> Callable[[Floats], Guesses]:
    """Scores (G,) about records (n,) of each target as guesses, which all share what they are about."""
    pairs = zip(rows, columns(game.member, game.targets), strict=True)
    truth = np.concatenate([member[mine] for mine, member in pairs])
    unit = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    record = np.concatenate(rows)
    owner = np.empty(0, dtype=np.int64) if person is None else person[record]
    read_only(truth, unit, record, owner)
    return lambda score: weighted(game, Guesses(score, truth, unit, record, owner))


def _joined(scores: Mapping[str, Floats], about: Callable[[Floats], Guesses]) -> dict[str, Guesses]:
    """The guesses of each metric from its scores; those with the same scores share one value."""
    made = {id(score): about(score) for score in {id(score): score for score in scores.values()}.values()}
    return {metric: made[id(score)] for metric, score in scores.items()}


def _by_target(
    evidence: Evidence,
    game: Game,
    trial: Trial,
    records: Records | None,
    metrics: Sequence[str],
    known: Known | None = None,
) -> Iterator[tuple[Mapping[str, Combined], Ints]]:
    """Target by target: the scores by metric, and the records that are judged."""
    chosen = evidence.pick(trial.names)
    if isinstance(trial.attack, Combines):
        chosen, base = with_steadied(chosen, trial.base)
        trial = replace(trial, names=chosen.names, base=base)
    for group in together(trial.attack, game, len(trial.names)):
        yield from _scores(chosen, game, trial, group, records, metrics, known)
        release(chosen.value)


def rows_alone(evidence: Evidence, game: Game, trial: Trial, records: Records | None, rng: Rng) -> list[Row]:
    """`rows_of` a trial whose guesses nobody else needs: where possible they are judged as they come, and not kept."""
    if len(game.targets) == 1 or game.weight is not None or isinstance(trial.attack, Combines):
        return rows_of(trial, guess_by_metric(evidence, game, trial, records).score, game, rng)

    member = columns(game.member, game.targets)

    def targets() -> Iterator[OneTarget]:
        by_target = _by_target(evidence, game, trial, records, ("auc",))
        for mine, (scores, record) in zip(member, by_target, strict=True):
            score = scores["auc"].score
            if not np.isfinite(score).all():
                raise JaliError(NOT_FINITE)
            yield OneTarget(score, mine if len(record) == len(mine) else mine[record], record)

    found = measured(targets(), tuple(METRICS), len(game.member))
    facts = _counts(found.guesses, found.members, game)
    return [filled(trial.row(metric), *over_targets(metric, found), facts) for metric in METRICS]


def together(attack: Attack, game: Game, signals: int = 1) -> list[list[int]]:
    """Groups of consecutive targets for which a combination is learnt once, on the shadow models that all of them have.

    No target is a shadow of itself, so none of the group is among those. A group loses few shadow models. An attack
    that learns nothing, but scores several targets at once, has groups that fit in memory.
    """
    if not isinstance(attack, Combines):
        step = max(1, NUMBERS // max(1, len(game.member) * signals)) if isinstance(attack, ScoresTogether) else 1
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
    known: Known | None,
) -> list[tuple[Mapping[str, Combined], Ints]]:
    """By target of a group: the scores by metric, and the rows that are judged."""
    attack = trial.attack
    seen = [_seen(evidence, game, attack, t, records) for t in group]
    some = np.asarray(game.shadows[group].any(axis=0))
    shadows = _shadows(evidence, game, attack, some)
    sets = game.shadows[group][:, some]
    if isinstance(attack, Combines):
        learnt = _learnt(attack, trial, shadows, sets, metrics, known.learnt.get(group[0]) if known else None)
        if known is not None:
            known.learnt[group[0]] = learnt
        found = learnt.apply([target for target, _ in seen], shadows, sets)
    elif isinstance(attack, ScoresTogether):
        value = np.stack([columns(signal, game.targets[group]) for signal in evidence.value])
        each = _at_once(attack, trial.base, value, shadows, sets, known.baseline.get(group[0]) if known else None)
        if known is not None:
            known.baseline[group[0]] = [combined.baseline for combined in each]
        found = [dict.fromkeys(metrics, combined) for combined in each]
    else:
        found = [dict.fromkeys(metrics, _plain(trial, target, shadows)) for target, _ in seen]
    out: list[tuple[Mapping[str, Combined], Ints]] = []
    for scores, (_, judged) in zip(found, seen, strict=True):
        picked = {id(c): c if judged.all() else c.pick(judged) for c in scores.values()}
        out.append(({metric: picked[id(c)] for metric, c in scores.items()}, np.flatnonzero(judged)))
    return out


def _learnt(
    attack: Combines, trial: Trial, shadows: Shadows, sets: Bools, metrics: Sequence[str], known: Combination | None
) -> Combination:
    """What an attack learns on the models that all sets (T, K) have; the records for it are gone afterwards."""
    some = shadows.sample(np.asarray(sets.all(axis=0)), attack.learns_from, release)
    release(shadows.value)
    return attack.learn(some, trial.base or len(trial.names), metrics, known)


def _at_once(
    attack: ScoresTogether, base: int, value: Floats, shadows: Shadows, sets: Bools, known: Sequence[Floats] | None
) -> list[Combined]:
    """`_plain` of several targets with these values (S, T, N), each with its own set (T, K) of the shadow models.

    known: the baseline's scores (T, N), where these were computed before.
    """
    score = attack.scores(value, shadows, sets)
    some = slice(0, base)
    if known is None:
        known = list(attack.scores(value[some], shadows.pick(some), sets) if base else score)
    pairs = zip(score, known, strict=True)
    return [Combined(mine, without, mine, helps=base > 0) for mine, without in pairs]


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
    check_shadows(attack, evidence.member, game.shadows[t], judged, int(column))
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


def rows_of(trial: Trial, guesses: Mapping[str, Guesses], game: Game, rng: Rng, kind: Kind = "attack") -> list[Row]:
    """One row per metric, each with the guesses made for it."""
    made = {}
    for mine in {id(each): each for each in guesses.values()}.values():
        judged = Judged(mine, tuple(metric for metric, each in guesses.items() if each is mine))
        for metric, each in guesses.items():
            if each is mine:
                number, how = estimate(metric, judged, rng)
                made[metric] = filled(trial.row(metric, kind), number, how, _facts(mine, game))
    return [made[metric] for metric in guesses]


def unresolved(trial: Trial, reason: str, kind: Kind = "attack") -> list[Row]:
    """Rows without a value, where an attack could not be run on what was observed."""
    return [trial.row(metric, kind).model_copy(update={"reason": reason}) for metric in METRICS]


def contrast_rows(trial: Trial, found: ByMetric, game: Game, rng: Rng) -> list[Row]:
    """Paired differences to the baseline.

    Where the attack uses the explanation in no target, there is no difference and no interval; then it is made to use
    it, and the interval is that of the forced combination, with zero inside: an attacker may ignore what hurts.
    """
    out = []
    baseline = by_lot(found.baseline)
    pairs = _pairs(by_lot(found.score), baseline)
    forced_pairs = _pairs(by_lot(found.forced), baseline)
    for metric, with_ in found.score.items():
        number, how = difference(metric, pairs[metric], rng)
        if number.value is not None and not found.used[metric].any():
            forced, how = difference(metric, forced_pairs[metric], rng)
            number = _around_zero(forced)
            how = f"{how}, of the combination made to use the explanation"
        row = filled(trial.row(metric, "contrast"), number, how, _facts(with_, game))
        out.append(row.model_copy(update={"unchanged": int((~found.used[metric]).sum())}))
    return out


def _pairs(with_: Mapping[str, Guesses], without: Mapping[str, Guesses]) -> dict[str, Paired]:
    """The pair of each metric; metrics with the same two scores share one, which is sorted once for all of them."""
    asked: dict[tuple[int, int], list[str]] = {}
    for metric, mine in with_.items():
        asked.setdefault((id(mine), id(without[metric])), []).append(metric)
    out: dict[str, Paired] = {}
    for metrics in asked.values():
        pair = Paired(Judged(with_[metrics[0]]), Judged(without[metrics[0]]), tuple(metrics))
        out |= dict.fromkeys(metrics, pair)
    return out


def _around_zero(forced: Estimate) -> Estimate:
    """No difference, with the interval of the forced combination; where that lies above zero, the leak itself."""
    if forced.low is None or forced.high is None:
        return replace(forced, value=0.0)
    if forced.low > 0:
        return forced
    return replace(forced, value=0.0, low=min(forced.low, 0.0), high=max(forced.high, 0.0))


def paired_rows(trial: Trial, rows: Sequence[Row], found: ByMetric, game: Game, rng: Rng) -> list[Row]:
    """The metrics of both sides of a difference; those with the explanation are the rows of the trial itself.

    Where equal scores are drawn by lot, rates are those of the difference.
    """
    drawn = by_lot(found.score)
    same = {row.metric: row.model_copy(update={"kind": "paired"}) for row in rows}
    without = rows_of(trial.without_explanation(), by_lot(found.baseline), game, rng, "paired")
    other = {metric: mine for metric, mine in drawn.items() if mine is not found.score[metric]}
    same |= {row.metric: row for row in rows_of(trial, other, game, rng, "paired")}
    return list(same.values()) + without


def paired(a: Guesses, b: Guesses) -> tuple[Guesses, Guesses]:
    """The guesses about the same (target, record) pairs, in the same order."""
    width = int(max(a.record.max(initial=0), b.record.max(initial=0))) + 1
    ka, kb = a.unit * width + a.record, b.unit * width + b.record
    _, ia, ib = np.intersect1d(ka, kb, assume_unique=True, return_indices=True)
    return a.pick(ia), b.pick(ib)


def _facts(guesses: Guesses, game: Game) -> dict[str, float]:
    return _counts(len(guesses.score), int(np.count_nonzero(guesses.truth)), game)


def _counts(guesses: int, members: int, game: Game) -> dict[str, float]:
    return {
        "n": guesses // max(1, len(game.targets)),
        "base_rate": members / guesses if guesses else 0.0,
        "coverage": guesses / max(1, int(game.judged().sum())),
    }


def filled(row: Row, e: Estimate, how: str, facts: dict[str, float]) -> Row:
    """A row with its number and what it is based on."""
    fields = {"value": e.value, "low": e.low, "high": e.high, "units": e.units, "reason": e.reason}
    return row.model_copy(update={**fields, **facts, "interval": how})
