"""Eight processes spend one budget and are killed at random moments: is an answer ever handed out that was not paid?

Every worker writes down each answer that it was given, and is killed by SIGKILL at random moments and started again.
In the end: answers handed out are all paid, the same question always got the same answer, the budget holds. If opendp
is installed, its privacy filter judges the same sequence of prices. Usage: bench_budget.py [kills] [processes]
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee
from jali.core.values import Rng
from jali.privacy.snapped_noise import laplace_on_grid
from jali.protect.budget import Budget

PRICES = (0.25, 0.5, 0.125)
QUESTIONS = 4000


def claim(price: float) -> Guarantee:
    return Guarantee("laplace noise", price, "replace-one", ("explanations",), "release", noise="laplace")


def noised(price: float) -> Callable[[Rng], float]:
    """An answer as it is released: a number with noise of this price, on its grid."""
    return lambda rng: float(laplace_on_grid(0.0, 1.0, price, rng))


def work(folder: Path, epsilon: float, seed: int) -> None:
    """Ask random questions for ever, and write down what was answered."""
    draw = random.Random(seed)
    budget = Budget(epsilon, folder / "answers.ledger")
    with (folder / f"given-{seed}").open("a", buffering=1) as given:
        while True:
            question = draw.randrange(QUESTIONS)
            price = PRICES[question % len(PRICES)]
            try:
                answer = budget.ledger.answer(f"question {question}", claim(price), noised(price))
            except JaliError:
                time.sleep(0.01)
                continue
            given.write(f"{question} {answer!r}\n")


def started(folder: Path, epsilon: float, seed: int) -> int:
    """The number of a new process, which starts at once because it is forked."""
    number = os.fork()
    if number == 0:
        work(folder, epsilon, seed)
    return number


def killed(number: int) -> None:
    os.kill(number, signal.SIGKILL)
    os.waitpid(number, 0)


def main(kills: int, processes: int) -> bool:
    folder = Path(tempfile.mkdtemp())
    epsilon = 0.25 * QUESTIONS / 2
    Budget(epsilon, folder / "answers.ledger").state()
    draw = random.Random(0)
    workers = [started(folder, epsilon, seed) for seed in range(processes)]
    time.sleep(3)
    for kill in range(kills):
        time.sleep(draw.uniform(0.0, 0.15))
        at = draw.randrange(processes)
        killed(workers[at])
        workers[at] = started(folder, epsilon, processes + kill)
    time.sleep(2)
    for worker in workers:
        killed(worker)
    return judged(folder, epsilon, kills)


def judged(folder: Path, epsilon: float, kills: int) -> bool:
    answers: dict[str, set[str]] = defaultdict(set)
    lines = 0
    for file in folder.glob("given-*"):
        for line in file.read_text().splitlines():
            question, _, answer = line.partition(" ")
            answers[question].add(answer)
            lines += 1
    budget = Budget.open(folder / "answers.ledger")
    state = budget.state()
    paid = budget.ledger.paid()
    different = sum(len(found) > 1 for found in answers.values())
    total = sum(g.epsilon for g in paid)
    print(f"{kills} kills; {lines} answers handed out to {len(answers)} questions; {state.answers} paid")
    print(f"questions with two different answers: {different}; spent {total:g} of {epsilon:g}")
    print(f"paid and not finished: {state.unfinished}")
    same = filter_agrees([g.epsilon for g in paid], epsilon)
    print(f"opendp's filter judges the same sequence alike, up to the first refusal: {same}")
    enough = len(answers) > kills  # otherwise the workers did not work, and nothing was tested
    return enough and len(answers) <= state.answers and not different and total <= epsilon and same is not False


def filter_agrees(prices: list[float], epsilon: float) -> Any:
    """Whether opendp's privacy filter grants the same answers as a new ledger, and refuses the same one first.

    After that opendp's filter answers nothing more; ours goes on with cheaper questions that still fit. None without
    opendp.
    """
    if importlib.util.find_spec("opendp") is None:
        return None
    dp: Any = importlib.import_module("opendp.prelude")

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    odometer = dp.c.make_fully_adaptive_composition(*space, output_measure=dp.max_divergence())
    queryable = dp.c.make_privacy_filter(odometer, d_in=1, d_out=epsilon)([1])
    mine = Budget(epsilon, Path(tempfile.mkdtemp()) / "second.ledger")
    draw = random.Random(1)
    sequence = list(prices)
    while sum(sequence) < 1.1 * epsilon:  # so that both must refuse some
        sequence.append(draw.choice(PRICES))
    count = dp.t.make_count(*space)
    for i, price in enumerate(sequence):
        try:
            mine.ledger.answer(f"question {i}", claim(price), noised(price))
            granted = True
        except JaliError:
            granted = False
        try:
            queryable(count >> dp.m.make_laplace(*_of(count), scale=1 / price))
            theirs = True
        except dp.OpenDPException:
            theirs = False
        if granted != theirs:
            return False
        if not granted:
            return True
    return False


def _of(count: Any) -> tuple[Any, Any]:
    return count.output_domain, count.output_metric


if __name__ == "__main__":
    numbers = [int(text) for text in sys.argv[1:]]
    sys.exit(0 if main(*(numbers or [200, 8])) else 1)
