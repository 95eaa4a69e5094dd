"""One audit from its setup to its results: attacks on signals, query attacks, and the facts about the run."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jali import terminal
from jali.api.finishing import finished
from jali.api.result import Audit
from jali.audit import queries
from jali.audit.examples.answers import examples
from jali.audit.examples.pictures import pictures
from jali.audit.experiment import run
from jali.audit.large import LargeAudit, said_before
from jali.audit.outcome import Outcome
from jali.audit.reference import needed, provided
from jali.audit.setup import Experiment, Resources, Setup, load, no_progress
from jali.config import Config
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import unannounced
from jali.core.values import Dataset
from jali.results import Exposed, Results
from jali.text.sentences import value

UNREPEATABLE = "Attacks that read the records cannot be repeated from evidence.npz: call jali.audit again."


def armed(experiment: Experiment, attack: Sequence[Any], knowledge: Any) -> Setup:
    """The setup with its attacks on signals and its query attacks; without a list, the default ones that apply.

    A mistake in the names is reported before the data are loaded. Where an attack compares records with known
    non-members, the game sets some people aside.
    """
    attacks, on_oracles = queries.by_kind(attack)
    if attack:
        runs = queries.runs(on_oracles, experiment.explain, knowledge)
    else:
        runs = queries.usual(experiment.explain, knowledge)
    setup = load(replace(experiment, game=provided(experiment.game, attacks), attack=attacks, runs=runs))
    if not attack and not knowledge and not queries.identifiable(setup.data):
        return setup.with_parts(runs=())
    queries.check(runs, setup.data)
    return setup


def as_played(config: Config, named: Experiment, setup: Setup) -> Config:
    """The configuration with the game that is played, where people were set aside for an attack."""
    game = setup.parts.game
    return config if game == named.game else config.model_copy(update={"game": registry.spec(game)})


def stages(setup: Setup, named: bool) -> list[Setup]:
    """The setups whose models an audit trains: for attacks on signals first, then for query attacks, where it has both.

    named: the user named attacks. Only query attacks are run if no others were named or the game has no shadows.
    """
    parts = setup.parts
    attackable = setup.game.shadows.any() or setup.game.reference(0).any()
    if parts.runs and not parts.attack and (named or not attackable):
        return [queries.own_game(_shown(setup))]
    plain = setup.with_parts(runs=())
    return [plain, queries.own_game(_shown(setup.with_parts(explain=(), signal=())))] if parts.runs else [plain]


def run_setup(setup: Setup, resources: Resources, config: Config, show_values: bool, named: bool) -> Audit:
    """Run attacks on signals and query attacks, or only the latter: see `stages`."""
    if text := said_before(setup):
        warnings.warn(text, LargeAudit, stacklevel=3)
    if resources.watch is not no_progress:
        return _run(setup, resources, config, show_values, named)
    with terminal.in_notebook() as watch:
        return _run(setup, replace(resources, watch=watch or no_progress), config, show_values, named)


def _run(setup: Setup, resources: Resources, config: Config, show_values: bool, named: bool) -> Audit:
    resources.begin()
    parts = setup.parts
    first, *queried = stages(setup, named)
    if first.parts.runs:
        return _queried_alone(setup, first, resources, config, show_values)
    outcome = run(first, resources)
    if show_values:
        _reveal(first, resources, outcome)
    outcome.results.warnings += queries.untried(parts.explain, parts.runs, setup.data)
    if config.evidence and needed(parts.attack):
        outcome.results.warnings.append(UNREPEATABLE)
    for mine in queried:
        _add(outcome.results, _queried_in(mine, resources))
    return finished(outcome, config, setup)


def _queried_alone(setup: Setup, mine: Setup, resources: Resources, config: Config, show_values: bool) -> Audit:
    """An audit by query attacks alone; its configuration names the game that was played."""
    outcome = _queried_in(mine, resources)
    rows = outcome.results.find(kind="query attack")
    if all(row.value is None for row in rows):
        raise JaliError(rows[0].reason)
    if show_values:
        _reveal(mine, resources, outcome)
    if config.evidence:
        outcome.results.warnings.append("Query attacks cannot be repeated from evidence.npz: call jali.audit again.")
        return finished(outcome, config, setup)
    game = mine.parts.game
    played = config.game if isinstance(game, queries.Targets) else registry.spec(game)
    return finished(outcome, config.model_copy(update={"game": played}), setup)


def _shown(setup: Setup) -> Setup:
    """The setup without surrogates, which only attack runs query."""
    return setup.with_parts(explain=tuple(e for e in setup.parts.explain if e.gives != "surrogate"))


def _queried_in(setup: Setup, resources: Resources) -> Outcome:
    outcome = run(setup, resources, signals=False)
    game = setup.parts.game
    outcome.results.facts["game"] = registry.spec(game.game if isinstance(game, queries.Targets) else game)
    return outcome


def _add(results: Results, more: Outcome) -> None:
    """Add the results of query attacks; their game has its own sizes and checks."""
    results.rows += [row for row in more.results.rows if row.kind == "query attack" or row.beside]
    results.sanity += [c.model_copy(update={"name": f"{c.name}, query attacks"}) for c in more.results.sanity]
    results.timings["query attacks"] = sum(more.results.timings.values())
    kept = ("game", "members per target", "targets", "records scored per target")
    results.facts["query attacks"] = {name: more.results.facts[name] for name in kept if name in more.results.facts}


def _reveal(setup: Setup, resources: Resources, outcome: Outcome) -> None:
    """Put people's values into the results, for a reader who asked for them."""
    with unannounced():
        outcome.results.exposed = pictures(setup, resources, outcome) or values(outcome)
        outcome.results.examples = examples(setup, resources, outcome)


def values(outcome: Outcome) -> list[Exposed]:
    """The exposed records with their raw rows, for a reader who asked for them."""
    data = outcome.data
    if data is None:
        return outcome.results.exposed
    return [e.model_copy(update={"values": row_values(data, e.record)}) for e in outcome.results.exposed]


def row_values(data: Dataset, record: int) -> dict[str, str]:
    """One raw row as text, for a reader who asked for it."""
    return {c.name: value(c, float(x)) for c, x in zip(data.schema.columns, data.X[record], strict=True)}
