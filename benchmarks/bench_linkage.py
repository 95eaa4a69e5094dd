"""Two numbers of docs/linkage.md: what the asker's own row tells of the person shown, and what chosen questions do.

Run `python benchmarks/bench_linkage.py asker` or `chosen` (with JALI_DATA for cmc); both take seconds.

`asker`: a forest on 60 % of cmc; a fifth gets answers by `nice`, the rest is the population. How much of the private
columns of the person shown is right in the row of the asker, and among the 15 people outside who are most alike.

`chosen`: an insider holds the model and everybody's quasi-identifiers, asks as 64 applicants of German credit, gets
answers by `k_anonymous(nice, k=10, solver="mutual")`, and asks again as invented people: for each candidate of an
answer, that candidate's quasi-identifiers with the private values shown, moved towards the asker's until the model
denies them. `nice` shows the nearest row. So a candidate is ruled out who, with the private values shown, would have
been nearer to a question than the row shown there, or farther than another row that was shown elsewhere.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from jali.audit import guessing
from jali.core import registry
from jali.core.distance import distances, ranges
from jali.core.explanation import Counterfactual
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.defend.explain.k_anonymous import KAnonymous
from jali.explain.native.rows import predictions
from jali.explain.nice import NICE
from jali.models.sklearn import Sklearn

FOREST = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=30, max_depth=8")
ASKED, K, SEEDS = 64, 10, 5


def private(data: Dataset) -> Bools:
    """Columns (D,) that others do not know."""
    return np.array([column.role != "quasi" for column in data.schema.columns])


def parted(data: Dataset, rng: Rng) -> tuple[Dataset, Dataset, Dataset]:
    """60 % to train on, a fifth who ask, and the rest."""
    order = rng.permutation(len(data))
    first, second = int(0.6 * len(data)), int(0.8 * len(data))
    return data.rows(order[:first]), data.rows(order[first:second]), data.rows(order[second:])


def trained(train: Dataset, rng: Rng) -> Model:
    """A forest on all rows."""
    return FOREST.fit(train, np.ones((len(train), 1), dtype=bool), [rng])[0]


def asker(seed: int) -> tuple[float, float]:
    """Shares of private columns that are right: of the asker's row, and of the commonest values among the 15."""
    rng = np.random.default_rng(seed)
    train, asking, others = parted(registry.build("data", "cmc").load(), rng)
    answer = NICE(immutable="free").prepare(trained(train, rng), train.schema, train, rng).explain(asking.X, rng)
    assert answer.origin is not None
    own = asking.X[answer.found]
    person = train.X[answer.origin[answer.found]]
    alike = guessing.guessed(own, guessing.neighbours(person, others), np.zeros(len(own)))
    mine = private(train)
    return float((own == person)[:, mine].mean()), float((alike == person)[:, mine].mean())


@dataclass
class Answers:
    """What the insider has seen: questions, and for each the number of its answer; for each answer its candidates.

    rows: the hypothetical rows (c, D) of an answer's candidates; left (c,): who is not ruled out yet.
    """

    questions: Floats
    number: Ints
    people: list[Ints]
    rows: list[Floats]
    left: list[Bools]


def seen(answer: Counterfactual, questions: Floats, train: Dataset, showable: Bools) -> Answers:
    """Put equal answers together: the same region and the same private values."""
    assert answer.regions is not None
    mine = private(train)
    at = np.flatnonzero(answer.found)
    covers = answer.regions.pick(at).covers(train.X, np.flatnonzero(~mine)) & showable
    keys: dict[bytes, int] = {}
    number = [
        keys.setdefault(c.tobytes() + answer.rows[i, mine].tobytes(), len(keys))
        for c, i in zip(covers, at, strict=True)
    ]
    out = Answers(questions[at], np.array(number), [], [], [])
    for k in range(len(keys)):
        first = number.index(k)
        people = np.flatnonzero(covers[first])
        rows = np.where(mine, answer.rows[at[first]], train.X[people])
        out.people.append(people)
        out.rows.append(rows)
        out.left.append(np.ones(len(people), dtype=bool))
    return out


def ruled_out(known: Answers, train: Dataset) -> None:
    """Rule candidates out until nothing changes."""
    spans = ranges(train.schema, train.X)
    far = [distances(known.questions, rows, train.schema, spans) for rows in known.rows]
    before = -1
    while before != (now := sum(int(left.sum()) for left in known.left)):
        before = now
        least = np.stack([d[:, left].min(axis=1) for d, left in zip(far, known.left, strict=True)])
        most = np.stack([d[:, left].max(axis=1) for d, left in zip(far, known.left, strict=True)])
        nearest = most.min(axis=0)  # no row shown at a question is farther than this
        shown = least[known.number, np.arange(len(known.number))]  # the row shown is at least as far as this
        for k, distance in enumerate(far):
            here = known.number == k
            keep = (distance[here] <= nearest[here, None] + 1e-9).all(axis=0)
            keep &= (distance[~here] >= shown[~here, None] - 1e-9).all(axis=0)
            if (keep & known.left[k]).any():
                known.left[k] &= keep


def invented(known: Answers, first: Floats, model: Model, train: Dataset) -> Floats:
    """For each candidate of an answer a question that the model denies, near the hypothetical row."""
    mine = np.flatnonzero(private(train))
    out = []
    for k, rows in enumerate(known.rows):
        own = first[np.flatnonzero(known.number == k)[0]]
        for row in rows[:K]:
            question = row.copy()
            for j in mine:
                if predictions(model, question[None])[1][0] != train.schema.favourable:
                    break
                question[j] = own[j]
            out.append(question)
    return np.array(out)


def chosen(seed: int) -> tuple[int, int, int, int]:
    """Questions, answers of the first round, those that leave one person, and those of them who are the right one."""
    rng = np.random.default_rng(seed)
    train, asking, others = parted(registry.build("data", "german").load(), rng)
    model = trained(train, rng)
    everybody = np.concatenate([asking.X, others.X])
    first = everybody[predictions(model, everybody)[1] != train.schema.favourable][:ASKED]
    explainer = NICE(immutable="free")
    ready = KAnonymous(explainer, K, "mutual").prepare(model, train.schema, train, rng)
    showable = predictions(model, train.X)[1] == train.schema.favourable
    start = seen(ready.explain(first, rng), first, train, showable)
    questions = np.concatenate([first, invented(start, start.questions, model, train)])
    answer = ready.explain(questions, rng)
    known = seen(answer, questions, train, showable)
    ruled_out(known, train)
    assert answer.origin is not None
    origin = answer.origin[answer.found]
    about = range(len(start.people))  # the first questions come first, so their answers have the first numbers
    alone = [k for k in about if known.left[k].sum() == 1]
    right = sum(known.people[k][known.left[k]][0] == origin[np.flatnonzero(known.number == k)[0]] for k in alone)
    return len(questions), len(about), len(alone), int(right)


def main(what: str) -> None:
    """Print the numbers of one of them, over five seeds."""
    if what == "asker":
        found = np.array([asker(seed) for seed in range(SEEDS)])
        print(f"cmc, {SEEDS} forests: right in the asker's row {found[:, 0].mean():.2f} ({found[:, 0].min():.2f} to "
              f"{found[:, 0].max():.2f}), among the 15 outside {found[:, 1].mean():.2f}")  # fmt: skip
        return
    for seed in range(SEEDS):
        many, answers, alone, right = chosen(seed)
        print(f"german, seed {seed}: {many} questions; {alone} of {answers} answers of mutual leave one person alone, "
              f"{right} of them the right one", flush=True)  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "chosen")
