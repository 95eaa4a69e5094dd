"""The facts about a run itself, which every audit and every attack on evidence adds to its results."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from importlib.metadata import version

from jali import __version__
from jali.api.result import Audit
from jali.audit.all_models import controls
from jali.audit.outcome import Outcome
from jali.audit.setup import Setup
from jali.audit.threat_models import not_tested, threats
from jali.config import Config
from jali.core import registry


def finished(outcome: Outcome, config: Config, setup: Setup | None = None) -> Audit:
    """Add the facts about the run itself: threats, what was not tested, configuration and versions."""
    results, data = outcome.results, outcome.data
    results.jali = __version__
    results.date = datetime.now(UTC).date().isoformat()
    results.title = config.title()
    results.config = config.model_dump(exclude_defaults=False)
    runs = () if setup is None else setup.parts.runs
    named = () if setup is None else setup.parts.signal
    results.threats = threats(results, outcome.game, runs, registry.distinct([*named, *controls(named)]))
    results.not_tested = not_tested(results)
    if not config.explain and data is not None:
        results.warnings.append("No explainer was named: this audit covers the predictions only.")
    results.warnings += _read_in_part(outcome)
    names = ("numpy", "scipy", "scikit-learn")
    results.facts["versions"] = {"python": platform.python_version(), **{n: version(n) for n in names}}
    results.image = None if data is None else data.schema.image
    return Audit(results, outcome.evidence, outcome.game, config)


def _read_in_part(outcome: Outcome) -> list[str]:
    """A warning where the parts of explanations are fewer than the columns of the table: a leak may hide between."""
    if outcome.data is None:
        return []
    columns = len(outcome.data.schema.columns)
    parts: dict[str, set[int]] = {}
    for name in outcome.evidence.names:
        if name.part is not None:
            parts.setdefault(name.signal, set()).add(name.part)
    return [
        f"{signal} has {columns:,} columns and is read along {len(known)} random directions, so a leak in a few "
        f"columns may be missed. The signal {signal.partition('(')[0]}(most={columns}) reads all of them."
        for signal, known in parts.items()
        if len(known) < columns
    ]
