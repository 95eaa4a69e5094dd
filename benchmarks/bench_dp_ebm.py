"""Private explainable boosting on Adult: AUC at several epsilon, with declared bounds.

Bounds are round numbers chosen without the rows: age 17 to 100 and hours 1 to 99 (adult.names says that people
are over 16 and work), 16 levels of education, capital gain of a five-digit and capital loss of a four-digit field. The
survey weight is left out. Categories are those that adult.names lists.
80 % train, 20 % test. Needs the extra `glassbox`. Usage: bench_dp_ebm.py [seeds]
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import numpy as np

from jali.core.values import Dataset
from jali.data.adult import Adult
from jali.defend.models.dp_ebm import DPEBM
from jali.stats.roc import auc

PUBLIC = {
    "age": (17, 100),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 9_999),
    "hours-per-week": (1, 99),
}


def adult() -> Dataset:
    data = Adult().load()
    kept = [j for j, c in enumerate(data.schema.columns) if c.name != "fnlwgt"]
    columns = []
    for j in kept:
        column = replace(data.schema.columns[j], known="declared")
        if column.name in PUBLIC:
            low, high = PUBLIC[column.name]
            column = replace(column, low=float(low), high=float(high))
        columns.append(column)
    schema = replace(data.schema, columns=tuple(columns), outcome="declared")
    return Dataset(data.X[:, kept], data.y, schema)


def main(seeds: int) -> None:
    data = adult()
    for epsilon in (0.5, 1.0, 4.0):
        found = []
        began = time.process_time()
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            member = rng.random(len(data)) < 0.8
            model = DPEBM(epsilon).fit(data, member[:, None], [rng])[0]
            score = model.logits(data.X[~member])[:, 1]
            found.append(auc(score, data.y[~member] == 1))
        spent = (time.process_time() - began) / seeds
        print(
            f"epsilon {epsilon:g}: AUC {np.mean(found):.4f} ({min(found):.4f} to {max(found):.4f}), {spent:.0f} s a fit"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
