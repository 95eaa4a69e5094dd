"""How faithful surrogates are to the black box, on rows that neither has seen.

Run `python benchmarks/bench_surrogates.py [table ...]`; a table whose files are missing is said so. Printed for a
forest and a network: the share of held-out rows on which `trepan`, `trepan` with independent columns (as published),
`trepan` without drawn rows and a plain tree of the same depth say what the black box says, what each gains over the
plain tree with a 95 % interval, and how often it is right itself. Tables of many rows are cut into disjoint parts, so
that splits are independent; small ones are split again and again, and the interval takes into account that such splits
share rows (Nadeau and Bengio, 2003). Then for `lore`, by generator: fidelity to neighbourhoods drawn afresh, whether
these hold two classes, whether the factual rule is true of its record, how many records get a counterfactual rule that
the black box confirms, CPU seconds per record.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.protocols import Model
from jali.core.values import Dataset
from jali.explain._attribution.marginals import Marginals
from jali.explain._surrogate.neighbourhood import GENERATORS
from jali.explain._surrogate.records import Records
from jali.explain.trepan import Trepan
from jali.stats.influence import Spread
from jali.stats.intervals import over_units
from jali.text.rules import accuracy, fidelity, hits

TABLES = ("adult", "give_me_some_credit", "gaussian_mixture", "german", "heart", "cmc")
BOXES = {
    "forest": 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=50")',
    "network": "mlp(hidden=[50], epochs=60)",
}
PART, PARTS, SPLITS, TRAIN, RECORDS = 6000, 5, 10, 0.7, 24
TREES = ("trepan", "trepan(fresh=1.0)", "trepan(sample=0)", f"tree_surrogate(depth={Trepan().depth})")
LOCAL = (*(f'lore(generator="{generator}")' for generator in GENERATORS), "lore(trees=3)")
Split = tuple[Dataset, Dataset, Model]


def splits(data: Dataset, box: str) -> Iterator[Split]:
    """Training rows, the others, and the black box of the first."""
    order, many = np.random.default_rng(0).permutation(len(data)), len(data) >= PART * PARTS
    for k in range(PARTS if many else SPLITS):
        rows = order[k * PART : (k + 1) * PART] if many else np.random.default_rng(k).permutation(len(data))
        own, rest = data.rows(rows[: int(TRAIN * len(rows))]), data.rows(rows[int(TRAIN * len(rows)) :])
        everyone = np.ones((len(own), 1), bool)
        ensemble = registry.build("model", box).fit(own, everyone, [np.random.default_rng(k)])
        yield own, rest, ensemble[0]


def trees(made: list[Split], shared: float) -> None:
    """Print how the global surrogates fare; shared = test rows by training rows where splits share rows."""
    found = np.array([[one(part, *split) for part in TREES] for split in made])
    for k, name in enumerate(TREES):
        gain = found[:, k, 0] - found[:, -1, 0]
        e = over_units(gain, bounds=(-1.0, 1.0), known=Spread(shared=shared * float(gain.var(ddof=1))))
        faith, right, seconds = found[:, k].mean(axis=0)
        print(
            f"    {name:23} fidelity {faith:.3f}, gain {e.value:+.3f} ({e.low:+.3f} to {e.high:+.3f}) in {e.units} "
            f"splits; accuracy {right:.3f}; {seconds:.1f} s"
        )


def one(part: str, own: Dataset, rest: Dataset, model: Model) -> tuple[float, float, float]:
    """Fidelity and accuracy on held-out rows, and CPU seconds."""
    began = time.process_time()
    made = (
        registry.build("explain", part)
        .prepare(model, own.schema, own, np.random.default_rng(0))
        .explain(rest.X[:1], np.random.default_rng(0))
    )
    tree, seconds = made.models[0], time.process_time() - began
    return fidelity(tree, model, rest.X), accuracy(tree, rest.X, rest.y), seconds


def local(own: Dataset, rest: Dataset, model: Model) -> None:
    """Print how the local surrogates fare."""
    X = rest.X[:RECORDS]
    records = Records(model, X, Marginals.of(own.X, own.schema))
    for name in LOCAL:
        part, began = registry.build("explain", name), time.process_time()
        made = part.prepare(model, own.schema, own, np.random.default_rng(0)).explain(X, np.random.default_rng(0))
        seconds = (time.process_time() - began) / len(X)
        near = part.neighbourhood(records, np.random.default_rng(1))
        faith = [accuracy(tree, *rows) for tree, *rows in zip(made.models, near.rows, near.labels, strict=True)]
        rules = [tree.rules() for tree in made.models]
        true = [some[0].covers(x[None])[0] for some, x in zip(rules, X, strict=True)]
        print(
            f"    {name:32} fidelity {np.mean(faith):.3f} ± {np.std(faith):.3f}; two classes {near.both.mean():.0%}, "
            f"rule true {np.mean(true):.0%}, label kept {hits(made, model, X).mean():.0%}, a change confirmed "
            f"{np.mean([len(some) > 1 for some in rules]):.0%}; {seconds:.3f} s"
        )


def compare(name: str) -> None:
    """Print all surrogates on one table."""
    data = registry.build("data", name).load()
    for box, specification in BOXES.items():
        made = list(splits(data, specification))
        right = np.mean([accuracy(model, rest.X, rest.y) for _, rest, model in made])
        print(f"{name}, {box} of accuracy {right:.3f}, {len(made[0][0]):,} training rows")
        trees(made, 0.0 if len(made) == PARTS else (1 - TRAIN) / TRAIN)
        local(*made[0])


def main(names: tuple[str, ...]) -> None:
    """All tables, one thread."""
    with threadpool_limits(1):
        for name in names:
            try:
                compare(name)
            except JaliError as error:
                print(f"{name}: not compared, {error}")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or TABLES)
