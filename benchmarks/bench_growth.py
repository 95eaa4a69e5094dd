"""How time grows with records and models, and what an audit of ten million rows would take.

python benchmarks/bench_growth.py           # minutes
python benchmarks/bench_growth.py --long    # to 512,000 records and 512 models
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np

from jali.audit.all_models import gather
from jali.audit.setup import Experiment, Resources, load
from jali.audit.signal_attacks import attack_evidence
from jali.core import registry
from jali.core.values import Evidence, Game, SignalName
from measure import exponent

ROWS, MODELS, WORKERS = 10_000_000, 256, 64
BYTES = 57  # of memory for each guess of a combined attack: five scores, target, record, membership


def cpu(run: object) -> float:
    """CPU seconds of a call."""
    began = time.process_time()
    run()  # type: ignore[operator]
    return time.process_time() - began


def planted(n: int, models: int, signals: int) -> tuple[Evidence, Game]:
    """Evidence with a small leak; four targets, all other models their shadows."""
    rng = np.random.default_rng(0)
    member = rng.random((n, models)) < 0.5
    value = rng.normal(size=(signals, n, 1)) + 0.3 * member + rng.normal(size=(signals, n, models))
    targets = np.arange(min(4, models))
    shadows = np.ones((len(targets), models), dtype=bool)
    shadows[:, targets] = False
    game = Game(member, targets, shadows, np.ones((n, len(targets)), dtype=bool))
    names = tuple(SignalName(f"s{i}") for i in range(signals))
    return Evidence(names, value, np.ones(value.shape, dtype=bool), member), game


def judging(n: int, models: int, signals: int = 2) -> float:
    """CPU seconds of all default attacks on evidence."""
    evidence, game = planted(n, models, signals)
    return cpu(lambda: attack_evidence(evidence, game))


def training(n: int, models: int) -> float:
    """CPU seconds of training logistic regressions and of reading their predictions and gradients."""
    data = registry.build("data", f"lending(n={n})")
    parts = (data, registry.build("model", "logistic"), registry.build("game", f"rotate(models={models})"))
    setup = load(Experiment(*parts, (registry.build("explain", "input_x_gradient"),)))
    return cpu(lambda: gather(setup, Resources()))


def grown(label: str, sizes: list[int], seconds: list[float], logarithm: bool) -> None:
    """Print the times and the exponent."""
    per = [s / math.log(n) for s, n in zip(seconds, sizes, strict=True)] if logarithm else seconds
    times = ", ".join(f"{n:,}: {s:.2f}" for n, s in zip(sizes, seconds, strict=True))
    after = " after division by log N" if logarithm else ""
    print(f"{label}: CPU s at {times}; exponent {exponent(sizes, per):.2f}{after}")


def paper(per_row_model: float, per_cell: float, signals: int) -> None:
    """What ten million rows and 256 models take on 64 workers, from the measurements of this run.

    per_cell: CPU seconds of all attacks on one signal of one record under one model, with four targets.
    """
    columns = 20
    table = ROWS * (columns + 1) * 8
    roles = ROWS * MODELS * 3
    evidence = ROWS * MODELS * signals * 9
    train_hours = per_row_model * ROWS * MODELS / 3600
    judge_hours = per_cell * ROWS * MODELS * signals / 3600
    trials = 6 * signals + 6
    print(f"on paper, {ROWS:,} rows, {columns} columns, {MODELS} models, {signals} signals, {WORKERS} workers:")
    print(f"  training and explaining: {train_hours:.0f} CPU hours, {train_hours / WORKERS:.2f} hours of wall time")
    print(f"  table: {table / 1e9:.1f} GB, fetched once by each worker: {table * WORKERS / 1e9:.0f} GB moved;", end=" ")
    print(f"memberships {roles / 1e9:.1f} GB, fetched likewise: {roles * WORKERS / 1e9:.0f} GB")
    print(f"  evidence: {evidence / 1e9:.0f} GB written by workers, read once and published by the run that judges it")
    print(
        f"  memory of a worker that trains: the table and the roles are mapped ({(table + roles) / 1e9:.1f} GB, given "
        f"back under pressure), and {ROWS * (columns + 2 * signals) * 8 / 1e9:.1f} GB for one model"
    )
    helping = min(WORKERS, trials)
    print(
        f"  judging four targets: {judge_hours:.0f} CPU hours in about {trials} tasks, one per attack and signal, so",
        end=" ",
    )
    print(
        f"no more than {helping} workers help; at least {judge_hours / helping:.1f} hours of wall time, and more",
        end=" ",
    )
    print("because combined attacks take longest")
    print("  evidence is mapped from a shared disk; without one each worker that judges fetches all of it,", end=" ")
    print(f"{evidence * helping / 1e12:.0f} TB moved")
    print(
        f"  memory of a worker that judges: {ROWS * MODELS * 9 / 1e9:.0f} GB mapped for each signal of its task, and "
        f"about {BYTES} bytes for each guess: {ROWS * 4 * BYTES / 1e9:.0f} GB with four targets, "
        f"{ROWS * MODELS * BYTES / 1e9:.0f} GB with all {MODELS}"
    )
    print(
        "  what stops scaling first is judging: without a shared disk by what it moves, with one by its tasks, each of"
    )
    print("  which needs all records of its signals under all models")


def main() -> None:
    """Growth in N and in M of both stages; then the calculation on paper."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    records = [500, 1000, 2000] if options.small else [2000, 8000, 32_000]
    models = [8, 16] if options.small else [8, 32, 128]
    if options.long:
        records += [128_000, 512_000]
        models += [512]
    base = records[0]
    training(200, 4)  # what is loaded once is not counted
    judging(2000, 8)  # boosted trees load scikit-learn, for files that are large enough
    trained = [training(n, 8) for n in records]
    grown("training and explaining, 8 models, records", records, trained, logarithm=True)
    grown(f"training and explaining, {base:,} records, models", models, [training(base, m) for m in models], False)
    judged = [judging(n, 16) for n in records]
    grown("attacks, 16 models, 4 targets, 2 signals, records", records, judged, logarithm=True)
    grown(f"attacks, {base:,} records, 4 targets, models", models, [judging(base, m) for m in models], False)
    paper(trained[-1] / (records[-1] * 8), judged[-1] / (records[-1] * 16 * 2), 8)


if __name__ == "__main__":
    main()
