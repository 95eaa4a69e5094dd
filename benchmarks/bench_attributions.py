"""Attribution and signal of 5,000 records under 32 networks 23-1000-2: ours against Captum in batches of 256.

Run `python benchmarks/bench_attributions.py`. Every contestant runs in a fresh process with one thread, in turns, and
the best of the turns counts, in seconds of the processor, which other load hurts least. Ours does all records and
networks, tile by tile as an audit does, so the attributions of all of them never exist at once. Captum is asked in
batches of as many records, network by network; it is timed on a few, and its time is multiplied. The signals of those
few must agree, except where draws are random. Beside it: what the other explainers need for one tile of 256 records.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from jali.audit.one_model import Readout, Roles, observe, preparations
from jali.core import registry
from jali.core.encoding import Encoding
from jali.core.values import Column, Dataset, Floats, Schema
from jali.models.fitted.network import NetworkEnsemble

ROWS, COLUMNS, WIDTH, MODELS = 5000, 23, 1000, 32
FEW, NETS, BATCH = 1024, 2, 256  # records and networks on which Captum is timed, and the records of one call
TURNS = 2
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "input_x_gradient": ("InputXGradient", {}),
    "saliency": ("Saliency", {}),
    "integrated_gradients": ("IntegratedGradients", {"n_steps": 25}),
    "gradient_shap": ("GradientShap", {"n_samples": 5}),
}
TILE = {
    "tree_shap": ("RandomForestClassifier", "n_estimators=100, max_depth=8"),
    "tree_shap ": ("HistGradientBoostingClassifier", ""),
    "kernel_shap": ("HistGradientBoostingClassifier", ""),
    "lime": ("HistGradientBoostingClassifier", ""),
}


def data(rows: int = ROWS) -> Dataset:
    """A table whose classes depend on a product of two columns."""
    X = np.random.default_rng(0).normal(size=(rows, COLUMNS))
    return Dataset(X, (X[:, 0] * X[:, 1] > 0).astype(np.int64), Schema(tuple(Column(f"x{j}") for j in range(COLUMNS))))


def networks(table: Dataset) -> NetworkEnsemble:
    """Networks as they start; how well they fit does not change how long they take."""
    rng, sizes = np.random.default_rng(1), ((COLUMNS, WIDTH), (WIDTH, 2))
    weights = [rng.uniform(-1, 1, (MODELS, *s)) / np.sqrt(s[0]) for s in sizes]
    biases = [rng.uniform(-1, 1, (MODELS, s[1])) / np.sqrt(s[0]) for s in sizes]
    return NetworkEnsemble(Encoding(table.schema), tuple(weights), tuple(biases))


def ours(name: str) -> dict[str, Any]:
    """All records and networks, fused with the signal."""
    table = data()
    nets, everybody = networks(table), np.ones(ROWS, dtype=bool)
    roles = Roles(everybody, everybody, np.zeros(ROWS, dtype=bool))
    channel = Readout(registry.build("explain", name), (registry.build("signal", "attribution_l1"),))

    def seen(j: int) -> Floats:
        ready = preparations(nets[j], table, everybody, 0, j)
        return np.asarray(observe(ready, table, roles, channel, 0, j)["value"][0])

    seen(0)
    before = peak()
    seconds, found = timed(lambda: [seen(j) for j in range(MODELS)])
    few = [signal[:FEW].tolist() for signal in found[:NETS]]
    return {"seconds": seconds, "memory": peak(), "grew": peak() - before, "signal": few}


def theirs(name: str) -> dict[str, Any]:
    """Captum on batches of records, one network after the other, then the signal."""
    import captum.attr
    import torch

    torch.set_num_threads(1)
    table, (method, how) = data(), METHODS[name]
    nets, rows = networks(table), torch.tensor(table.X[:FEW], dtype=torch.float32)
    if name == "gradient_shap":
        how = how | {"baselines": 0.001 * torch.randn(20, COLUMNS)}

    def batch(module: Any, some: Any) -> Floats:
        some = some.clone().requires_grad_()
        explainer = getattr(captum.attr, method)(module)
        found = explainer.attribute(some, target=module(some).argmax(1), **how)
        sizes: Floats = -np.log(np.abs(found.detach().numpy()).sum(axis=1))
        return sizes

    def seen(module: Any) -> Floats:
        return np.concatenate([batch(module, some) for some in torch.split(rows, BATCH)])

    modules = [module_of(nets, j) for j in range(NETS)]
    batch(modules[0], rows[:BATCH])
    seconds, found = timed(lambda: [seen(module).tolist() for module in modules])
    return {"seconds": seconds * ROWS * MODELS / (FEW * NETS), "memory": peak(), "signal": found}


def module_of(nets: NetworkEnsemble, column: int) -> Any:
    """A network as a torch module."""
    import torch
    from torch import nn

    layers = nn.Linear(COLUMNS, WIDTH), nn.Linear(WIDTH, 2)
    for layer, W, b in zip(layers, nets.weights, nets.biases, strict=True):
        layer.load_state_dict({"weight": torch.tensor(W[column].T), "bias": torch.tensor(b[column])})
    return nn.Sequential(layers[0], nn.ReLU(), layers[1]).eval()


def tile(name: str) -> dict[str, Any]:
    """Seconds for 256 records of another model, in one call and in calls of 20 records."""
    table, (kind, params) = data(2000), TILE[name]
    model = "sklearn.ensemble:" + kind
    trainer = registry.build("model", f'sklearn(estimator="{model}", params="{params}")')
    fitted = trainer.fit(table, np.ones((len(table), 1), dtype=bool), [np.random.default_rng(0)])[0]
    explainer = registry.build("explain", name.strip())

    ready = explainer.prepare(fitted, table.schema, None, np.random.default_rng(0))

    def run(step: int) -> list[Floats]:
        parts = [table.X[start : start + step] for start in range(0, 256, step)]
        return [ready.explain(part, np.random.default_rng(0)).value for part in parts]

    run(128)
    turns = [(timed(lambda: run(256))[0], timed(lambda: run(20))[0]) for _ in range(3)]
    return {"seconds": min(one for one, _ in turns), "in 20s": min(few for _, few in turns)}


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """Processor seconds and result of a call."""
    start = time.process_time()
    result = run()
    return time.process_time() - start, result


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def turn(*words: str) -> dict[str, Any]:
    """One contestant in a fresh process."""
    alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, __file__, *words], capture_output=True, text=True, check=True, env=alone)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print one line per explainer; the ratio is Captum's time over ours."""
    print(f"attribution and its l1 norm, {ROWS:,} records x {MODELS} networks {COLUMNS}-{WIDTH}-2, one thread")
    print(f"Captum in batches of {BATCH}, timed on {FEW:,} records x {NETS} networks and scaled; best of {TURNS} turns")
    whole = ROWS * MODELS * COLUMNS * 8 / 2**20
    for name in METHODS:
        turns = [(turn("ours", name), turn("theirs", name)) for _ in range(TURNS)]
        mine, peer = (min((t[k] for t in turns), key=lambda r: r["seconds"]) for k in (0, 1))
        apart = np.abs(np.array(mine["signal"]) - np.array(peer["signal"])).max()
        agree = "random draws" if name == "gradient_shap" else f"largest difference {apart:.0e}"
        print(
            f"  {name:21} jali {mine['seconds']:6.2f} s, Captum {peer['seconds']:7.1f} s: "
            f"{peer['seconds'] / mine['seconds']:5.1f}x; {agree}; "
            f"peak memory {mine['memory']:.0f} MB and {peer['memory']:.0f} MB, of which the run added "
            f"{mine['grew']:.0f} MB (all attributions: {whole:.0f} MB)"
        )
    for name, (kind, params) in TILE.items():
        found = turn("tile", name)
        print(f"  {name.strip():21} one tile of 256 records, {kind}({params}): {found['seconds']:.2f} s, ", end="")
        print(f"in calls of 20 records {found['in 20s'] / found['seconds']:.2f}x that")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        what, name = sys.argv[1:]
        print(json.dumps({"ours": ours, "theirs": theirs, "tile": tile}[what](name)))
    else:
        main()
