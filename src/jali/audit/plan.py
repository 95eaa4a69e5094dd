"""Which attacks are run on which signals, fixed before anything is looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jali.audit.scoring import Trial, feasible
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.protocols import Attack
from jali.core.values import Bools, Evidence, Game

SCORE, DECISION = ("confidence", "loss", "entropy"), ("correctness",)
SINGLES = ("threshold", "calibrated", "ratio", "offline_lrt", "lira", 'lira(spread="shrunken")')
ANSWERED = "answered"


@dataclass(frozen=True)
class Plan:
    """Trials on one signal, and joint trials by (explainer, channel) from which differences are taken."""

    singles: tuple[Trial, ...]
    joints: dict[tuple[str, str], Trial]

    def contrasts(self) -> list[tuple[Trial, Trial, str]]:
        """(with, without, against): prediction and explanation together, against the prediction alone."""
        out = []
        for (explainer, channel), trial in self.joints.items():
            base = channel.partition("+explanation")[0]
            if channel != base:
                without = self.joints.get((explainer, base)) or self.joints[("", base)]
                out.append((trial, without, base))
        return out


def with_gaps(evidence: Evidence, game: Game) -> Evidence:
    """Evidence with one more signal per explainer and pattern of gaps: whether it answered, where it was asked.

    Who gets an answer is the decision's doing, so what this pattern leaks is booked under the decision.
    """
    extra: dict[str, Bools] = {}
    asked = game.cells()
    for explainer, names in explainers(evidence).items():
        masks = {n: evidence.observed[evidence.names.index(n)] for n in names}
        partial = {n: there for n, there in masks.items() if not there[asked].all()}
        for name, there in partial.items():
            same = [k for k, known in extra.items() if k.startswith(f"{explainer}/") and np.array_equal(known, there)]
            if not same:
                signal = name.rpartition("/")[2]
                label = ANSWERED if not any(k.startswith(f"{explainer}/") for k in extra) else f"{ANSWERED} {signal}"
                extra[f"{explainer}/{label}"] = there
    if not extra:
        return evidence
    value = np.concatenate([evidence.value, np.stack([v.astype(np.float64) for v in extra.values()])])
    observed = np.concatenate([evidence.observed, np.repeat(asked[None], len(extra), axis=0)])
    return Evidence((*evidence.names, *extra), value, observed, evidence.member)


def explainers(evidence: Evidence) -> dict[str, tuple[str, ...]]:
    """Signal names by explainer; a bare name that is not a prediction's belongs to `explanation`."""
    out: dict[str, list[str]] = {}
    for name in evidence.names:
        prefix, _, signal = name.rpartition("/")
        if not signal.startswith(ANSWERED) and (prefix or signal not in SCORE + DECISION):
            out.setdefault(prefix or "explanation", []).append(name)
    return {k: tuple(v) for k, v in out.items()}


def usual(game: Game, more: tuple[str, ...] = ()) -> tuple[Attack, ...]:
    """The built-in attacks on one signal whose shadows the game provides."""
    return tuple(a for text in (*SINGLES, *more) if feasible(a := registry.build("attack", text), game))


def plan(evidence: Evidence, game: Game, attacks: Sequence[Attack] = ()) -> Plan:
    """All trials; without a list of attacks, every built-in one whose shadows the game provides."""
    for attack in attacks:
        if not feasible(attack, game):
            kinds = " and ".join({"in": "with", "out": "without"}[k] for k in sorted(attack.requires))
            raise JaliError(
                f"{registry.name_of(attack)} needs shadow models trained {kinds} the records it judges, and this game "
                "has none: choose an attack that does without, or another game."
            )
    chosen = tuple(attacks) or usual(game)
    several = [a for a in attacks if a.many]
    if len(several) > 1:
        raise JaliError(f"Name at most one attack on several signals, not {' and '.join(map(registry.spec, several))}.")
    name = "joint" if feasible(registry.build("attack", "joint"), game) else "offline_joint"
    joint = several[0] if several else registry.build("attack", name)
    singles = [a for a in chosen if not a.many]
    trials = [Trial(a, (n,), _channel(n), _explainer(n, evidence)) for n in evidence.names for a in singles]
    return Plan(tuple(trials), _joints(evidence, joint))


def _channel(name: str) -> str:
    signal = name.rpartition("/")[2]
    return (
        "decision"
        if signal in DECISION or signal.startswith(ANSWERED)
        else "score"
        if signal in SCORE
        else "explanation"
    )


def _explainer(name: str, evidence: Evidence) -> str:
    if name.rpartition("/")[2].startswith(ANSWERED):
        return name.rpartition("/")[0]
    return next((e for e, names in explainers(evidence).items() if name in names), "")


def _joints(evidence: Evidence, joint: Attack) -> dict[tuple[str, str], Trial]:
    """Joint trials: each base alone, each explanation alone, and each base with each explanation."""
    score = tuple(n for n in SCORE if n in evidence.names)
    out: dict[tuple[str, str], Trial] = {}
    if score:
        out["", "score"] = Trial(joint, score, "score")
    if DECISION[0] in evidence.names:
        out["", "decision"] = Trial(joint, DECISION, "decision")
    for explainer, names in explainers(evidence).items():
        out[explainer, "explanation"] = Trial(joint, names, "explanation", explainer)
        gaps = f"{explainer}/{ANSWERED}"
        if DECISION[0] not in evidence.names and gaps in evidence.names:
            out[explainer, "decision"] = Trial(joint, (gaps,), "decision", explainer)
        for base in ("score", "decision"):
            alone = out.get((explainer, base)) or out.get(("", base))
            if alone:
                channel = f"{base}+explanation"
                out[explainer, channel] = Trial(joint, (*alone.names, *names), channel, explainer, base)
    return out
