"""All attacks on signals: run every planned trial on the evidence; rows, differences, curves and exposed records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from jali.audit import sanity
from jali.audit.detection import Planted
from jali.audit.evidence import read_only
from jali.audit.kept import kept
from jali.audit.one_model import STATISTICS, digest, stream
from jali.audit.plan import Place, Plan, plan, with_gaps
from jali.audit.positive_control import control, no_finer_than, recover
from jali.audit.reference import arrays_of, needed, records_of, restored
from jali.audit.setup import Resources
from jali.audit.summary import exposed, groups
from jali.audit.thresholds import curve, group_rows
from jali.audit.trial_results import Drawer, Found
from jali.audit.trials import (
    ByMetric,
    Trial,
    contrast_rows,
    guess_by_metric,
    paired_rows,
    rows_alone,
    rows_of,
    unresolved,
)
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Guesses, Records
from jali.core.protocols import Attack
from jali.core.values import Dataset, Evidence, Game, Ints, Unit
from jali.parallel import Ref, alone, fan_out, sharing
from jali.results import Check, Curve, Exposed, PositiveControl, Row
from jali.store import Arrays, release

ALPHA = 0.01
Made = TypeVar("Made")
NOTHING = "One side of the difference could not be judged: too little was observed."


@dataclass(frozen=True)
class Attacked:
    """The results of the attacks on signals."""

    rows: list[Row] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    exposed: list[Exposed] = field(default_factory=list)
    controls: list[PositiveControl] = field(default_factory=list)


@dataclass(frozen=True)
class _Job:
    """One trial; evidence and game are shared by all jobs of a run.

    at: positions of the trial's signals there. drawer: where the result is left, if it is not to come back.
    """

    trial: Trial
    shared: Ref
    at: tuple[int, ...]
    units: tuple[Unit, ...]
    seed: int
    keep: bool
    drawer: Drawer | None = None

    def evidence(self) -> Evidence:
        """The signals of the trial."""
        arrays = self.shared.read()
        where: slice | list[int] = list(self.at)
        if self.at == tuple(range(self.at[0], self.at[-1] + 1)):
            where = slice(self.at[0], self.at[-1] + 1)  # as they are: evidence is large
        value = arrays["value"][where]
        observed = arrays["observed"][where]
        read_only(value, observed)
        return Evidence.of_checked(self.trial.names, value, observed, arrays["member"], self.units)

    def game(self) -> Game:
        """The game."""
        arrays = self.shared.read()
        more = arrays.get("asked"), arrays.get("aside"), arrays.get("weight")
        return Game(arrays["member"], arrays["targets"], arrays["shadows"], arrays["scored"], *more)

    def person(self) -> Ints | None:
        """Whose record each is (N,); None where every record is a person of its own."""
        return self.shared.read().get("person")

    def records(self) -> Records | None:
        """The records themselves, where some attack of the run reads them."""
        return restored(self.shared.read())


def _shared_arrays(evidence: Evidence, game: Game, person: Ints | None, records: Records | None) -> Arrays:
    """The arrays that all jobs of a run share."""
    arrays: Arrays = {"value": evidence.value, "observed": evidence.observed, "member": game.member}
    arrays |= {"targets": game.targets, "shadows": game.shadows, "scored": game.scored}
    optional = {"asked": game.asked, "aside": game.aside, "weight": game.weight, "person": person}
    return arrays | {name: array for name, array in optional.items() if array is not None} | arrays_of(records)


def _done(job: _Job) -> Found | None:
    """The result of one trial; None where it is left in the store."""
    if job.drawer is None:
        return _attacked(job)
    job.drawer.fill(lambda: _attacked(job))
    return None


def _fetched(job: _Job, found: Found | None) -> Found:
    """A result that a worker gave back, or left in the store; one that is damaged there is made again."""
    if found is None and job.drawer is not None:
        found = job.drawer.load()
    return alone(_attacked, job) if found is None else found


def _attacked(job: _Job) -> Found:
    """The rows of one trial, and its guesses where these are kept."""
    game = job.game()
    rng = stream(job.seed, STATISTICS, 2)
    try:
        if not job.keep and job.person() is None:
            return rows_alone(job.evidence(), game, job.trial, job.records(), rng), None
        found = guess_by_metric(job.evidence(), game, job.trial, job.records(), job.person())
    except JaliError as error:
        return unresolved(job.trial, str(error)), None
    return rows_of(job.trial, found.score, game, rng), found if job.keep else None


def attack_evidence(
    evidence: Evidence,
    game: Game,
    attacks: Sequence[Attack] = (),
    seed: int = 0,
    resources: Resources = Resources(),  # noqa: B008 (frozen)
    data: Dataset | None = None,
) -> Attacked:
    """Run every planned attack on the evidence.

    Where the data are given, the rows of one person count together, and subgroups are reported; without them the game
    may say whose rows these are.
    """
    resources = resources.for_parts(tuple(attacks))
    full = with_gaps(evidence, game)
    person = game.person if data is None or data.groups is None else data.group_numbers()
    todo = plan(full, game, attacks)
    # Combined attacks take longest, so they come first: then no worker is left with one at the end.
    trials = [*todo.combined.values(), *todo.availability, *todo.singles]
    records = None
    if data is not None and needed(trial.attack for trial in trials):
        records = records_of(data, stream(seed, STATISTICS, 5))
    shared = _shared_arrays(full, game, person, records)
    with sharing(shared, resources.pool, resources.place) as ref:
        drawer = _drawers(shared, full, seed, resources)
        release(full.value)
        jobs = []
        for k, trial in enumerate(trials):
            at = tuple(full.names.index(name) for name in trial.names)
            units = tuple(full.units[i] for i in at)
            keep = k < len(todo.combined) + len(todo.availability)
            jobs.append(_Job(trial, ref, at, units, seed, keep, drawer(trial)))
        results = fan_out(_done, jobs, resources.pool, resources.watch("attacking"))
        done = [_fetched(job, found) for job, found in zip(jobs, results, strict=True)]
        found = _read(todo, done, game, seed, data)
        del done  # guesses are many, and the controls need memory of their own
        beside = [job for job in jobs[: len(todo.combined)] if job.trial.base]
        same = next(job for job in jobs if job.trial == todo.combined[found.lead])
        controls, null = _controlled(beside, same, resources)
    controls = _no_finer(controls, found.contrasts)
    rows = found.rows + _detectable(found.contrasts, controls) + found.availability + found.by_group
    return Attacked(rows, found.curves, [null, found.oriented], found.tail, controls)


@dataclass(frozen=True)
class _Read:
    """What is read from the guesses of all trials; rows: of the trials themselves, singles first."""

    lead: Place
    rows: list[Row]
    contrasts: list[Row]
    availability: list[Row]
    by_group: list[Row]
    curves: list[Curve]
    tail: list[Exposed]
    oriented: Check


def _read(todo: Plan, done: list[Found], game: Game, seed: int, data: Dataset | None) -> _Read:
    """Read off the results of all trials, combined ones first, what needs their guesses."""
    first_single = len(todo.combined) + len(todo.availability)
    combined = done[: len(todo.combined)]
    kept = {place: found for place, (_, found) in zip(todo.combined, combined, strict=True) if found is not None}
    if not kept:
        raise JaliError(f"No combined attack could be run: {combined[-1][0][0].reason}")
    lead = leading(todo, kept)
    of_place = {place: made for place, (made, _) in zip(todo.combined, combined, strict=True)}
    first = kept[lead].score
    by_group = []
    if data is not None:
        rng = stream(seed, STATISTICS, 4)
        by_group = group_rows(todo.combined[lead], first[f"tpr@{ALPHA}"], groups(data), ALPHA, rng)
    return _Read(
        lead,
        [row for made, _ in done[first_single:] + combined for row in made],
        _contrasts(todo, of_place, kept, game, seed),
        _given(todo, done[len(todo.combined) : first_single], game, seed),
        by_group,
        _curves(todo, kept),
        _tail(todo.combined[lead], first),
        sanity.orientation(first["auc"]),
    )


def _tail(trial: Trial, scored: Mapping[str, Guesses]) -> list[Exposed]:
    """The records that the leading attack recognises most often, and which attack that is."""
    row = trial.row(f"tpr@{ALPHA}")
    about = {name: getattr(row, name) for name in ("attack", "explainer", "channel", "metric")}
    return [record.model_copy(update=about) for record in exposed(scored[row.metric], ALPHA)]


def _drawers(shared: Arrays, evidence: Evidence, seed: int, resources: Resources) -> Callable[[Trial], Drawer | None]:
    """Where the results of trials are kept: in the store, if there is one, so that a stopped run goes on from there."""
    store = resources.store
    if store is None:
        return lambda trial: None  # noqa: ARG005
    said = repr((list(shared), evidence.names, evidence.units))
    key = registry.key("trials", registry.source(__name__), digest(*shared.values()), said, seed)

    def drawer(trial: Trial) -> Drawer:
        about = (trial.names, trial.channel, trial.explainer, trial.against, trial.base)
        return Drawer(store, registry.key("trial", key, trial.attack, repr(about)))

    return drawer


def _controlled(beside: list[_Job], lead: _Job, resources: Resources) -> tuple[list[PositiveControl], Check]:
    """Would the attacks have found a leak, and do they find one where there is none?"""
    tasks: list[Callable[[], list[Planted] | str | Check]] = [partial(_null_target, lead)]
    tasks += [partial(_planted, job) for job in beside]
    done = list(fan_out(_run, tasks, resources.pool, resources.watch("positive and negative control")))
    null = next(found for found in done if isinstance(found, Check))
    return _controls(beside, [found for found in done if not isinstance(found, Check)]), null


def _run(task: Callable[[], list[Planted] | str | Check]) -> list[Planted] | str | Check:
    return task()


def _null_target(job: _Job) -> Check:
    def made() -> Check:
        return sanity.null_target(job.evidence(), job.game(), job.trial, job.records(), job.person())

    return _kept(job, "null target", Check, made)


def _planted(job: _Job) -> list[Planted] | str:
    """What one trial recovers of planted additions, or why that could not be tried."""

    def made() -> list[Planted] | str:
        rng = stream(job.seed, STATISTICS, 6)
        try:
            return recover(job.evidence(), job.game(), job.trial, rng, job.records(), job.person())
        except JaliError as error:
            return str(error)

    return _kept(job, "planted", list[Planted] | str, made)


def _kept(job: _Job, what: str, form: Any, make: Callable[[], Made]) -> Made:
    """What is made of a trial, kept beside its result."""
    drawer = job.drawer
    return make() if drawer is None else kept(drawer.store, lambda: registry.key(what, drawer.key), form, make)


def _controls(jobs: list[_Job], planted: list[list[Planted] | str]) -> list[PositiveControl]:
    """The positive control of each trial with a baseline."""
    out = []
    for job, found in zip(jobs, planted, strict=True):
        reason = found if isinstance(found, str) else ""
        made = control(job.trial, [] if isinstance(found, str) else found)
        out.append(made.model_copy(update={"reason": reason}))
    return out


def _no_finer(controls: list[PositiveControl], rows: list[Row]) -> list[PositiveControl]:
    """The controls, none of them finer than what was measured of the same explanation beside the same baseline."""
    measured = {(r.explainer, r.against): r for r in rows if r.kind == "contrast" and r.metric == "auc"}
    places = [(control.explainer, control.against) for control in controls]
    pairs = zip(places, controls, strict=True)
    return [no_finer_than(measured[at], control) if at in measured else control for at, control in pairs]


def _detectable(rows: list[Row], controls: list[PositiveControl]) -> list[Row]:
    """Paired differences in AUC with the addition that this audit would have found."""
    known = {(c.explainer, c.against): c.detectable for c in controls}
    out = []
    for row in rows:
        found = known.get((row.explainer, row.against)) if row.kind == "contrast" and row.metric == "auc" else None
        out.append(row if found is None else row.model_copy(update={"detectable": found}))
    return out


def _contrasts(
    todo: Plan, rows: dict[Place, list[Row]], kept: dict[Place, ByMetric], game: Game, seed: int
) -> list[Row]:
    """Paired differences and both of their sides; rows: those of the trials themselves."""
    out: list[Row] = []
    for place, trial in todo.combined.items():
        if trial.against is None:
            continue
        found = kept.get(place)
        if found is None:
            out += unresolved(trial, NOTHING, "contrast")
            continue
        out += contrast_rows(trial, found, game, stream(seed, STATISTICS, 3))
        # The stream of `_attacked`: where everybody is explained, these are the numbers of the attacks themselves.
        out += paired_rows(trial, rows[place], found, game, stream(seed, STATISTICS, 2))
    return out


def _given(todo: Plan, done: list[Found], game: Game, seed: int) -> list[Row]:
    """What it adds to each baseline whether an explanation is given, over everybody."""
    out: list[Row] = []
    for trial, (_, found) in zip(todo.availability, done, strict=True):
        if found is None:
            out += unresolved(trial, NOTHING, "availability")
            continue
        rows = contrast_rows(trial, found, game, stream(seed, STATISTICS, 3))
        out += [row.model_copy(update={"kind": "availability"}) for row in rows]
    return out


def leading(todo: Plan, kept: dict[Place, ByMetric]) -> Place:
    """The combined trial used for exposure: most guesses first, then most signals; never chosen by its success."""
    return max(kept, key=lambda place: (len(kept[place].score["auc"].score), len(todo.combined[place].names), place))


def _curves(todo: Plan, kept: dict[Place, ByMetric]) -> list[Curve]:
    """A curve per combined attack; the baseline of an explainer is restricted to the people it explains.

    Guesses about members only, or about others only, have none.
    """
    drawn = {place: found.score["auc"] for place, found in kept.items()}
    for place, found in kept.items():
        trial = todo.combined[place]
        whole = drawn.get(("", trial.against)) if trial.against else None
        if trial.against and whole is not None and len(found.baseline["auc"].score) < len(whole.score):
            drawn[trial.explainer, trial.against] = found.baseline["auc"]
    both = {place: found for place, found in drawn.items() if found.truth.any() and not found.truth.all()}
    return [curve(seen.label, explainer, found) for (explainer, seen), found in both.items()]
