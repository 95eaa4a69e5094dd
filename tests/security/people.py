"""A few people and a model of somebody's own, for fuzzers that need a whole explainer."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

_rng = np.random.default_rng(0)
ROWS = pd.DataFrame({"age": _rng.integers(18, 80, 80), "income": _rng.normal(3000, 500, 80).round(2)})
LABELS = (ROWS["income"] + 10 * ROWS["age"] > 3500).astype(int).to_numpy()
TRAIN = (ROWS, LABELS)
MODEL = LogisticRegression().fit(ROWS, LABELS)
SCHEMA = {"classes": [0, 1]}
BOUNDS = {"age": (0, 120), "income": (0.0, 10_000.0)}
