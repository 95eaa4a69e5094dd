"""Private logistic regressions by diffprivlib: `python run_diffprivlib.py task.npz answer.npz`, in its own environment.

Reads rows, labels, a bound on their length, a penalty and some epsilons as plain arrays, and fits `draws` models for
each. Writes weights with the intercept last (epsilons, draws, D + 1), CPU seconds of one fit, and the version.
"""

from __future__ import annotations

import sys
import time
import warnings
from importlib.metadata import version

import numpy as np
from diffprivlib.models import LogisticRegression  # type: ignore[import-not-found]


def main(task: str, answer: str) -> None:
    """Fit and write."""
    warnings.simplefilter("ignore")
    with np.load(task) as file:
        given = dict(file)
    weights, began = [], time.process_time()
    for epsilon in given["epsilons"]:
        for seed in range(int(given["draws"])):
            model = LogisticRegression(
                epsilon=float(epsilon), data_norm=float(given["bound"]), C=float(given["C"]), max_iter=1000, tol=1e-8
            )
            model.set_params(random_state=seed).fit(given["X"], given["y"])
            weights.append(np.concatenate([model.coef_[0], model.intercept_]))
    each = (time.process_time() - began) / len(weights)
    shaped = np.reshape(weights, (len(given["epsilons"]), -1, given["X"].shape[1] + 1))
    np.savez(answer, weights=shaped, seconds=each, version=version("diffprivlib"))


if __name__ == "__main__":
    main(*sys.argv[1:])
