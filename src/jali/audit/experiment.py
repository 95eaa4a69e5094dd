"""One experiment from setup to results: gather the evidence, attack it, and document both."""

from __future__ import annotations

import time
from dataclasses import fields, replace

import numpy as np

from jali.audit import attack_cache, sanity
from jali.audit.all_models import Gathered, gather
from jali.audit.attack_run_rows import changes, rows_of_run
from jali.audit.distribution_shift import Compared, compared
from jali.audit.guarantees import Guarantees, contradicted, guarantees, stated, voided
from jali.audit.guarantees import stamped as covered
from jali.audit.one_for_all import explains_each_model
from jali.audit.one_model import STATISTICS, digest, stream
from jali.audit.outcome import Outcome, stamped
from jali.audit.setup import Experiment, Resources, Setup
from jali.audit.shadow_copies import trains_each_model
from jali.audit.signal_attacks import Attacked, attack_evidence
from jali.audit.summary import known_people, left_out, measures, sensitive, sizes, twins
from jali.audit.training_fit import fits_otherwise
from jali.core import registry
from jali.core.contents import untold
from jali.core.protocols import Cautioned
from jali.models.given import Given
from jali.results import Check, Results, Row


def run(setup: Setup, resources: Resources = Resources(), signals: bool = True) -> Outcome:  # noqa: B008 (frozen)
    """Gather the evidence and attack it; without `signals`, only query attacks are run, which need no shadows."""
    began = time.perf_counter()
    against = compared(setup, resources)
    setup = replace(setup, game=against.game)
    asked = resources.store is not None
    resources = resources.for_parts(setup.parts)
    why = untold(setup.parts) if asked else ""
    found = gather(setup, resources)
    gathered = time.perf_counter()
    parts = setup.parts
    attacked = Attacked()
    resources = resources.for_parts(parts)  # again: a module may have been changed since
    if signals:
        given = (found.evidence, setup.game, parts.attack, parts.seed)
        attacked = attack_cache.attacked(
            resources.store,
            lambda: attack_cache.key(*given, setup.data),
            lambda: attack_evidence(*given, resources, setup.data),
        )
    results = _documented(setup, found, attacked, against)
    if why:
        results.warnings.append(f"Nothing of this run is stored, so that it begins anew next time: {why}.")
    elif asked and (later := untold(parts)):
        results.warnings.append(f"What was made since then is not stored: {later}.")
    results.timings = {
        "data and game": setup.seconds,
        "models and explanations": gathered - began,
        "attacks and statistics": time.perf_counter() - gathered,
    }
    people = None if setup.data.groups is None else setup.data.group_numbers()
    return Outcome(results, found.evidence, replace(setup.game, person=people), setup.data)


def _documented(setup: Setup, found: Gathered, attacked: Attacked, against: Compared) -> Results:
    """Rows, curves and checks of the attacks on signals, with guarantees, measures, attack runs and warnings."""
    given = guarantees(setup.parts.model, setup.parts.explain, setup.data)
    rows = covered(attacked.rows, given) + measured(setup, found)
    suite = [
        against.check,
        *sanity.rows_per_person(setup.data, setup.game),
        *attacked.checks,
        sanity.parity(found.parity),
        *explains_each_model(found.evidence, setup.game, _users(setup)),
        *(trains_each_model(found.evidence, setup.game) if isinstance(setup.parts.model, Given) else ()),
    ]
    return Results(
        rows=stamped(rows, _key(setup)),
        controls=attacked.controls,
        curves=attacked.curves,
        exposed=attacked.exposed,
        sanity=suite,
        warnings=[*against.warnings, *warnings(setup, given), *_fit(setup, found), *found.failures],
        contradicted=contradicted(attacked.rows, given),
        guarantees=stated(given),
        facts={**sizes(setup.game, setup.data), **_fingerprints(setup, found), **against.facts},
    )


def _fit(setup: Setup, found: Gathered) -> list[str]:
    """A warning where a model that exists fits its rows worse or better than its own kind does."""
    alike = isinstance(setup.parts.model, Given) and setup.parts.model.stand_in is None
    return fits_otherwise(found.evidence, setup.game) if alike else []


def _users(setup: Setup) -> list[str]:
    """The names of explainers of the user's own that are made anew for each model."""
    from jali.adapters.explainers.own import OwnExplainer  # evidence alone is attacked without any adapter

    return [part.name for part in setup.parts.explain if isinstance(part, OwnExplainer) and not part.bound]


def checks(setup: Setup) -> list[Check]:
    """Sanity checks of the data and the game, which do not depend on the attacks."""
    return [compared(setup).check, *sanity.rows_per_person(setup.data, setup.game)]


def measured(setup: Setup, found: Gathered) -> list[Row]:
    """The rows of measures of models and explanations, and those of each attack run."""
    person = setup.data.group_numbers()
    out = measures(found.evidence, setup.game, found.quality, sensitive(setup.data), person)
    for record in found.runs:
        out += rows_of_run(record, setup.game, lambda: stream(setup.parts.seed, STATISTICS, 2), person)
    return out + changes(found.runs, setup.game, person)


def _key(setup: Setup) -> str:
    parts = setup.parts
    chosen = (getattr(parts, f.name) for f in fields(Experiment) if f.name not in ("data", "seed"))
    flat = (part for item in chosen for part in (item if isinstance(item, tuple) else (item,)))
    return registry.key("experiment", digest(setup.data.X, setup.data.y), parts.seed, *flat)


def _fingerprints(setup: Setup, found: Gathered) -> dict[str, str]:
    """The first characters of two digests: of rows and labels, and of what the target models say about each record.

    They tell whether two audits are about the same table, and about the same models.
    """
    evidence = found.evidence
    said = [at for at, name in enumerate(evidence.names) if not name.explainer]
    predicted = np.where(evidence.observed[said], evidence.value[said], np.nan)[:, :, setup.game.targets]
    return {
        "data fingerprint": digest(setup.data.X, setup.data.y)[:12],
        "model fingerprint": digest(np.ascontiguousarray(predicted))[:12],
    }


def warnings(setup: Setup, given: Guarantees) -> list[str]:
    """Warnings that come before any number."""
    data = setup.data
    game = setup.game
    beside = [*twins(data, game), *known_people(data, game), *left_out(game)]
    return [*data.schema.notes, *cautions(setup.parts), *voided(given), *beside]


def cautions(experiment: Experiment) -> list[str]:
    """The warnings of parts that exist only for comparison, or that lack something they need."""
    chosen = (experiment.data, experiment.model, experiment.game, *experiment.explain, *experiment.attack)
    return [part.caution for part in chosen if isinstance(part, Cautioned) and part.caution]
