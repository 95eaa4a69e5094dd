"""A scan: everything found, place by place, compared with the training rows and with chance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import betainc, gammainc

from jali.audit.scan import known
from jali.audit.scan.counts import small
from jali.audit.scan.forms import TrainingTable
from jali.audit.scan.matching import Match, match, others_found
from jali.audit.scan.pieces import Counts, Piece, Values
from jali.audit.scan.walk import Found
from jali.core.values import Bools
from jali.results.scan import Place, SmallCounts

ERROR = 0.005  # probability of calling other people's rows at one place a leak; equal and nearly equal rows share 1 %


@dataclass
class Expected:
    """How many rows would equal training rows if all were other people's: a rate that was itself estimated.

    Of n people k do; with the prior of Jeffreys the rate is Beta(k + 1/2, n - k + 1/2), so that the count of equal rows
    among r has mean r (k + 1/2) / (n + 1), and is about negative binomial with shape k + 1/2.
    """

    mean: float = 0.0
    shape: float = 0.5

    def add(self, equal: int, people: int, rows: int, pairs: bool = False) -> None:
        """Rows of one more table; pairs: people were compared with each other, so that two equal ones count once."""
        self.mean += rows * (equal + 0.5) / (people + 1)
        self.shape = max(self.shape, (equal / 2 if pairs else equal) + 0.5)

    def exceeded(self, rows: int) -> bool:
        """Whether so many equal rows have a probability below 0.5 % by chance.

        >>> Expected(0.002).exceeded(1), Expected(0.9).exceeded(7), Expected(30.0, 20.5).exceeded(35)
        (True, False, False)
        """
        if rows == 0:
            return False
        scale = self.mean / self.shape
        return bool(float(betainc(rows, self.shape, scale / (1 + scale))) < ERROR)


@dataclass(eq=False)
class Tally:
    """What was found at one place, over all tables there; fair: rows that did not help to pair the columns."""

    people: Bools
    nearly_people: Bools
    library: str = ""
    rows: int = 0
    nearly: int = 0
    of: int = 0
    fair: int = 0
    nearly_fair: int = 0
    chance: float = 0.0
    expected: Expected = field(default_factory=Expected)
    nearly_expected: Expected = field(default_factory=Expected)
    columns: int = 0
    forms: set[str] = field(default_factory=set)

    def add(self, piece: Piece, found: Match, others: Sequence[Values] | None) -> None:
        """Count the rows of one table; chance is the share of other people, or of training rows, with equal rows."""
        equal = found.again if others is None else others_found(found.pairs, others)
        share = float(equal.mean())
        self.of += piece.rows
        self.rows += int(found.rows.sum())
        self.nearly += int(found.nearly.sum())
        self.chance += share * piece.rows
        fair = int(found.fair.sum())
        self.fair += int((found.rows & found.fair).sum())
        self.nearly_fair += int((found.nearly & found.fair).sum())
        self.expected.add(int(equal.sum()), len(equal), fair, others is None)
        self.nearly_expected.add(int(found.nearly_again.sum()), len(found.nearly_again), fair, pairs=True)
        self.people |= found.people
        self.nearly_people |= found.nearly_people
        self.columns = max(self.columns, found.columns)
        self.forms.add(found.forms)
        self.library = self.library or piece.library

    def place(self, where: str) -> Place | None:
        """The result, None where nothing equals a training row."""
        leak = self.expected.exceeded(self.fair)
        nearly = self.nearly if self.nearly_expected.exceeded(self.nearly_fair) else 0
        if not self.rows and not nearly:
            return None
        if nearly:
            self.people |= self.nearly_people
        what, fix = known.advice(where, self.library)
        return Place(
            where=where,
            library=known.library_of(where, self.library),
            what=what,
            of=self.of,
            rows=self.rows,
            people=int(self.people.sum()),
            nearly=nearly,
            chance=self.chance,
            columns=self.columns,
            form="; ".join(sorted(self.forms)),
            leak=leak or nearly > 0,
            open=not leak and not nearly and self.rows > 0 and _unlikely(self.rows, self.chance),
            fix=fix if leak or nearly else "",
        )


@dataclass(eq=False)
class Compared:
    """All places of a scan. people (N,): training rows that lie at a place with more of them than chance explains.

    doubtful: tables without names of columns whose rows are too coarse to tell.
    """

    places: list[Place]
    counts: list[SmallCounts]
    people: Bools
    tables: int
    doubtful: int


def _unlikely(rows: int, expected: float) -> bool:
    """Whether so many equal rows would be unlikely if the expected number were known: P(Poisson >= rows) < 1 %."""
    return expected <= 0 or float(gammainc(rows, expected)) < ERROR


def compared(found: Iterable[Found], train: TrainingTable, others: Sequence[Values] | None = None) -> Compared:
    """Everything found, compared with the training rows; others: other people's columns, in the order of the table."""
    tallies: dict[str, Tally] = {}
    counts: dict[str, list[Counts]] = {}
    tables = 0
    doubtful = 0
    for thing in found:
        if isinstance(thing, Counts):
            counts.setdefault(thing.where, []).append(thing)
            continue
        tables += 1
        matched = match(thing, train)
        if matched is not None and matched.doubt:
            doubtful += int(matched.rows.any())
        elif matched is not None:
            tally = tallies.setdefault(thing.where, Tally(*np.zeros((2, train.rows), dtype=bool)))
            tally.add(thing, matched, others)
    places = {where: tally.place(where) for where, tally in tallies.items()}
    kept = {where: place for where, place in places.items() if place is not None}
    people = np.zeros(train.rows, dtype=bool)
    for where, place in kept.items():
        if place.leak:
            people |= tallies[where].people
    order = sorted(kept.values(), key=lambda place: (not place.leak, -place.rows))
    return Compared(order, [_small(where, some) for where, some in counts.items()], people, tables, doubtful)


def _small(where: str, some: list[Counts]) -> SmallCounts:
    values = np.concatenate([counts.values for counts in some])
    library = next((counts.library for counts in some if counts.library), "")
    few = small(values)
    fix = known.advice(where, library)[1] if few and library else ""
    return SmallCounts(where=where, library=library, counts=len(values), small=few, fix=fix)
