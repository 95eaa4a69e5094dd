"""Run every planned attack on the evidence, and turn the guesses into rows, curves and exposed records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from jali.audit import sanity
from jali.audit.plan import Place, Plan, plan, with_gaps
from jali.audit.scoring import Trial, contrast_rows, curve, group_rows, guess, paired, paired_rows, rows_of, unresolved
from jali.audit.setup import Machine
from jali.audit.summary import exposed, groups
from jali.audit.worker import JUDGE, stream
from jali.core.errors import JaliError
from jali.core.protocols import Attack
from jali.core.values import Dataset, Evidence, Game, Guesses, Ints
from jali.parallel import Ref, fan_out, sharing
from jali.results import Check, Curve, Exposed, Row
from jali.store import Arrays

ALPHA = 0.01
NOTHING = "One side of the difference could not be judged: too little was observed."


@dataclass(frozen=True)
class Judged:
    """The results of the attacks on signals."""

    rows: list[Row] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    exposed: list[Exposed] = field(default_factory=list)


@dataclass(frozen=True)
class _Job:
    """One trial; evidence and game are shared by all jobs of a run. at: positions of the trial's signals there."""

    trial: Trial
    shared: Ref
    at: tuple[int, ...]
    seed: int
    keep: bool

    def evidence(self) -> Evidence:
        """The signals of the trial."""
        arrays = self.shared.read()
        where = list(self.at)
        return Evidence(self.trial.names, arrays["value"][where], arrays["observed"][where], arrays["member"])

    def game(self) -> Game:
        """The game."""
        arrays = self.shared.read()
        return Game(arrays["member"], arrays["targets"], arrays["shadows"], arrays["scored"], arrays.get("asked"))

    def person(self) -> Ints:
        """Whose record each is (N,)."""
        return self.shared.read()["person"]


def _shared_arrays(evidence: Evidence, game: Game, person: Ints) -> Arrays:
    """The arrays that all jobs of a run share."""
    arrays: Arrays = {"value": evidence.value, "observed": evidence.observed, "member": game.member}
    arrays |= {"targets": game.targets, "shadows": game.shadows, "scored": game.scored, "person": person}
    return arrays if game.asked is None else arrays | {"asked": game.asked}


def _attacked(job: _Job) -> tuple[list[Row], Guesses | None]:
    """The rows of one trial, and its guesses where these are kept."""
    game = job.game()
    try:
        found = guess(job.evidence(), game, job.trial, job.person())
    except JaliError as error:
        return unresolved(job.trial, str(error)), None
    return rows_of(job.trial, found, game, stream(job.seed, JUDGE, 2)), found if job.keep else None


def judge(
    evidence: Evidence,
    game: Game,
    attacks: Sequence[Attack] = (),
    seed: int = 0,
    machine: Machine = Machine(),  # noqa: B008 (frozen)
    data: Dataset | None = None,
) -> Judged:
    """Run every planned attack on the evidence.

    Where the data are given, the rows of one person count together, and subgroups are reported.
    """
    full = with_gaps(evidence, game)
    person = np.arange(len(game.member)) if data is None else data.group_numbers()
    todo = plan(full, game, attacks)
    trials = [*todo.singles, *todo.combined.values()]
    with sharing(_shared_arrays(full, game, person), machine.workers) as ref:
        jobs = []
        for k, trial in enumerate(trials):
            at = tuple(full.names.index(name) for name in trial.names)
            jobs.append(_Job(trial, ref, at, seed, keep=k >= len(todo.singles)))
        done = list(fan_out(_attacked, jobs, machine.workers, machine.watch("attacking")))
    combined = zip(todo.combined, done[len(todo.singles) :], strict=True)
    kept = {place: guesses for place, (_, guesses) in combined if guesses is not None}
    if not kept:
        raise JaliError(f"No combined attack could be run: {done[-1][0][0].reason}")
    rows = [row for made, _ in done for row in made] + _contrasts(todo, kept, game, seed)
    lead = leading(todo, kept)
    if data is not None:
        rows += group_rows(todo.combined[lead], kept[lead], groups(data), ALPHA, stream(seed, JUDGE, 4))
    checks = [sanity.null_target(full, game, todo.combined[lead], person), sanity.orientation(kept[lead])]
    return Judged(rows, _curves(todo, kept), checks, exposed(kept[lead], ALPHA))


def _contrasts(todo: Plan, kept: dict[Place, Guesses], game: Game, seed: int) -> list[Row]:
    """Paired differences and both of their sides."""
    out: list[Row] = []
    for with_, without in todo.contrasts():
        more, less = _guesses(todo, kept, with_), _guesses(todo, kept, without)
        if more is None or less is None:
            out += unresolved(with_, NOTHING, "contrast")
            continue
        out += contrast_rows(with_, more, less, game, stream(seed, JUDGE, 3))
        # The stream of `_attacked`: where everybody is explained, these are the numbers of the attacks themselves.
        out += paired_rows((with_, without), (more, less), game, lambda: stream(seed, JUDGE, 2))
    return out


def _guesses(todo: Plan, kept: dict[Place, Guesses], trial: Trial) -> Guesses | None:
    """The guesses of a combined trial, if it could be run."""
    place = next(place for place, mine in todo.combined.items() if mine is trial)
    return kept.get(place)


def leading(todo: Plan, kept: dict[Place, Guesses]) -> Place:
    """The combined trial used for exposure: most guesses first, then most signals; never chosen by its success."""
    return max(kept, key=lambda place: (len(kept[place].score), len(todo.combined[place].names), place))


def _curves(todo: Plan, kept: dict[Place, Guesses]) -> list[Curve]:
    """A curve per combined attack; the baseline of an explainer is restricted to the people it explains."""
    drawn = dict(kept)
    for with_, without in todo.contrasts():
        explained, everybody = _guesses(todo, kept, with_), _guesses(todo, kept, without)
        if explained is None or everybody is None or with_.against is None:
            continue
        same = paired(explained, everybody)[1]
        if 0 < len(same.score) < len(everybody.score):
            drawn[with_.explainer, with_.against] = same
    return [curve(seen.replace("+", " + "), explainer, found) for (explainer, seen), found in drawn.items()]
