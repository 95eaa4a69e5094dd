"""The replay of a log: what each recipient, and all of them together, can conclude after every answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jali.audit.exposure.log import Known, Log
from jali.core.explanation import Regions
from jali.core.values import Bools, Floats, Ints
from jali.results.exposure import Exposure, Moment, Recipient, Status

BLOCK = 1 << 24  # pairs of an answer and a person compared at once
AFTER = (10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000)
Packed = npt.NDArray[np.uint8]
NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Sent:
    """Of each different answer, who of the register (R,) and of the training people (N,) fits; eight people a byte.

    kind (m,): answers with the same private values have the same number. twin (m,): equal answers likewise, which is
    their row in candidates and owners.
    """

    candidates: Packed
    owners: Packed
    kind: Ints
    twin: Ints
    sizes: tuple[int, int]

    def fits(self, answer: int) -> Bools:
        """Who of the register (R,) fits an answer."""
        return np.unpackbits(self.candidates[self.twin[answer]], count=self.sizes[0]).astype(bool)

    def owns(self, answer: int) -> Bools:
        """Which training rows (N,) fit an answer in all columns."""
        return np.unpackbits(self.owners[self.twin[answer]], count=self.sizes[1]).astype(bool)

    def about(self, rows: Ints) -> Bools:
        """Which answers (m,) fit one of some training rows."""
        bit = (self.owners[:, rows // 8] >> (7 - rows % 8)) & 1
        return np.asarray(np.asarray(bit.any(axis=1))[self.twin])

    def shown(self) -> Bools:
        """Which training rows (N,) fit some answer."""
        return np.unpackbits(np.bitwise_or.reduce(self.owners, axis=0), count=self.sizes[1]).astype(bool)


def replay(known: Known, log: Log, person: int | None, show: bool) -> Exposure:
    """Who can be singled out, over time, by each recipient and by all together.

    An observer puts answers with the same private values together, as being about one person, and keeps the people of
    the register who fit all of them (Ganta et al. 2008). A person is singled out where one is left who is the person
    whose row was shown.
    """
    sent = _sent(known, log)
    everybody = np.arange(len(log.recipient))
    each = [_singled(known, sent, np.flatnonzero(log.recipient == r)) for r in range(len(log.names))]
    first = np.min([found for found, _ in each], axis=0)
    together, wrong = _singled(known, sent, everybody)
    together = np.minimum(together, first)  # nobody forgets what one recipient knows
    shown = np.unique(known.person[sent.shown()])
    people = len(np.unique(known.person))
    return Exposure(
        answers=len(everybody),
        people=people,
        quasi=[c.name for c, q in zip(known.schema.columns, known.quasi, strict=True) if q],
        shown=len(shown),
        alone=int((first < NEVER).sum()),
        together=int((together < NEVER).sum()),
        wrong=wrong,
        timeline=[
            _moment(n, first, together, log) for n in [a for a in AFTER if a < len(everybody)] + [len(everybody)]
        ],
        recipients=_recipients(log, [found for found, _ in each], show),
        person=None if person is None else _status(person, known, sent, log, [found for found, _ in each], together),
    )


def _sent(known: Known, log: Log) -> Sent:
    """Who fits each answer."""
    quasi = np.flatnonzero(known.quasi)
    wide = np.zeros((len(known.register), len(known.quasi)))
    wide[:, quasi] = known.register
    twin = log.regions.kinds()
    different = log.regions.pick(np.unique(twin, return_index=True)[1])
    candidates = np.concatenate(list(_covered(different, wide, quasi)))
    owners = np.concatenate(list(_covered(different, known.train, None)))
    kind = log.regions.kinds(~known.quasi)
    return Sent(candidates, owners, kind, twin, (len(wide), len(known.train)))


def _covered(regions: Regions, X: Floats, columns: Ints | None) -> Iterator[Packed]:
    """Which people fit each answer, block by block."""
    size = max(1, BLOCK // max(1, len(X)))
    for start in range(0, len(regions), size):
        some = regions.pick(np.arange(start, min(start + size, len(regions))))
        yield np.packbits(some.covers(X, columns), axis=1)


def _singled(known: Known, sent: Sent, answers: Ints) -> tuple[Ints, int]:
    """Of each person (P,) the answer after which an observer of some answers singles them out; and wrong conclusions.

    Where nobody fits all answers with the same private values, they are about several people, and a new start is made.
    """
    first = np.full(int(known.person.max()) + 1, NEVER)
    left: dict[int, tuple[Bools, Bools]] = {}
    wrong: set[int] = set()
    _, new = np.unique(sent.twin[answers], return_index=True)  # the same answer again says nothing new
    for i in answers[np.sort(new)].tolist():
        kind = int(sent.kind[i])
        fits = sent.fits(i)
        owns = sent.owns(i)
        if kind in left and (left[kind][0] & fits).any():
            fits = left[kind][0] & fits
            owns = left[kind][1] & owns
        left[kind] = (fits, owns)
        if np.count_nonzero(fits) == 1:
            right = owns & _same(known, int(fits.argmax()))
            whose = known.person[right]
            first[whose] = np.minimum(first[whose], i)
            if not len(whose):
                wrong.add(i)
    return first, len(wrong)


def _same(known: Known, row: int) -> Bools:
    """Training rows (N,) with the known columns of a person of the register."""
    return np.asarray((known.train[:, known.quasi] == known.register[row]).all(axis=1))


def _moment(answers: int, first: Ints, together: Ints, log: Log) -> Moment:
    """Counts after some answers."""
    until = log.time[answers - 1] if answers else ""
    return Moment(
        answers=answers, until=until, alone=int((first < answers).sum()), together=int((together < answers).sum())
    )


def _recipients(log: Log, each: list[Ints], show: bool) -> list[Recipient]:
    """Recipients from the one who can single out most; their names only where asked for."""
    people = [int((found < NEVER).sum()) for found in each]
    order = sorted(range(len(each)), key=lambda r: -people[r])
    return [
        Recipient(
            name=log.names[r] if show else f"recipient {place}",
            answers=int((log.recipient == r).sum()),
            people=people[r],
        )
        for place, r in enumerate(order, start=1)
    ]


def _status(person: int, known: Known, sent: Sent, log: Log, each: list[Ints], together: Ints) -> Status:
    """What was sent about one person."""
    about = sent.about(np.flatnonzero(known.person == person))
    when = int(together[person])
    return Status(
        answers=int(about.sum()),
        recipients=len(np.unique(log.recipient[about])),
        singled_out_by=sum(int(found[person] < NEVER) for found in each),
        together=when < NEVER,
        first_answer=None if when == NEVER else when + 1,
        since="" if when == NEVER else log.time[when],
    )
