"""A training table and other people of the same kind."""

from __future__ import annotations

import numpy as np
import pandas as pd


def table(seed: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.normal(30, 9, n).round(3),
            "hours": rng.integers(1, 80, n),
            "job": rng.choice(["cook", "clerk", "nurse", "chief of staff"], n),
            "paid": rng.choice(["yes", "no"], n),
        }
    )


TRAIN = table(1, 300)
OTHERS = table(2, 500)
NUMBERS = ["age", "income", "hours"]
