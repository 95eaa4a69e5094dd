"""The scoreboard of the zoo: what a verifier finds with more and more draws, and what it wrongly refutes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from jali.core.errors import JaliError
from jali.core.values import Floats, Rng
from jali.models.logistic import Logistic
from jali.results.verification import Scoreboard, Sighting
from jali.verify.answers import Answers
from jali.verify.mechanisms_under_test import MechanismUnderTest
from jali.verify.neighbours import TrainingSet
from jali.verify.own_release import answers_of, imported
from jali.verify.run import verify
from jali.verify.zoo import exhibits
from jali.verify.zoo.exhibit import Exhibit

Verifier = Callable[[Exhibit, int, int], bool]  # (exhibit, draws, seed) -> whether its claim is refuted
DRAWS = (200, 2000)


def ours(exhibit: Exhibit, draws: int, seed: int) -> bool:
    """Whether `jali verify` refutes the claim of an exhibit."""
    return verify(subject_of(exhibit), draws=draws, seed=seed).verdict == "REFUTED"


def subject_of(exhibit: Exhibit) -> MechanismUnderTest:
    """An exhibit as the subject of a test, like any release of a user's own."""

    def draw(train: TrainingSet, query: Floats, count: int, rng: Rng) -> Answers:
        return answers_of(exhibit.release, train.data, query, count, rng)

    return MechanismUnderTest(exhibit.name, exhibit.guarantee(), draw, Logistic(), own=True)


def sightings(
    verifier: Verifier = ours, draws: Sequence[int] = DRAWS, seeds: int = 1, only: Sequence[str] = ()
) -> Iterator[Sighting]:
    """What a verifier says of each exhibit, with each number of draws, in how many of the seeds.

    only: parts of names or of faults; "correct" and "broken" stand for all of either kind.
    """
    if seeds < 1:
        raise JaliError(f"The zoo is tested with at least one seed, not {seeds}.")
    chosen = [each for each in exhibits() if not only or any(_fits(each, word) for word in only)]
    if not chosen:
        raise JaliError(f"Nothing in the zoo fits {', '.join(only)}: use a part of a name, correct or broken.")
    for each in chosen:
        for count in draws:
            found = sum(bool(verifier(each, count, seed)) for seed in range(seeds))
            yield Sighting(
                name=each.name,
                fault=each.fault,
                claimed=each.claimed,
                true=each.true,
                draws=count,
                seeds=seeds,
                refuted=found,
            )


def scored(
    verifier: str, draws: int, seeds: int, only: Sequence[str], show: Callable[[Sequence[Sighting]], None]
) -> Scoreboard:
    """The scoreboard of a verifier, named as module:function, or of ours; `show` gets each exhibit when it is done."""
    tested: Callable[..., bool] = imported(verifier) if verifier else ours
    counts = sorted({max(100, draws // 10), draws})
    found: list[Sighting] = []
    for sighting in sightings(tested, counts, seeds, only):
        found.append(sighting)
        if sighting.draws == counts[-1]:
            show(found[-len(counts) :])
    return Scoreboard(verifier=verifier or "jali verify", sightings=found)


def _fits(exhibit: Exhibit, word: str) -> bool:
    if word in ("correct", "broken"):
        return exhibit.correct == (word == "correct")
    return word.casefold() in f"{exhibit.name} {exhibit.fault}".casefold()
