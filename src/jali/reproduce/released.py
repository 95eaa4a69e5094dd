"""Evidence judged by conventions as released by a paper's authors, kept only to match published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jali.attacks.lira import LiRA
from jali.audit import evidence
from jali.audit.outcome import Outcome
from jali.audit.summary import sizes
from jali.audit.trials import Trial, guess
from jali.core.errors import JaliError
from jali.core.values import Channel, Floats
from jali.results import Results, Row
from jali.stats import released
from jali.stats.intervals import HOW_UNITS, over_units

PAPERS = {"huang2024": released.huang2024}
CAUTION = {
    "huang2024": "As released by huang2024: what is called tpr here is the share of non-members recognised, read off a "
    "resampled curve at another rate than its name states. It is shown only to match published numbers."
}


def attack(path: Path, paper: str) -> Outcome:
    """The attack as released by the authors on every signal of a file: one row per target, and their mean."""
    if paper not in PAPERS:
        raise JaliError(f"There are no released conventions for {paper!r}; there are {', '.join(PAPERS)}.")
    found, game, warnings = evidence.read(path, raw=True)
    rows: list[Row] = []
    for name in found.names:
        trial = Trial(LiRA(spread="common"), (name,), Channel.SCORE)
        guesses = guess(found, game, trial)
        parts = [guesses.pick(guesses.unit == u) for u in range(len(game.targets))]
        values = [PAPERS[paper](g.score, g.truth) for g in parts]
        for metric in values[0]:
            rows += _rows(trial, metric, np.array([v[metric] for v in values]), paper)
    results = Results(rows=rows, warnings=[*warnings, CAUTION[paper]], facts=sizes(game))
    return Outcome(results, found, game)


def _rows(trial: Trial, metric: str, values: Floats, paper: str) -> list[Row]:
    e = over_units(values)
    mean: dict[str, Any] = {"value": e.value, "low": e.low, "high": e.high, "units": e.units, "interval": HOW_UNITS}
    each: list[dict[str, Any]] = [{"value": float(v), "target": t, "units": 1} for t, v in enumerate(values)]
    about = {"channel": None, "convention": f"as released by {paper}"}
    return [trial.row(metric).model_copy(update=fields | about) for fields in [mean, *each]]
