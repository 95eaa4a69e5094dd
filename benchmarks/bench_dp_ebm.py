"""Private explainable boosting on Adult: AUC at several epsilon, with bounds that are public.

Bounds are those that adult.names or the census questionnaire state, not those of the rows: age 17 to 90, years of
education 1 to 16, hours 1 to 99, capital gain and loss top-coded at 99,999 and 4,356; the survey weight is left out.
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
    "age": (17, 90),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 4_356),
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
