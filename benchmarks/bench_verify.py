"""Does `jali verify` keep its own promises: false refutations of correct mechanisms, and power where noise is missing.

    python benchmarks/bench_verify.py stand --seeds 100 --draws 2000 --keep stand.jsonl
    python benchmarks/bench_verify.py power --seeds 8 --draws 2000
    python benchmarks/bench_verify.py defences --seeds 5 --draws 2000 --keep defences.jsonl

`stand` tests five correct mechanisms of the zoo in all designed pairs, seed by seed. Each test is a line of the file
that --keep names, and a test that is there already is not run again, so a stopped run is resumed. It prints how many
of the tests refuted a true claim: the level allows 5 of 100, and 9 of 100 at most is what chance explains.

`power` gives Laplace and Gaussian noise a share of what the claim needs. Beside the median of the lower bounds stands
the optimum: the median of the same bound for the best event of all, which only somebody who knows both laws can name.

`defences` tests the defences that add noise for a claim of epsilon = 1, with their noise as it is and divided by five
or nine; all else of them, safety margins too, stays as it is. It keeps its results like `stand`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import laplace as laplace_law
from scipy.stats import norm

from jali.defend._dp import noise
from jali.privacy import snapped_noise
from jali.results.verification import Verification
from jali.stats.epsilon import event_bound
from jali.verify.distinguishers import LEADING
from jali.verify.mechanisms_under_test import subject
from jali.verify.run import verify
from jali.verify.zoo import exhibits, gaussian, laplace
from jali.verify.zoo.exhibit import Exhibit
from jali.verify.zoo.scoreboard import subject_of

STANDARD = ("mean", "Gaussian sum", "exponential mechanism", "randomised response", "sparse vector")
LAPLACE = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3)  # shares of the noise that epsilon = 1 needs
GAUSSIAN = (1.0, 0.5, 0.4, 1 / 3)
TIMES = 400  # simulated counts for the optimum
DEFENCES = {
    "A: recourse from private weights": ("dp_weights_recourse", (1, 5)),
    "B: public direction": ("public_direction", (1, 5)),
    "C: above threshold": ("above_threshold", (1, 5, 9)),
    "dp_logistic, objective": ("dp_logistic", (1, 5)),
    "dp_logistic, output": ('dp_logistic(epsilon=1.0, bound=1.0, C=0.1, method="output")', (1, 5)),
}


def stand(seeds: int, draws: int, keep: Path) -> None:
    """Count false refutations; results of earlier runs in `keep` are used."""
    by_name = {each.name: each for each in exhibits()}
    kept = Kept(keep)
    for seed in range(seeds):
        for name in STANDARD:
            kept.tested(name, draws, seed, partial(verify, subject_of(by_name[name])))
    for name in STANDARD:
        mine = kept.of(name, draws)
        wrong = sum(each["verdict"] == "REFUTED" for each in mine)
        shown = [each["lower"] for each in mine]
        took = np.mean([each["seconds"] for each in mine])
        print(
            f"{name:24s} {draws:6d} draws: refuted {wrong} of {len(mine)}; lower bound median {np.median(shown):.2f}, "
            f"largest {max(shown):.2f}; {took:.1f} CPU s each"
        )


def defences(seeds: int, draws: int, keep: Path) -> None:
    """Print the range of the lower bounds of each defence, with its noise and with a part of it."""
    kept = Kept(keep)
    for seed in range(seeds):
        for name, (spec, parts) in DEFENCES.items():
            for part in parts:
                kept.tested(f"{name}, 1/{part}", draws, seed, partial(_weakened, spec, part))
    for name, (_, parts) in DEFENCES.items():
        for part in parts:
            mine = kept.of(f"{name}, 1/{part}", draws)
            shown = [each["lower"] for each in mine]
            refuted = sum(each["verdict"] == "REFUTED" for each in mine)
            took = np.mean([each["seconds"] for each in mine])
            print(
                f"{name:34s} 1/{part} of the noise: {min(shown):.2f} to {max(shown):.2f}, refuted {refuted} of "
                f"{len(mine)}; {took:.1f} CPU s each"
            )


def _weakened(spec: str, part: int, draws: int, seed: int) -> Verification:
    """The test of a defence whose noise is divided by `part`, under the claim of epsilon = 1."""
    whole = noise.laplace

    def less_laplace(X: Any, scale: Any, rng: Any) -> Any:
        return whole(X, np.maximum(1, scale // part), rng)

    weaker: dict[str, Any] = {
        "jali.defend._dp.noise.laplace": less_laplace,
        "jali.defend.explain.above_threshold.laplace": less_laplace,
        "jali.defend.models.dp_logistic.ball": lambda *law: snapped_noise.ball(*law) / part,
    }
    with ExitStack() as stack:
        for where, less in weaker.items():
            stack.enter_context(patch(where, less))
        return verify(subject(spec, 1.0), draws=draws, seed=seed)


class Kept:
    """Results in a file, a line each: what is there already is not run again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: list[dict[str, Any]] = (
            [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        )

    def tested(self, name: str, draws: int, seed: int, run: Callable[..., Verification]) -> None:
        """Run a test with so many draws and this seed, and keep its result, unless there is one."""
        if any((each["name"], each["draws"], each["seed"]) == (name, draws, seed) for each in self.done):
            return
        began = time.process_time()
        found = run(draws=draws, seed=seed)
        took = time.process_time() - began
        line = {"name": name, "draws": draws, "seed": seed, "lower": found.lower, "verdict": found.verdict}
        self.done.append({**line, "pairs": found.pairs, "seconds": round(took, 2)})
        with self.path.open("a") as file:
            file.write(json.dumps(self.done[-1]) + "\n")

    def of(self, name: str, draws: int) -> list[dict[str, Any]]:
        """All results of one name with so many draws."""
        return [each for each in self.done if (each["name"], each["draws"]) == (name, draws)]


def power(seeds: int, draws: int) -> None:
    """Print the curve: the share of the noise, the true epsilon, the optimum, and what is shown."""
    for name, share, exhibit, rates in _under_noised():
        found = [verify(subject_of(exhibit), draws=draws, seed=seed) for seed in range(seeds)]
        shown = np.array([each.lower for each in found])
        refuted = sum(each.verdict == "REFUTED" for each in found)
        best, spread = _optimum(*rates, draws, exhibit.delta)
        print(
            f"{name} {share:.2f} of the noise, {draws} draws: true {exhibit.true:.2f}, optimum {best:.2f} (sd "
            f"{spread:.2f}), shown {np.median(shown):.2f} ({shown.min():.2f} to {shown.max():.2f}), refuted "
            f"{refuted} of {seeds}",
            flush=True,
        )


Rates = tuple[np.ndarray, np.ndarray]


def _under_noised() -> Iterator[tuple[str, float, Exhibit, Rates]]:
    """Exhibits with a share of the noise, and the rates of all events above a threshold in both data sets."""
    for share in LAPLACE:
        at = np.linspace(-4, 5, 400)
        exhibit = Exhibit(f"mean, {share}", laplace.mean(share), 1 / share, "" if share == 1 else "too little noise")
        yield "Laplace", share, exhibit, (laplace_law.sf(at, 1, share), laplace_law.sf(at, 0, share))
    for share in GAUSSIAN:
        sigma = share * gaussian.ENOUGH
        at = np.linspace(-4 * sigma, 4 * sigma + gaussian.SHIFT, 400)
        true = gaussian.epsilon(sigma)
        fault = "" if true <= 1 else "too little noise"
        exhibit = Exhibit(f"sum, {share}", gaussian.clipped_sum(sigma), true, fault, delta=gaussian.DELTA)
        yield "Gaussian", share, exhibit, (norm.sf(at, gaussian.SHIFT, sigma), norm.sf(at, 0, sigma))


def _optimum(here: np.ndarray, there: np.ndarray, draws: int, delta: float) -> tuple[float, float]:
    """The largest median of the bound among events with these rates, and its standard deviation at that event."""
    rng = np.random.default_rng(0)
    more = rng.binomial(draws, here[:, None], (len(here), TIMES))
    less = rng.binomial(draws, there[:, None], (len(there), TIMES))
    bounds = event_bound(more, less, draws, delta, LEADING)
    at = int(np.median(bounds, axis=1).argmax())
    return float(np.median(bounds[at])), float(bounds[at].std())


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("stand", "power", "defences"))
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--keep", type=Path, help="the file of results; <what>.jsonl if not given")
    given = parser.parse_args()
    keep = given.keep or Path(f"{given.what}.jsonl")
    if given.what == "stand":
        stand(given.seeds, given.draws, keep)
    elif given.what == "defences":
        defences(given.seeds, given.draws, keep)
    else:
        power(given.seeds, given.draws)


if __name__ == "__main__":
    main()
