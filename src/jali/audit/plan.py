"""Which attacks are run on which signals, fixed before any result is seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jali.audit.evidence import read_only
from jali.audit.gaps import Filled, copies
from jali.audit.reference import REFERENCE
from jali.audit.requirements import feasible
from jali.audit.trials import Trial
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.protocols import Attack
from jali.core.values import Bools, Channel, Evidence, Game, SignalName, Unit

SCORE = ("confidence", "loss", "entropy", "confidence_perturbation", "squared_error")
WITH_SCORES = ("attribution_perturbation", "attribution_removal")  # signals of an explanation and of scores together
DECISION = ("correctness",)
SINGLES = ("threshold", "calibrated", "ratio", "offline_lrt", "lira", 'lira(spread="shrunken")')
COMBINED = ("joint", "offline_joint", "quantile_joint")
FOLLOWS = 0.001  # of the cells at most are answered unlike most with the same record and decision, if that follows
ANSWERED = "answered"  # signal: whether the explainer gave an explanation
UNNAMED = "explanation"  # explainer of signals that name none and are not signals of the prediction
Place = tuple[str, Channel]  # an explainer, by specification, and the channel


@dataclass(frozen=True)
class Plan:
    """Trials on one signal, and the combined trials by place; those with a baseline give paired differences.

    availability: combined trials on a baseline and on whether an explanation is given, over everybody.
    """

    singles: tuple[Trial, ...]
    combined: dict[Place, Trial]
    availability: tuple[Trial, ...] = ()


def with_gaps(evidence: Evidence, game: Game) -> Evidence:
    """Evidence with one more signal per explainer and pattern of gaps: whether it answered, where it was queried.

    The decision usually determines who gets an explanation, and then what this pattern leaks is a leak of the decision.
    Where it does not, what the pattern adds to the decision is measured (`Plan.availability`). An explainer with
    several patterns also has copies of its signals without gaps (`gaps.copies`).
    """
    queried = game.cells()
    extra: dict[SignalName, Bools] = {}
    for explainer, names in explainers(evidence).items():
        for name in names:
            observed = evidence.observed[evidence.names.index(name)]
            mine = {known: gaps for known, gaps in extra.items() if known.explainer == explainer}
            if (observed >= queried).all() or any(np.array_equal(gaps, observed) for gaps in mine.values()):
                continue
            signal = f"{ANSWERED} {name.signal}" if mine else ANSWERED
            extra[SignalName(signal, explainer)] = observed
    if not extra:
        return evidence
    whole = copies(evidence, explainers(evidence).values())
    more = [*(gaps.astype(np.float64) for gaps in extra.values()), *(copy.value for copy in whole.values())]
    cells = [*(queried for _ in extra), *(copy.observed for copy in whole.values())]
    value = np.concatenate([evidence.value, np.stack(more)])
    observed = np.concatenate([evidence.observed, np.stack(cells)])
    units = (*evidence.units, *(Unit.YES_NO for _ in extra), *(Unit.PLAIN for _ in whole))
    read_only(value, observed)
    return Evidence.of_checked((*evidence.names, *extra, *whole), value, observed, evidence.member, units)


def explainers(evidence: Evidence) -> dict[str, tuple[SignalName, ...]]:
    """Names of signals by explainer; `explanation` for those that name none and are not of the prediction."""
    out: dict[str, list[SignalName]] = {}
    for name in evidence.names:
        if not _is_own(name) and (name.explainer or _kind(name) not in SCORE + DECISION):
            out.setdefault(name.explainer or UNNAMED, []).append(name)
    return {explainer: tuple(names) for explainer, names in out.items()}


def _kind(name: SignalName) -> str:
    """The name of a signal without its settings."""
    return name.signal.partition("(")[0]


def _is_gap(name: SignalName) -> bool:
    """Whether a signal is the pattern of who was answered."""
    return name.signal.partition(" ")[0] == ANSWERED


def _is_own(name: SignalName) -> bool:
    """Whether `with_gaps` made a signal."""
    return _is_gap(name) or isinstance(name, Filled)


def usual(game: Game, more: tuple[str, ...] = ()) -> tuple[Attack, ...]:
    """The built-in attacks on one signal whose shadows the game provides; without any, also the one that needs none."""
    texts = (*SINGLES, *more) if game.shadows.any() else (*SINGLES, *more, "quantile")
    return tuple(a for text in texts if feasible(a := registry.build("attack", text), game))


def plan(evidence: Evidence, game: Game, attacks: Sequence[Attack] = ()) -> Plan:
    """All trials; without a list of attacks, every built-in one whose shadows the game provides."""
    for attack in attacks:
        if not feasible(attack, game):
            raise JaliError(_infeasible(attack))
    chosen = tuple(attacks) or usual(game)
    several = [a for a in attacks if a.many]
    if len(several) > 1:
        raise JaliError(f"Name at most one attack on several signals, not {' and '.join(map(registry.spec, several))}.")
    combined = several[0] if several else _combined(game)
    singles = [a for a in chosen if not a.many]
    # Parts of a vector mean little one by one, and a signal alone needs no cells of others.
    whole = [name for name in evidence.names if name.part is None and not isinstance(name, Filled)]
    trials = [Trial(a, (n,), _channel(n), _explainer(n)) for n in whole for a in singles]
    places = {place: _without_gaps(trial, evidence) for place, trial in _places(evidence, combined).items()}
    return Plan(tuple(trials), places, tuple(_availability(evidence, places)))


def _infeasible(attack: Attack) -> str:
    """Why an attack cannot be run in a game, and what to do."""
    name = registry.name_of(attack)
    if REFERENCE in attack.requires:
        return (
            f"{name} compares records with people who are known not to be in the training set, and this game scores or "
            "trains on everybody it asks about: set people aside, such as --game 'rotate(reference=0.3)'."
        )
    kinds = " and ".join({"in": "with", "out": "without"}[k] for k in sorted(attack.requires))
    return (
        f"{name} needs shadow models trained {kinds} the records it judges, and this game has none: choose an attack "
        "that does without, or another game."
    )


def _combined(game: Game) -> Attack:
    """The first built-in attack on several signals whose shadows, or reference, the game provides."""
    known: list[Attack] = [registry.build("attack", name) for name in COMBINED]
    return next((attack for attack in known if feasible(attack, game)), known[1])


def _channel(name: SignalName) -> Channel:
    if name.signal in DECISION or _is_gap(name):
        return Channel.DECISION
    if _kind(name) in SCORE:
        return Channel.SCORE
    return Channel.SCORE_AND_EXPLANATION if _kind(name) in WITH_SCORES else Channel.EXPLANATION


def _explainer(name: SignalName) -> str:
    if name.explainer or _kind(name) in SCORE + DECISION or _is_gap(name):
        return name.explainer
    return UNNAMED


def _places(evidence: Evidence, combined: Attack) -> dict[Place, Trial]:
    """Combined trials: each base alone, each explanation alone, and each base with each explanation."""
    found = [name for name in evidence.names if not name.explainer and _kind(name) in SCORE]
    score = tuple(sorted(found, key=lambda name: SCORE.index(_kind(name))))
    decision = tuple(SignalName(n) for n in DECISION if SignalName(n) in evidence.names)
    out: dict[Place, Trial] = {}
    if score:
        out["", Channel.SCORE] = Trial(combined, score, Channel.SCORE)
    if decision:
        out["", Channel.DECISION] = Trial(combined, decision, Channel.DECISION)
    for explainer, every in explainers(evidence).items():
        names = tuple(name for name in every if _kind(name) not in WITH_SCORES)
        if names:
            out[explainer, Channel.EXPLANATION] = Trial(combined, names, Channel.EXPLANATION, explainer)
        gaps = SignalName(ANSWERED, explainer)
        if not decision and gaps in evidence.names:
            out[explainer, Channel.DECISION] = Trial(combined, (gaps,), Channel.DECISION, explainer)
        for base in (Channel.SCORE, Channel.DECISION):
            alone = out.get((explainer, base)) or out.get(("", base))
            shown = every if base is Channel.SCORE else names
            if alone and shown:
                both = (*alone.names, *shown)
                channel = base.with_explanation
                out[explainer, channel] = Trial(combined, both, channel, explainer, base, len(alone.names))
    return out


def _without_gaps(trial: Trial, evidence: Evidence) -> Trial:
    """A trial with copies without gaps in the place of signals that have some."""
    names = tuple(copy if (copy := Filled.of(name)) in evidence.names else name for name in trial.names)
    return replace(trial, names=names)


def _availability(evidence: Evidence, places: dict[Place, Trial]) -> Iterator[Trial]:
    """Beside each baseline whether an explanation is given, for explainers of which the decision does not say that."""
    for explainer in explainers(evidence):
        gaps = tuple(name for name in evidence.names if _is_gap(name) and name.explainer == explainer)
        if not gaps or _follows_decision(evidence, gaps):
            continue
        for base in (Channel.SCORE, Channel.DECISION):
            alone = places.get(("", base))
            if alone:
                names = (*alone.names, *gaps)
                yield Trial(alone.attack, names, base, explainer, base, len(alone.names))


def _follows_decision(evidence: Evidence, gaps: tuple[SignalName, ...]) -> bool:
    """Whether models that decide alike about a record nearly always answer alike about it.

    Of two classes the decision about a record is known from whether it is right.
    """
    names = [SignalName(name) for name in DECISION if SignalName(name) in evidence.names]
    if not names:
        return False
    right = evidence.value[evidence.names.index(names[0])] > 0.5
    for gap in gaps:
        at = evidence.names.index(gap)
        given = evidence.value[at] > 0.5
        seen = evidence.observed[at] & evidence.observed[evidence.names.index(names[0])]
        unlike = 0
        for side in (right, ~right):
            cells = (seen & side).sum(axis=1)
            answered = (seen & side & given).sum(axis=1)
            unlike += int(np.minimum(answered, cells - answered).sum())
        if unlike > FOLLOWS * seen.sum():
            return False
    return True
