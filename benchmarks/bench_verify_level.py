"""How often `jali verify` refutes a true claim: two correct releases, all designed pairs, many seeds.

`python benchmarks/bench_verify_level.py [seeds]` prints how many of the tests refute. The level is 5 %. Bounds on rates
are cautious: of 100 tests about one refuted. Randomised response shows most of its epsilon, and shows it in every pair
that holds the query on one side. Answers of varying length are coded on other draws than those that are evaluated,
which is a choice, too. The suite has a small version (tests/verify/test_releases.py). Other correct mechanisms:
`jali verify --zoo --only correct --seeds 100`.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from jali.core.values import Dataset, Floats, Rng
from jali.verify.mechanisms_under_test import subject
from jali.verify.run import verify

DRAWS = 200
FIRST = 1000  # seed; each further test has the next one
TRUTHFUL = math.e / (1 + math.e)  # how often randomised response with epsilon = 1 tells the truth


def _there(data: Dataset, query: Floats) -> bool:
    return bool(np.all(query[None] == data.X, axis=1).any())


def randomised_response(data: Dataset, query: Floats, rng: Rng) -> bool:
    """Whether the queried record is there, with a lie now and then."""
    truth = _there(data, query)
    return truth if rng.random() < TRUTHFUL else not truth


def varying_length(data: Dataset, query: Floats, rng: Rng) -> list[float]:
    """As many zeros as a noised count says."""
    count = _there(data, query) + rng.laplace()
    return [0.0] * int(np.clip(round(count) + 5, 0, 20))


def main(seeds: int) -> None:
    """Print how many claims of each release were refuted, and the mean bound."""
    for function in (randomised_response, varying_length):
        claim = subject(f"{__name__}:{function.__name__}", 1.0)
        found = [verify(claim, draws=DRAWS, seed=seed) for seed in range(FIRST, FIRST + seeds)]
        refuted = sum(each.verdict == "REFUTED" for each in found)
        bound = np.mean([each.lower for each in found])
        print(f"{function.__name__:20} refuted {refuted} of {seeds}; mean lower bound {bound:.2f} of 1")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
