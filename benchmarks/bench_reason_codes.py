"""What reason codes add over the decision: names, signs and values of the four columns that count most, side by side.

python benchmarks/bench_reason_codes.py german 1000
python benchmarks/bench_reason_codes.py adult 2000
python benchmarks/bench_reason_codes.py planted german 1000

planted: an explainer of a logistic regression that names another first column for one training person in four, and a
null that does the same for one person in four of everybody. The names alone must show the first, and not the second.
"""

from __future__ import annotations

import sys
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import jali
from jali.core import registry
from jali.core.values import Channel

MODEL = 'sklearn(estimator="sklearn.ensemble:GradientBoostingClassifier", params="n_estimators=60, max_depth=4")'


def run(name: str, n: int, models: int) -> None:
    began = time.process_time()
    levels = [f'reason_codes(tree_shap, show="{show}")' for show in ("names", "signs", "values")]
    found = jali.audit(
        MODEL,
        data=f"sample({name}, n={n})",
        explain=[*levels, "tree_shap"],
        game=f"rotate(models={models})",
        attack=["lira"],
    )
    for base in (Channel.DECISION_AND_EXPLANATION, Channel.SCORE_AND_EXPLANATION):
        print(f"{name}, {n} people, {models} models: adds over the {base.base} in AUC")
        for row in found.results.find(kind="contrast", metric="auc", channel=base):
            print(f"  {row.explainer}: {row.value:+.3f} ({row.low:+.3f} to {row.high:+.3f})")
    for row in found.results.find(kind="paired", metric="auc", channel=Channel.DECISION)[:1]:
        print(f"  the decision alone: {row.value:.3f} ({row.low:.3f} to {row.high:.3f})")
    print(f"{time.process_time() - began:.0f} CPU s")


def slopes(model: Any, X: Any) -> Any:
    """What each column counts for, after the scaler of the pipeline."""
    return model[0].transform(X) * model[1].coef_


def chosen(row: Any) -> bool:
    """One person in four, by their values."""
    return zlib.crc32(np.asarray(row).tobytes()) % 4 == 0


def renamed(value: Any, who: list[bool]) -> Any:
    """Attributions in which the column that counts least counts most, for some rows."""
    out = np.array(value)
    at = np.flatnonzero(who)
    out[at, np.abs(value[at]).argmin(axis=1)] = 2 * np.abs(value[at]).max(axis=1)
    return out


def leaking(model: Any, background: Any) -> Callable[[Any], Any]:
    """An explainer that remembers its training people."""
    known = {np.asarray(row).tobytes() for row in background}
    return lambda X: renamed(slopes(model, X), [row.tobytes() in known and chosen(row) for row in X])


def null(model: Any, _background: Any) -> Callable[[Any], Any]:
    """One that does the same with everybody."""
    return lambda X: renamed(slopes(model, X), [chosen(row) for row in X])


def planted(name: str, n: int, shadows: int = 8) -> None:
    """What the names of the four columns add to the decision, with and without a planted leak."""
    began = time.process_time()
    data = registry.build("data", f"sample({name}, n={n})").load()
    first, second = slice(0, n // 2), slice(n // 2, n)
    train, population = (data.X[first], data.y[first]), (data.X[second], data.y[second])
    model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000)).fit(*train)
    explain = [jali.reason_codes(jali.explainer(make, "attribution"), top=4) for make in (leaking, null)]
    game = f"given_model(members={n // 2}, shadows={shadows})"
    found = jali.audit(model, train, population, explain=explain, game=game, attack=["lira"])
    print(f"{name}, {n} people, one in four of the training people renamed: names add over the decision in AUC")
    for row in found.results.find(kind="contrast", metric="auc", channel=Channel.DECISION_AND_EXPLANATION):
        print(f"  {row.explainer}: {row.value:+.3f} ({row.low:+.3f} to {row.high:+.3f})")
    print(f"{time.process_time() - began:.0f} CPU s")


if __name__ == "__main__" and sys.argv[1] == "planted":
    planted(sys.argv[2], int(sys.argv[3]))
elif __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 16)
