"""How often intervals cover, and how wide they are: 95 % intervals of simulated audits with a known truth.

`python benchmarks/bench_coverage.py [draws [words]]` prints, for each setting whose name has the words, the share of
intervals that hold the true value and their mean and median half-width over the true standard deviation (1.96 is
ideal). Settings: numbers of target models, with and without a spread of leakiness between models, other or the same
members under each target, five rows a person, heavy tails, noise that a person's rows share, AUCs near one, rates, and
paired differences.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from jali.core.guesses import Guesses
from jali.core.values import Bools, Floats, Rng
from jali.stats.intervals import contrast, estimate

GAIN = 0.3  # further shift of the better attack


@dataclass(frozen=True)
class World:
    """A population of audits; people are judged under each target, half of them members.

    models: sd of the shift between target models. same: the same people are members under each target. own: each target
    has people of its own. tails: degrees of freedom of the noise. common: share of the noise that a person's rows have
    in common. lasting: share of the noise that stays from target to target. exposure: sd of the log of
    a person's shift.
    """

    targets: int = 1
    people: int = 200
    rows: int = 1
    shift: float = 0.5
    models: float = 0.0
    same: bool = False
    own: bool = False
    tails: float = np.inf
    common: float = 0.8
    lasting: float = 0.5
    exposure: float = 0.0

    def draw(self, rng: Rng) -> Guesses:
        """The guesses of one audit."""
        shape = (self.targets, self.people, self.rows)
        member = self._members(rng)
        noise = self.noise(rng, shape)
        shift = self.shift + self.models * rng.normal(size=(self.targets, 1, 1))
        exposed = np.exp(self.exposure * rng.normal(size=(self.targets if self.own else 1, self.people, 1)))
        score = noise + shift * exposed * member
        unit, person, row = np.indices(shape)
        person = person + self.people * unit if self.own else person
        truth: Bools = np.broadcast_to(member, shape)
        record = person * self.rows + row
        return Guesses(score.ravel(), truth.ravel(), unit.ravel(), record.ravel(), person.ravel())

    def _members(self, rng: Rng) -> Bools:
        half = np.arange(self.people) < self.people // 2
        drawn = [rng.permutation(half) for _ in range(1 if self.same else self.targets)]
        return np.broadcast_to(np.stack(drawn)[:, :, None], (self.targets, self.people, 1))

    def noise(self, rng: Rng, shape: tuple[int, ...]) -> Floats:
        """Noise that changes from target to target, and noise that lasts."""
        lasting = self._noise(rng, (shape[0] if self.own else 1, *shape[1:]))
        passing = self._noise(rng, shape)
        both: Floats = np.sqrt(1 - self.lasting) * passing + np.sqrt(self.lasting) * lasting
        return both

    def _noise(self, rng: Rng, shape: tuple[int, ...]) -> Floats:
        own = rng.normal(size=shape)
        if self.rows > 1:
            own = np.sqrt(1 - self.common) * own + np.sqrt(self.common) * rng.normal(size=(*shape[:2], 1))
        if np.isinf(self.tails):
            return own
        return own / np.sqrt(rng.chisquare(self.tails, size=(*shape[:2], 1)) / self.tails)


def better(guesses: Guesses, rng: Rng, gain: float = GAIN) -> Guesses:
    """The guesses of an attack that knows a little more of the same people."""
    _, person = np.unique(guesses.group, return_inverse=True)
    noise = 0.5 * rng.normal(size=person.max() + 1)[person] + 0.3 * rng.normal(size=len(person))
    return replace(guesses, score=guesses.score + noise + gain * guesses.truth)


def truth_of(metric: str, world: World, paired: bool, found: Floats) -> float:
    """The true value: over several targets the mean; the rate of one target is that of a million people."""
    name, _, alpha = metric.partition("@")
    if name != "tpr" or world.targets > 1:
        return float(found.mean())
    rng = np.random.default_rng(1)
    noise = world.noise(rng, (1, 1_000_000, 1)).ravel()
    more = noise + np.sqrt(0.5**2 + 0.3**2) * rng.normal(size=noise.shape)
    one = _rate(noise, world, float(alpha), 0.0)
    return _rate(more, world, float(alpha), GAIN) - one if paired else one


def _rate(noise: Floats, world: World, alpha: float, gain: float) -> float:
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    ordered = np.sort(noise)
    threshold = ordered[round((1 - alpha) * len(noise))]
    below = np.searchsorted(ordered, threshold - (world.shift + gain + world.models * nodes))
    return float(weights @ (1 - below / len(noise)) / weights.sum())


def simulated(metric: str, world: World, draws: int, paired: bool = False, seed: int = 0) -> tuple[float, float, float]:
    """Coverage, and mean and median half-width over the true sd."""
    rng = np.random.default_rng(seed)
    ends = np.empty((draws, 3))
    for k in range(draws):
        guesses = world.draw(rng)
        e = contrast(metric, better(guesses, rng), guesses, rng)[0] if paired else estimate(metric, guesses, rng)[0]
        ends[k] = (np.nan, np.nan, np.nan) if e.low is None else (e.value, e.low, e.high)
    value, low, high = ends.T
    true = truth_of(metric, world, paired, value)
    width = (high - low) / 2 / value.std()
    return float(((low <= true) & (true <= high)).mean()), float(width.mean()), float(np.median(width))


def settings() -> Iterator[tuple[str, str, World, bool]]:
    """Name, metric, population, and whether a paired difference is taken."""
    for metric in ("auc", "balanced_accuracy", "tpr@0.01"):
        base = World(people=1200) if "@" in metric else World()
        for targets in (2, 3, 5, 8, 16):
            for models in (0.0, 0.2, 0.4):
                yield (
                    f"{metric}, spread of models {models:g}",
                    metric,
                    replace(base, targets=targets, models=models),
                    False,
                )
    for targets in (2, 3, 5, 8, 16):
        many = World(targets=targets)
        yield "auc, same members under each target", "auc", replace(many, same=True), False
        yield "auc, own people for each target", "auc", replace(many, own=True, models=0.2), False
        yield "auc, exposure differs between people", "auc", replace(many, exposure=1.0), False
        yield "auc, heavy tails", "auc", replace(many, tails=2.0), False
        yield "auc, five rows a person", "auc", replace(many, people=100, rows=5, same=True), False
        yield "auc near one", "auc", replace(many, shift=2.5), False
        yield "auc very near one, 50 people", "auc", replace(many, people=50, shift=3.5, models=0.2), False
        yield "auc difference", "auc", many, True
        yield "auc difference, spread of models 0.3", "auc", replace(many, models=0.3), True
        yield "auc difference, five rows a person", "auc", replace(many, people=100, rows=5, same=True), True
        yield "tpr@0.01 difference", "tpr@0.01", replace(many, people=1200), True
        yield "tpr@0.01, five rows a person", "tpr@0.01", replace(many, people=800, rows=5, same=True), False
    grouped = World(people=80, rows=5)
    for tails in (np.inf, 2.0):
        words = "five rows a person" + (", heavy tails" if tails == 2.0 else "")
        yield f"auc, {words}", "auc", replace(grouped, tails=tails), False
        yield f"auc difference, {words}", "auc", replace(grouped, tails=tails), True
        yield f"tpr@0.01, {words}", "tpr@0.01", replace(grouped, people=800, tails=tails), False
    yield "auc, five rows a person, little in common", "auc", replace(grouped, common=0.1), False
    yield "tpr@0.01, five rows a person, little in common", "tpr@0.01", replace(grouped, people=800, common=0.1), False
    yield "tpr@0.01, one row a person", "tpr@0.01", World(people=800), False
    yield "auc near one", "auc", World(shift=2.5), False
    yield "auc very near one, 50 people", "auc", World(people=50, shift=3.5), False


def main(draws: int, only: str = "") -> None:
    """Print the table."""
    print(f"{'setting':52} {'T':>3} {'cover':>6} {'mean':>6} {'median':>6}")
    for name, metric, world, paired in settings():
        if only in f"{name} T={world.targets};":
            cover, mean, median = simulated(metric, world, draws, paired)
            print(f"{name:52} {world.targets:3} {100 * cover:6.1f} {mean:6.2f} {median:6.2f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, sys.argv[2] if len(sys.argv) > 2 else "")
