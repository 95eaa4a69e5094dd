"""A population that the user supplied may differ from the training people: how an audit finds out and corrects for it.

Even et al., 2602.02819, call this zero-run evaluation: members and non-members were not drawn by us, and what differs
between them besides membership looks like a leak.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jali.audit import sanity
from jali.audit.kept import kept
from jali.audit.one_model import STATISTICS, digest, stream
from jali.audit.propensity import Weighting, propensity, weighting
from jali.audit.setup import Resources, Setup
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guesses import Estimate
from jali.core.protocols import Existing
from jali.core.values import Bools, Dataset, Floats, Game, Ints, Rng, Schema
from jali.parallel import HERE, Engine, Ref, alone, send, sharing
from jali.results import Check
from jali.stats.delong import delong
from jali.store import Store

LEAST = 299  # people whom the weighted non-members must count for: with fewer, an FPR of 1 % cannot be resolved
MAY_DIFFER = (
    "The population may differ from the training people, and what differs between them may look like a leak: a "
    "population that was collected as the training rows were is better."
)
WHAT_TO_DO = "give a population that was collected as the training rows were, or more of it"


@dataclass(frozen=True)
class Compared:
    """The game with the weights of its records, if any, the blind check, and what a reader must know."""

    game: Game
    check: Check
    warnings: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)


def compared(setup: Setup, resources: Resources = Resources()) -> Compared:  # noqa: B008 (frozen)
    """Compare members with non-members blindly; where a model exists and they differ, weight the non-members.

    The blind check is kept in the store, so that an audit that is run again need not train its classifier again.

    Drawn membership needs no weights: there a difference is a mistake, and the audit is invalid. For the weights a
    difference counts earlier than for the check, which has half of the people and a level of 99.9 %: weights that were
    not needed widen intervals by a twentieth, and a difference that is passed over is taken for a leak.
    """
    exists = isinstance(setup.parts.model, Existing)
    engine = HERE if exists else resources.pool  # of a model that exists, the weights need the same library here
    found = kept(resources.store, lambda: _key(setup), Check, lambda: _blind_in(engine, setup, resources.place))
    if not exists:
        return Compared(setup.game, found)
    return alone(lambda check: _corrected(setup.data, setup.game, setup.parts.seed, check), found)


def of_existing(data: Dataset, game: Game, seed: int) -> Compared:
    """The same for a model of which only a dump exists: membership was not drawn."""
    return alone(lambda check: _corrected(data, game, seed, check), _blind(data, game, seed))


@dataclass(frozen=True)
class _Blind:
    """The blind check as a task: its data and game are shared."""

    shared: Ref
    schema: Schema
    seed: int

    def check(self) -> Check:
        """Run it."""
        arrays = self.shared.read()
        data = Dataset(arrays["X"], arrays["y"], self.schema, arrays.get("groups"))
        game = Game(arrays["member"], arrays["targets"], arrays["shadows"], arrays["scored"])
        return _blind(data, game, self.seed)


def _blind_in(engine: Engine, setup: Setup, place: Store | None) -> Check:
    """The blind check in a worker, where there are any: it takes a library that only they need."""
    data = setup.data
    game = setup.game
    arrays = {"X": data.X, "y": data.y, "member": game.member, "targets": game.targets}
    arrays |= {"shadows": game.shadows, "scored": game.scored}
    arrays |= {} if data.groups is None else {"groups": data.groups}
    with sharing(arrays, engine, place) as ref:
        return send(_Blind.check, _Blind(ref, data.schema, setup.parts.seed), engine)


def _blind(data: Dataset, game: Game, seed: int) -> Check:
    return alone(lambda rng: sanity.blind(data, game, rng), stream(seed, STATISTICS, 1))


def _key(setup: Setup) -> str:
    """The key of everything that the blind check reads."""
    data = setup.data
    game = setup.game
    read = digest(data.X, data.y, data.group_numbers(), game.member, game.targets, game.scored)
    return registry.key("blind", registry.source("jali.audit.sanity"), read, setup.parts.seed)


@dataclass(frozen=True)
class _People:
    """The scored records of the one target (G,), as the blind classifier reads them (G, P); category: which columns."""

    record: Ints
    rows: Floats
    category: Sequence[int]
    truth: Bools
    group: Ints


def _corrected(data: Dataset, game: Game, seed: int, found: Check) -> Compared:
    """The game with weights where they are needed and possible."""
    rng = stream(seed, STATISTICS, 6)
    record = np.flatnonzero(game.scored[:, 0])
    truth = game.member[record, game.targets[0]]
    rows, category = sanity.rows_read(data, rng)
    of = _People(record, rows[record], category, truth, data.group_numbers()[record])
    try:
        chances = propensity(of.rows, of.truth, of.group, rng, category=of.category)
    except JaliError as error:
        return Compared(game, found) if found.passed else _uncorrected(game, found, str(error))
    apart = delong(chances, of.truth, group=of.group)
    if found.passed and (apart.low is None or apart.low <= 0.5):
        return Compared(game, found)
    made = weighting(chances, of.truth, of.group)
    if made.effective < LEAST:
        few = f"the non-members who resemble the members count for {made.effective:,.0f} people, and {LEAST} are needed"
        return _uncorrected(game, found, few)
    left = balance(of.rows, of.truth, of.group, rng, of.category)
    if not _covers_half(left):
        return _uncorrected(game, found, f"with weights the same classifier still has AUC {_span(left)}")
    detail = f"{found.detail}; with weighted non-members AUC {_span(left)}"
    check = found.model_copy(update={"passed": True, "detail": detail})
    return Compared(_weighed(game, of, made), check, (_sentence(of, made, apart),), _facts(made))


def _uncorrected(game: Game, found: Check, why: str) -> Compared:
    """The game as it was: invalid if the blind check failed, and otherwise with a warning."""
    why = why.rstrip(".")
    if found.passed:
        return Compared(game, found, (f"{MAY_DIFFER} Weights cannot correct it: {why}.",))
    detail = f"{found.detail}; weights cannot correct it: {why}: {WHAT_TO_DO}"
    return Compared(game, found.model_copy(update={"detail": detail}))


def balance(rows: Floats, truth: Bools, group: Ints, rng: Rng, category: Sequence[int] = ()) -> Estimate:
    """The weighted AUC of the blind classifier on people whom it was not trained on: one half if weights balance.

    The classifier learns on half of the people; the other half gets weights of its own. Weights that were fitted on
    the classifier's own half would hide by chance what it found there by chance: the AUC is then below one half without
    any shift.
    The level is 95 %: weights are taken as given, so these intervals cover more often than they say.
    """
    learn = sanity.half_of(truth, group, rng)
    margin = sanity.margins(rows, truth, learn, rng, category)
    held = ~learn
    chances = propensity(rows[held], truth[held], group[held], rng, category=category)
    made = weighting(chances, truth[held], group[held])
    kept = made.kept
    return delong(margin[kept], truth[held][kept], 0.95, group[held][kept], made.weight[kept])


def _weighed(game: Game, of: _People, made: Weighting) -> Game:
    weight = np.zeros(game.scored.shape)
    weight[of.record, 0] = made.weight
    return replace(game, weight=weight)


def _facts(made: Weighting) -> dict[str, Any]:
    members, others = made.trimmed
    return {
        "non-members count for": f"{made.effective:,.0f} people",
        "left out, without counterpart": f"{members:,} members and {others:,} non-members",
    }


def _sentence(of: _People, made: Weighting, apart: Estimate) -> str:
    """What was done and what it means, in plain words."""
    members, others = made.trimmed
    whom = f"{members:,} members and {others:,} non-members"
    gone = f"{whom} have almost no counterpart on the other side and were left out: nothing is said about them. "
    return (
        "The population differs from the training people: from the records alone, without any model, a classifier "
        f"separates the two with AUC {apart.value:.2f}. In all numbers of attacks, non-members therefore count by how "
        f"much they resemble members: {int((~of.truth).sum()):,} rows count for {made.effective:,.0f} people. "
        + (gone if members or others else "")
        + "What differs in ways that the columns do not show may still look like a leak. A population that was "
        "collected as the training rows were needs no weights."
    )


def _covers_half(e: Estimate) -> bool:
    return e.low is not None and e.high is not None and e.low <= 0.5 <= e.high


def _span(e: Estimate) -> str:
    return f"{e.value:.3f} (95 % interval {e.low:.3f} to {e.high:.3f})"
