"""Guesses of a person's private values, without an explanation and with one."""

from __future__ import annotations

import numpy as np

from jali.core.distance import nearest, ranges
from jali.core.encoding import Encoding
from jali.core.values import Bools, Dataset, Floats, Schema

NEIGHBOURS = 15  # similar people from whom private values are guessed
LEAF = 5  # least number of people in a leaf of the trees that predict private values
COMMON = 50  # values of a private column that these trees predict


def without(quasi: Floats, asker: Floats, population: Dataset) -> list[Floats]:
    """Guesses (n, D) of the rows of people whose quasi-identifiers are known, from each of three sources.

    quasi (n, D): rows whose private values are not read. asker (n, D): the rows of those who asked. The sources are the
    commonest values among the 15 people of the population who are most alike, a decision tree for each private column
    that was trained on the population, and the row of the person who asked, who is often like the one shown.
    """
    if not len(population):
        return [asker]
    return [guessed(asker, neighbours(quasi, population), np.zeros(len(quasi))), _predicted(quasi, population), asker]


def with_explanation(shown: Floats, sure: Floats, quasi: Floats, population: Dataset) -> list[Floats]:
    """Guesses (n, D) that read the values shown: as they are, or as one vote of weight sure (n,) beside neighbours'."""
    return [guessed(shown, neighbours(quasi, population), sure), shown]


def strongest(guesses: list[Floats], person: Floats) -> Floats:
    """For each column, the guess (n, D) that is right most often about other people; person (n, D): the truth.

    Each half of the people is guessed by the source that did best on the other half, so that no source is chosen by
    what it is graded on. Of equally good ones, and where there is nobody else, the first is taken.
    """
    right = np.stack([guess == person for guess in guesses])
    values = np.stack(guesses)
    out = np.empty_like(person)
    for half in (slice(0, None, 2), slice(1, None, 2)):
        other = slice(1, None, 2) if half.start == 0 else slice(0, None, 2)
        best = right[:, other].sum(axis=1).argmax(axis=0)
        out[half] = values[best, half, np.arange(person.shape[1])].T
    return out


def neighbours(people: Floats, population: Dataset) -> Floats:
    """Those of the population (n, k, D) who are nearest to people (n, D) in quasi-identifiers."""
    schema = population.schema
    rest = population.X
    if not len(people) or not len(rest):
        return np.zeros((len(people), 0, people.shape[1]))
    quasi = _quasi(schema)
    here = np.where(quasi, people, 0.0)
    others = np.where(quasi, rest, 0.0)
    return np.asarray(rest[nearest(here, others, schema, ranges(schema, rest), min(NEIGHBOURS, len(rest)))[0]])


def guessed(shown: Floats, near: Floats, sure: Floats) -> Floats:
    """The value of each column (n, D) with most weight: sure (n,) for the one shown, the rest shared among neighbours.

    Among values of equal weight the first one counts: nearest neighbours first, then the one shown.
    """
    each = (1 - sure[:, None]) / max(1, near.shape[1])
    weight = np.concatenate([np.broadcast_to(each, near.shape[:2]), sure[:, None]], axis=1)
    values = np.concatenate([near, shown[:, None]], axis=1)
    out = np.empty_like(shown)
    for j in range(shown.shape[1]):
        mine = values[:, :, j]
        votes = ((mine[:, :, None] == mine[:, None, :]) * weight[:, None, :]).sum(axis=2)
        out[:, j] = np.take_along_axis(mine, votes.argmax(axis=1)[:, None], axis=1)[:, 0]
    return out


def _predicted(people: Floats, population: Dataset) -> Floats:
    """Private values (n, D) that decision trees predict from quasi-identifiers; each predicts the commonest values."""
    from sklearn.tree import DecisionTreeClassifier

    encoding = Encoding(population.schema)
    quasi = _quasi(population.schema)
    read = quasi[encoding.source]
    known = encoding.encode(population.X)[:, read]
    asked = encoding.encode(people)[:, read]
    out = people.copy()
    for j in np.flatnonzero(~quasi):
        common = _common(population.X[:, j])
        if not read.any() or len(common) < 2 or not len(people):
            out[:, j] = common[0]
            continue
        mine = np.isin(population.X[:, j], common)
        names, codes = np.unique(population.X[mine, j], return_inverse=True)
        tree = DecisionTreeClassifier(min_samples_leaf=LEAF, random_state=0).fit(known[mine], codes)
        out[:, j] = names[tree.predict(asked)]
    return out


def _common(column: Floats) -> Floats:
    """The commonest values of a column (n,), the commonest first; those of one person only if there are no others."""
    values, count = np.unique(column, return_counts=True)
    order = np.argsort(-count, kind="stable")
    many = order[count[order] > 1] if count.max() > 1 else order[:1]
    return np.asarray(values[many[:COMMON]])


def _quasi(schema: Schema) -> Bools:
    """Which columns (D,) are quasi-identifiers."""
    return np.array([c.role == "quasi" for c in schema.columns], dtype=bool)
