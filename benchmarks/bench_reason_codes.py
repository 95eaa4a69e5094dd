"""What reason codes add over the decision: names, signs and values of the four columns that count most, side by side.

python benchmarks/bench_reason_codes.py german 1000
python benchmarks/bench_reason_codes.py adult 2000
"""

from __future__ import annotations

import sys
import time

import jali
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


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 16)
