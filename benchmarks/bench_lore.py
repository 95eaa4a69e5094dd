"""Our `lore` beside the published package, lore_sa: the same records, rows and generations, fidelity and time.

Run `python benchmarks/bench_lore.py` after `make bench` has made .venv-surrogates; without it this says so and ends.
The black box is one network, whose weights the peer's process gets. Both sides draw a neighbourhood of as many rows by
a genetic search of as many generations and grow a tree on it. The package reports how often its tree agrees with the
black box on the rows it was grown on, which is always for a tree that is not pruned; here each tree is held against
neighbourhoods drawn afresh, by its own generator and by the other one. CPU time of one thread each, per record; ours
answers all records in one call, and once more record by record.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Surrogate
from jali.core.values import Dataset, Floats, Ints
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate.neighbourhood import Neighbourhood
from jali.explain._surrogate.records import Records
from jali.explain.lore import Lore
from jali.models.fitted.network import Network

ROOT = Path(__file__).resolve().parents[1]
PYTHON = ROOT / ".venv-surrogates" / "bin" / "python"
RECORDS, SAMPLES, GENERATIONS, ROWS = 5, 1000, 10, 2000
TABLES = ("breast_cancer", 'without(source=lending, columns=["town", "employer"])', "adult", "gaussian_mixture")
Arrays = dict[str, npt.NDArray[Any]]


def task(train: Dataset, network: Network, records: Floats, around: Floats) -> dict[str, Any]:
    """All that the peer needs."""
    columns = train.schema.columns
    layers = [(f"weight {i}", w) for i, w in enumerate(network.weights)]
    layers += [(f"bias {i}", b) for i, b in enumerate(network.biases)]
    return dict(layers) | {
        "layers": len(network.weights),
        "X": train.X,
        "records": records,
        "around": around,
        "samples": SAMPLES,
        "generations": GENERATIONS,
        "width": [len(c.categories) for c in columns],
        "centre": [c.centre for c in columns],
        "spread": [c.spread for c in columns],
    }


def theirs(given: dict[str, Any]) -> Arrays:
    """What lore_sa answers."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    with tempfile.TemporaryDirectory() as folder:
        sent, back = Path(folder) / "task.npz", Path(folder) / "answer.npz"
        np.savez(sent, **given)
        script = ROOT / "benchmarks" / "peers" / "run_lore.py"
        run = subprocess.run(
            [PYTHON, script, sent, back], env=os.environ | threads, capture_output=True, text=True, check=False
        )
        if run.returncode:
            raise SystemExit(f"lore_sa failed: {run.stderr.strip().splitlines()[-1]}")
        with np.load(back) as file:
            return dict(file)


def agreement(made: Surrogate, rows: Floats, labels: Ints) -> Floats:
    """How often (n,) each record's tree says of rows (n, S, D) what the black box said (n, S)."""
    trees = zip(made.models, rows, labels, strict=True)
    return np.array([np.mean(tree.logits(some).argmax(axis=1) == label) for tree, some, label in trees])


def compare(name: str) -> None:
    """Print the two sides on one table."""
    data = registry.build("data", name).load()
    order = np.random.default_rng(0).permutation(len(data))[:ROWS]
    train, rest = data.rows(order[: int(0.7 * len(order))]), data.X[order[int(0.7 * len(order)) :]]
    trainer = registry.build("model", "mlp(hidden=[50], epochs=60)")
    network = trainer.fit(train, np.ones((len(train), 1), dtype=bool), [np.random.default_rng(0)])[0]
    asked = Records(network, rest[:RECORDS], Marginals.of(train.X, train.schema))
    part = Lore(samples=SAMPLES, generations=GENERATIONS)
    fresh = part.neighbourhood(asked, np.random.default_rng(1))
    peer = theirs(task(train, network, asked.X, fresh.rows))
    far = Neighbourhood(peer["rows"], asked.ask(peer["rows"])[1])
    print(f"{name}: {RECORDS} records, {SAMPLES:,} rows of {GENERATIONS} generations, lore_sa {peer['version']}")
    seconds, other = ours("ours", part, train, asked, far), float(peer["seconds"].mean())
    others = (peer["own"] == far.labels).mean(axis=1), (peer["sent"] == fresh.labels).mean(axis=1)
    line("lore_sa", float(peer["fidelity"].mean()), others, far, other)
    print(f"  ours is x{other / seconds:.0f} faster, x{other / alone(part, train, asked):.0f} record by record")
    ours("ours, defaults", Lore(), train, asked, far)


def ours(name: str, part: Lore, train: Dataset, asked: Records, far: Neighbourhood) -> float:
    """Print our side, held against the other's neighbourhoods too; CPU seconds of a record."""
    began = time.process_time()
    made = part.prepare(asked.model, train.schema, train, np.random.default_rng(0)).explain(
        asked.X, np.random.default_rng(0)
    )
    seconds = (time.process_time() - began) / RECORDS
    first = np.random.default_rng(0).integers(2**31, size=1)[0]  # the stream that the trees were grown with
    grown, fresh = (part.neighbourhood(asked, np.random.default_rng(int(seed))) for seed in (first, 1))
    both = agreement(made, fresh.rows, fresh.labels), agreement(made, far.rows, far.labels)
    line(name, agreement(made, grown.rows, grown.labels).mean(), both, fresh, seconds)
    return seconds


def alone(part: Lore, train: Dataset, asked: Records) -> float:
    """CPU seconds of a record where each is explained in a call of its own."""
    began = time.process_time()
    for x in asked.X:
        part.prepare(asked.model, train.schema, train, np.random.default_rng(0)).explain(
            x[None], np.random.default_rng(0)
        )
    return (time.process_time() - began) / len(asked.X)


def line(name: str, grown: float, fresh: tuple[Floats, Floats], own: Neighbourhood, seconds: float) -> None:
    """Print one side."""
    print(
        f"  {name:15s} fidelity on the rows it was grown on {grown:.3f}; afresh, by its own generator "
        f"{fresh[0].mean():.3f} (least {fresh[0].min():.2f}), by the other's {fresh[1].mean():.3f}; "
        f"both classes {own.both.mean():.0%}; {seconds:7.3f} s a record"
    )


def main() -> None:
    """All tables, one thread."""
    if not PYTHON.exists():
        print("lore: not compared, because .venv-surrogates is missing; `make bench` makes it, with network")
        return
    with threadpool_limits(1):
        for name in TABLES:
            try:
                compare(name)
            except JaliError as error:
                print(f"{name}: not compared, {error}")


if __name__ == "__main__":
    main()
