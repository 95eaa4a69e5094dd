"""What an audit will take and what it could see, before its models are trained.

Time comes from a probe: one model on a quarter and on half of a training set, and explanations of a few records. What
could be seen comes from made-up signals in the audit's own game.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from jali.audit.all_models import readouts
from jali.audit.detection import POWER
from jali.audit.one_model import FORECAST, answered, preparations, stream
from jali.audit.one_tile import look
from jali.audit.plan import plan, with_gaps
from jali.audit.positive_control import control, recover
from jali.audit.setup import Setup
from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.protocols import Existing
from jali.core.values import Bools, Evidence, Game, Ints, Rng, SignalName
from jali.stats.intervals import estimate

PROBED = 256  # records that are explained in the probe
RECORDS = 1_500  # records of the made-up signals, at most
FEW = 1_000  # records of made-up audits, at most; an interval narrows with their root
DRAWS = 500  # made-up audits from which the smallest leak is taken: with 200 it varied by a tenth
BASELINE = 0.6  # AUC of the made-up baseline
LONGEST = 3.0  # exponent by which the time to train may grow with the number of rows
PER_CELL = 1.2e-7  # seconds that the combined attack takes per signal, record and shadow model, here measured once
COPIES = 6  # arrays of the size of its features that the combined attack holds
PROCESS = 3e8  # bytes of a process that has loaded the libraries and nothing else
COLUMNS = 30  # signals of the made-up explanation, at most


@dataclass(frozen=True)
class Forecast:
    """What an audit will take, and the smallest leak and addition in AUC that 8 of 10 audits like it would find.

    leak: above one half, for one attack. addition: to a baseline with an AUC of 0.6, of the explainer that answers
    least; None where none would be found. reason: why there is no addition. people, records: judged per target.
    """

    seconds: float
    memory: float
    models: int
    targets: int
    people: int
    leak: float
    addition: float | None
    reason: str = ""
    records: int = 0


def forecast(setup: Setup, workers: int = 1) -> Forecast:
    """The forecast for an audit that is set up but not run."""
    game = setup.game
    rng = stream(setup.parts.seed, FORECAST)
    probe = _probe(setup, rng)
    cells = int(game.cells().sum())
    records, models = game.member.shape
    signals = probe.signals
    person = setup.data.group_numbers()
    attacking = PER_CELL * sum(signals) * records * models * len(game.targets) * 3
    addition, reason = (
        _addition(game, probe, person, rng) if setup.parts.explain else (None, "no explanation is audited")
    )
    return Forecast(
        seconds=(models * probe.training + cells * probe.per_cell + attacking) / workers,
        memory=(1 + workers) * PROCESS + memory(records, models, signals, workers),
        models=models,
        targets=len(game.targets),
        people=_people(game, person),
        leak=_leak(game, person, rng),
        addition=addition,
        reason=reason,
        records=int(game.scored.sum() / len(game.targets)),
    )


def memory(records: int, models: int, signals: Sequence[int], workers: int = 1) -> float:
    """Bytes that the evidence takes, and the features of the combined attack in each worker."""
    evidence = 9.0 * sum(signals) * records * models
    return evidence + workers * COPIES * 8.0 * 3 * max(signals) * records * models


@dataclass(frozen=True)
class Probe:
    """What one small model showed: seconds per model and queried cell; by readout its signals and share answered."""

    training: float
    per_cell: float
    signals: list[int]
    answered: list[float]


def _probe(setup: Setup, rng: Rng) -> Probe:
    """Train on a quarter and on half of a training set, and read a few records; the prediction is the first readout."""
    data = setup.data
    trainer = setup.parts.model
    trainer = trainer.unfitted() if isinstance(trainer, Existing) else trainer
    member = setup.game.member[:, int(setup.game.targets[0])]
    took = []
    for share in (0.25, 0.5):
        some = member & (rng.random(len(member)) < share)
        began = time.perf_counter()
        model = trainer.fit(data, some[:, None], [rng])[0]
        took.append(time.perf_counter() - began)
    growth = min(max(math.log2(max(took[1], 1e-6) / max(took[0], 1e-6)), 0.0), LONGEST)
    chosen = readouts(setup.parts, setup.data.outcome is not None)
    rows = np.sort(rng.permutation(len(data))[:PROBED])
    prepared = preparations(model, data, some, setup.parts.seed, 0)
    shares = []
    began = time.perf_counter()
    for readout in chosen:
        seen = look(prepared, data, readout.explainer, rows, rng)
        shares.append(float(answered(seen, readout.explainer, len(rows)).mean()))
        for signal in readout.signals:
            signal(seen.only(signal.needs))
    per_cell = (time.perf_counter() - began) / len(rows)
    return Probe(took[1] * 2**growth, per_cell, [len(r.names(data.schema)) for r in chosen], shares)


def _people(game: Game, person: Ints) -> int:
    """How many people (N,) are judged per target."""
    return round(np.mean([len(np.unique(person[scored])) for scored in game.scored.T]))


def _leak(game: Game, person: Ints, rng: Rng) -> float:
    """The smallest AUC above one half that 8 of 10 audits would tell from chance, from made-up audits without a leak.

    A leak of x moves the interval of an audit up by x: it is found where x exceeds half the width less the chance
    deviation from one half, so the limit is the 80 % quantile of that. Half of the variance of a score is that of the
    person (N,), whose rows share it.
    """
    rows = _whole_people(person, rng)
    small = _picked(game, rows)
    unit, record = np.nonzero(small.scored.T)
    truth = small.member[record, small.targets[unit]]
    _, owner = np.unique(person[rows], return_inverse=True)
    shared, own = owner.max() + 1 < len(rows), owner[record]
    needed = []
    for _ in range(DRAWS):
        score = rng.normal(size=len(unit))
        if shared:
            score += rng.normal(size=(len(game.targets), len(rows)))[unit, own]
        found = estimate("auc", Guesses(score, truth, unit, record, own), rng)[0]
        if found.low is None:
            return math.nan
        needed.append(0.5 - found.low)
    return float(np.quantile(needed, POWER)) * math.sqrt(len(small.member) / len(game.member))


def _whole_people(person: Ints, rng: Rng) -> Ints:
    """About FEW records (N,) at most, of people drawn at random, each with all records."""
    _, owner = np.unique(person, return_inverse=True)
    order = rng.permutation(int(owner.max()) + 1)
    fit = np.cumsum(np.bincount(owner)[order]) <= FEW
    fit[0] = True
    return np.flatnonzero(np.isin(owner, order[fit]))


def _addition(game: Game, probe: Probe, person: Ints, rng: Rng) -> tuple[float | None, str]:
    """The smallest addition that would be found, from made-up signals of a score and an explanation in this game.

    The explanation has as many signals as that of the explainer which answers least, and answers as many people. The
    made-up signals of a person's m rows are independent; those of real ones share half of their variance, so that the
    variance of a mean is 1 + (m - 1) / 2 times as large (the design effect of Kish 1965).
    """
    rows = _some(game, rng)
    small = _picked(game, rows)
    share, columns = min(zip(probe.answered[1:], probe.signals[1:], strict=True), key=lambda x: (x[0], -x[1]))
    columns = min(max(columns, 1), COLUMNS)
    noise = rng.normal(size=(1 + columns, *small.member.shape)) + rng.normal(size=(1 + columns, len(rows), 1))
    noise[0] += math.sqrt(2) * float(ndtri(BASELINE)) * small.member
    names = (SignalName("confidence"), *(SignalName(f"made_up_{i}", "explanation") for i in range(columns)))
    observed = np.ones(noise.shape, dtype=bool) & small.cells()
    observed[1:] &= (rng.random(len(rows)) < max(share, 1 / len(rows)))[:, None]
    evidence = Evidence(names, np.where(observed, noise, 0.0), observed, small.member)
    each = len(person) / len(np.unique(person))
    wider = math.sqrt(len(rows) / len(game.member) * (1 + (each - 1) / 2))
    try:
        trial = next(t for t in plan(with_gaps(evidence, small), small).combined.values() if t.base)
        planted = recover(evidence, small, trial, rng, wider=wider)
    except JaliError as error:
        return None, str(error)
    found = control(trial, planted).detectable
    return found, "" if found is not None else f"no addition up to {planted[-1].size:g} would be found"


def _some(game: Game, rng: Rng) -> Ints:
    """Records of the made-up signals."""
    return np.sort(rng.permutation(len(game.member))[:RECORDS])


def _picked(game: Game, rows: Ints) -> Game:
    """The game of some records."""

    def of(array: Bools | None) -> Bools | None:
        return None if array is None else array[rows]

    return Game(game.member[rows], game.targets, game.shadows, game.scored[rows], of(game.asked), of(game.aside))
