"""A user's own models beside SACRO-ML: the same fitted model and table, 50 shadow models each, in turn; CPU and wall.

SACRO-ML runs its likelihood-ratio attack ("online-carlini") and writes its report; ours runs one attack, then all of
them with intervals and checks, then these with an explanation: SHAP of boosted trees, input x gradient of the logistic
regression, contributions along the paths of a forest (SHAP of fully grown forests takes the better part of an hour:
--forest tree_shap). 4,000 x 20 numbers, 2,000 members, one process each.

It needs an environment with sacroml (benchmarks/peers/sacroml.txt), by default .venv-sacroml.

python benchmarks/bench_sacroml.py [--turns 3] [--models forest logistic boosted] [--forest tree_shap]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path

from measure import Used, used

SHADOWS = 50
DATA = f"""
import sys, tempfile
import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
X, y = make_classification(4000, 20, n_informative=8, flip_y=0.2, random_state=0)
X, y, P, q = X[:2000], y[:2000], X[2000:], y[2000:]
made = {{
    "forest": lambda: RandomForestClassifier(100, random_state=0, n_jobs=1),
    "logistic": lambda: LogisticRegression(max_iter=1000),
    "boosted": lambda: HistGradientBoostingClassifier(random_state=0),
}}
model = made[sys.argv[1]]().fit(X, y)
SHADOWS = {SHADOWS}
"""
THEIRS = (
    DATA
    + """
import logging
logging.disable(logging.CRITICAL)
from sacroml.attacks.likelihood_attack import LIRAAttack
from sacroml.attacks.target import Target
target = Target(model=model, X_train=X, y_train=y, X_test=P, y_test=q)
with tempfile.TemporaryDirectory() as folder:
    import os
    os.chdir(folder)
    found = LIRAAttack(output_dir=folder, n_shadow_models=SHADOWS, mode="online-carlini").attack(target)
metrics = found["attack_experiment_logger"]["attack_instance_logger"]["instance_0"]
print(f"AUC {metrics['AUC']:.3f}")
"""
)
OURS = (
    DATA
    + """
import jali
from jali.audit.setup import Resources
settings = {"game": f"given_model(members={len(X)}, shadows={SHADOWS})", "resources": Resources(workers=1)}
settings |= {"one": {"attack": ["lira"]}, "all": {}, "explained": {"explain": [sys.argv[3]]}}[sys.argv[2]]
found = jali.audit(model, (X, y), (P, q), **settings)
with tempfile.TemporaryDirectory() as folder:
    found.save(folder)
best = max(row.value or 0.0 for row in found.results.find(kind="attack", metric="auc"))
print(f"best AUC {best:.3f}")
"""
)
EXPLAINERS = {"forest": "tree_paths", "logistic": "input_x_gradient", "boosted": "tree_shap"}
LINES = {
    "SACRO-ML, LiRA": (THEIRS, ()),
    "jali, LiRA and the combined attack": (OURS, ("one",)),
    "jali, all attacks": (OURS, ("all",)),
    "jali, all attacks and an explanation": (OURS, ("explained",)),
}
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")


def run(line: str, model: str, explainer: str, peer: str) -> Used:
    """One line of the table, in an interpreter of its own."""
    code, words = LINES[line]
    python = peer if code is THEIRS else sys.executable
    found = used([python, "-c", code, model, *words, explainer], 3600.0, ONE_THREAD)
    if found.code:
        sys.exit(f"{line}, {model}, ended with {found.code}: {found.said[-800:]}")
    return found


def main() -> None:
    """Every line in turn, so that a busy minute hits all of them; medians."""
    parser = argparse.ArgumentParser()
    own = Path(__file__).parent.parent / ".venv-sacroml" / "bin" / "python"
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--models", nargs="*", default=list(EXPLAINERS))
    parser.add_argument("--forest", default=EXPLAINERS["forest"], help="the explainer of the forest")
    parser.add_argument("--peer", default=str(own))
    options = parser.parse_args()
    if not os.access(options.peer, os.X_OK):
        print("SACRO-ML: not compared, because .venv-sacroml is missing; `make bench` makes it, with network")
        return
    asked = [options.peer, "-c", "from importlib.metadata import version as v; print(v('sacroml'), v('scikit-learn'))"]
    print(
        "SACRO-ML and scikit-learn:", subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    )
    explainers = EXPLAINERS | {"forest": options.forest}
    for model in options.models:
        found: dict[str, list[Used]] = {line: [] for line in LINES}
        for _ in range(options.turns):
            for line in found:
                found[line].append(run(line, model, explainers[model], options.peer))
        base = statistics.median(each.cpu for each in found["SACRO-ML, LiRA"])
        print(f"{model}, {SHADOWS} shadow models, explained by {explainers[model]}, median of {options.turns} turns")
        for line, each in found.items():
            cpu = statistics.median(one.cpu for one in each)
            wall = statistics.median(one.wall for one in each)
            said = each[0].said.strip().splitlines()[-1]
            text = f"  {line:38} {cpu:6.1f} s CPU, {wall:6.1f} s wall, {cpu / base:5.2f}x the CPU of SACRO-ML; {said}"
            print(text, flush=True)


if __name__ == "__main__":
    main()
