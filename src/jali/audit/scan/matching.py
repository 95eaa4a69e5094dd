"""Which rows of a table that was found are training rows, whatever the order and the form of its columns.

Columns are paired by name where names are known, else by their order, else by their values: first the pair that says
most, then for each further column the form under which most rows stay found. Rows are compared by hashes of all pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from jali.audit.scan.forms import Form, TrainingTable
from jali.audit.scan.pieces import Piece, Values
from jali.audit.scan.records import normal
from jali.core.values import Bools, Ints

Hashes = npt.NDArray[np.uint64]
SAMPLE = 300  # rows of a piece on which pairs of columns are tried
STARTS = 3  # pairs with which the search begins, each in turn
MANY = 50  # different values from which on a column of the training table is a number rather than a category
CONTAINED = 0.2  # least share of a column's values that must be training values, where there are many of these
COARSE = 0.95  # the same where there are few
STAYS = 0.5  # least share of the rows found that must stay found when a pair is added
COVERED = 0.8  # least share of a piece's columns that must be paired where these have no names
FEW = 3  # columns that must be paired where these have no names
UNIQUE = 0.02  # share of training rows that may have an equal one where columns have no names
COARSEST = 0.8  # the same where all rows are equal
WHOLE = 0.98  # share of rows that counts as all
LEAST = 10  # rows from which on columns without names are paired by their values
GOLDEN = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio


@dataclass(frozen=True, eq=False)
class Pair:
    """A column of a piece and the training column, in a form, that it is taken for; codes of both sides."""

    place: int
    form: Form
    found: Ints
    train: Ints


@dataclass(frozen=True, eq=False)
class Match:
    """Rows of a piece (r,) that equal training rows in all paired columns, or in all but one; people (N,) likewise.

    again (N,): training rows that equal another training row in the paired columns, as a new person's row might. fair
    (r,): rows that did not help to find the pairs. doubt: columns have no names, and rows are too coarse to tell.
    """

    pairs: tuple[Pair, ...]
    rows: Bools
    people: Bools
    again: Bools
    nearly: Bools
    nearly_people: Bools
    nearly_again: Bools
    fair: Bools
    doubt: bool = False

    @property
    def forms(self) -> str:
        """The forms of the paired columns, in words."""
        return ", ".join(sorted({pair.form.kind for pair in self.pairs}))

    @property
    def columns(self) -> int:
        """How many training columns are in it."""
        return len({pair.form.column for pair in self.pairs})


def match(piece: Piece, train: TrainingTable) -> Match | None:
    """The training rows in a piece; None where its columns are not those of the training table."""
    fair = np.ones(piece.rows, dtype=bool)
    pairs = _by_name(piece, train) if piece.names is not None else []
    named = _columns(pairs) >= 2
    if not named:
        pairs = _by_order(piece, train)
    if not pairs and piece.rows >= LEAST and FEW <= len(piece.columns) <= len(train.forms):
        used = np.unique(np.linspace(0, piece.rows - 1, min(SAMPLE, piece.rows // 2)).astype(np.int64))
        pairs = _by_value(piece, train, used)
        fair[used] = False
    if _columns(pairs) < min(2, len(train.names)):
        return None
    found = _compared(tuple(pairs), fair)
    return found if named else _without_names(found)


def _without_names(found: Match) -> Match:
    """Columns without names may be the wrong ones; coarse rows then fit, or nearly fit, for no reason.

    So rows that are nearly equal do not count, and equal ones only if training rows hardly ever equal each other, or if
    all columns are there in their order and all rows are equal.
    """
    again = float(found.again.mean())
    whole = bool(found.fair.all()) and float(found.rows.mean()) >= WHOLE and again <= COARSEST
    nobody = np.zeros_like(found.nearly)
    return replace(found, nearly=nobody, nearly_people=np.zeros_like(found.again), doubt=again > UNIQUE and not whole)


def _columns(pairs: Sequence[Pair]) -> int:
    """How many training columns are paired."""
    return len({pair.form.column for pair in pairs})


def _by_name(piece: Piece, train: TrainingTable) -> list[Pair]:
    """Pairs of columns with the same name, each in the form that holds most of its values."""
    out = []
    for place, name in enumerate(piece.names or ()):
        mine = [form for form in train.forms if _named(normal(name), form, train)]
        best = _best(place, piece.columns[place], mine)
        if best is not None:
            out.append(best)
        elif mine:  # the column is there, and none of its values is a training value
            nowhere = np.full(piece.rows, -1)
            out.append(Pair(place, mine[0], nowhere, np.searchsorted(mine[0].levels, mine[0].values)))
    return out


def _named(name: str, form: Form, train: TrainingTable) -> bool:
    """Whether a name is that of a training column, or of a category of it, also behind a transformer's prefix."""
    column = train.names[form.column]
    if form.kind == "one-hot":
        marked = f"{column} {normal(form.category)}"
        return name.endswith(marked) or name == f"{column}={normal(form.category)}"
    return name == column or name.endswith(f" {column}")


def _best(place: int, found: Values, forms: Iterable[Form]) -> Pair | None:
    """The form that holds most values of a column; None if it holds few."""
    most = 0.0
    best = None
    for form in forms:
        if form.text and found.dtype.kind == "f":
            continue
        mine, theirs = form.lookup(found)
        share = float((mine >= 0).mean())
        if share > most and share >= min(CONTAINED, 1 / len(found)):
            most = share
            best = Pair(place, form, mine, theirs)
    return best


def _by_order(piece: Piece, train: TrainingTable) -> list[Pair]:
    """Pairs in the order of the training columns: all of them, all but the last, or those that are numbers."""
    wide = len(piece.columns)
    every = list(range(len(train.names)))
    numbers = [j for j in every if train.raw[j].dtype.kind == "f"]
    for order in (every, every[:-1], numbers, numbers[:-1]):
        if wide != len(order) or wide < FEW:
            continue
        pairs = []
        for place, column in enumerate(piece.columns):
            mine = [f for f in train.forms if f.column == order[place] and f.kind != "one-hot"]
            best = _best(place, column, mine)
            if best is None or (best.found >= 0).mean() < _needed(best.form):
                break
            pairs.append(best)
        if len(pairs) == wide and _known(pairs).any():
            return pairs
    return []


def _needed(form: Form) -> float:
    """The share of a column's values that must be values of a form."""
    return CONTAINED if len(form.levels) > MANY else COARSE


def _by_value(piece: Piece, train: TrainingTable, rows: Ints) -> list[Pair]:
    """Pairs found by the values of some rows: the search begins with each of the pairs that say most."""
    columns = {j: c[rows] for j, c in enumerate(piece.columns) if np.any(c[rows] != c[rows][0])}
    tried = _candidates(columns, train)
    if len(tried) < max(FEW, COVERED * len(columns)):
        return []
    starts = [max(some, key=_says) for some in tried.values()]
    best: list[Pair] = []
    gain = 0.0
    for start in sorted(starts, key=_says, reverse=True)[:STARTS]:
        pairs = _grown(start, tried)
        found = float(_known(pairs).mean()) * sum(map(_says, pairs))
        if found > gain and len(pairs) >= max(FEW, COVERED * len(columns)):
            best = pairs
            gain = found
    return [Pair(p.place, p.form, *p.form.lookup(piece.columns[p.place])) for p in best]


def _says(pair: Pair) -> float:
    """How much a pair says about whose row it is, in bits: the entropy of the values found that are training values."""
    known = pair.found[pair.found >= 0]
    share = np.unique(known, return_counts=True)[1] / max(1, len(known))
    return float(-(share * np.log2(share)).sum()) * len(known) / len(pair.found)


def _candidates(columns: Mapping[int, Values], train: TrainingTable) -> dict[int, list[Pair]]:
    """By column, the forms that hold enough of its values."""
    out: dict[int, list[Pair]] = {}
    for place, column in columns.items():
        numbers = column.dtype.kind == "f"
        if numbers and not np.isfinite(column).all():
            continue
        few = len(np.unique(column)) <= 2
        for form in train.forms:
            if form.text == numbers or (form.kind == "one-hot" and not few) or form.bits == 0:
                continue
            if numbers and not few and len(form.levels) <= 2:
                continue
            mine, theirs = form.lookup(column)
            if (mine >= 0).mean() >= _needed(form):
                out.setdefault(place, []).append(Pair(place, form, mine, theirs))
    return out


def _grown(start: Pair, tried: Mapping[int, list[Pair]]) -> list[Pair]:
    """Pair one column after the other, those that say most first, with the form that keeps most rows found."""
    pairs = [start]
    mine, theirs = _hashes(pairs)
    found = start.found >= 0
    taken = _taken(start)
    order = sorted((place for place in tried if place != start.place), key=lambda j: -max(map(_says, tried[j])))
    for place in order:
        # Only training rows that still equal some row matter, and these become few.
        alive = np.isin(theirs, mine[found])
        best: tuple[tuple[float, float], Pair, Bools] | None = None
        for pair in tried[place]:
            if taken & _taken(pair):
                continue
            sums = mine + _summed([(place, pair.found)])
            now = found & (pair.found >= 0) & np.isin(sums, theirs[alive] + _summed([(place, pair.train[alive])]))
            rank = (float(now.sum()), -abs(place - pair.form.column))
            if best is None or rank > best[0]:
                best = (rank, pair, now)
        if best is not None and best[0][0] >= max(1.0, STAYS * found.sum()):
            pairs.append(best[1])
            taken |= _taken(best[1])
            found = best[2]
            mine, theirs = _hashes(pairs)
    return pairs


def _taken(pair: Pair) -> set[tuple[int, str]]:
    """What a pair uses up: a training column, or one category of it."""
    if pair.form.kind == "one-hot":
        return {(pair.form.column, pair.form.category)}
    return {(pair.form.column, "")}


def _known(pairs: Sequence[Pair]) -> Bools:
    """Rows of the piece that equal a training row in all pairs."""
    there = np.all([pair.found >= 0 for pair in pairs], axis=0)
    mine, theirs = _hashes(pairs)
    return np.asarray(there & np.isin(mine, theirs))


def _compared(pairs: tuple[Pair, ...], fair: Bools) -> Match:
    """Rows that are equal in all pairs, and in all but one."""
    mine, theirs = _hashes(pairs)
    missing = np.sum([pair.found < 0 for pair in pairs], axis=0)
    rows = (missing == 0) & np.isin(mine, theirs)
    nearly = rows.copy()
    again = _repeated(theirs)
    nearly_again = again.copy()
    nearly_people = np.zeros(len(theirs), dtype=bool)
    one_hot = any(pair.form.kind == "one-hot" for pair in pairs)
    if len(pairs) > FEW and not one_hot:
        for pair in pairs:
            own = _hashes([pair])
            less = theirs - own[1]
            here = ~rows & (missing <= (pair.found < 0)) & np.isin(mine - own[0], less)
            nearly |= here
            nearly_people |= np.isin(less, (mine - own[0])[here])
            nearly_again |= _repeated(less)
    people = np.isin(theirs, mine[rows])
    return Match(pairs, rows, people, again, nearly & ~rows, nearly_people, nearly_again & ~again, fair)


def others_found(pairs: Sequence[Pair], others: Sequence[Values]) -> Bools:
    """Which of other people's rows equal training rows in the paired columns; others: their columns, each (n,)."""
    codes = [pair.form.lookup(pair.form.of_others(others[pair.form.column]))[0] for pair in pairs]
    there = np.all([code >= 0 for code in codes], axis=0)
    mine = _summed([(pair.place, code) for pair, code in zip(pairs, codes, strict=True)])
    return np.asarray(there & np.isin(mine, _hashes(pairs)[1]))


def _repeated(keys: Hashes) -> Bools:
    """Which keys occur more than once."""
    _, place, count = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(count[place] > 1)


def _hashes(pairs: Sequence[Pair]) -> tuple[Hashes, Hashes]:
    """Hashes of the rows of a piece and of the training rows: a sum over pairs, so that one can be taken off again."""
    return _summed([(p.place, p.found) for p in pairs]), _summed([(p.place, p.train) for p in pairs])


def _summed(columns: Sequence[tuple[int, Ints]]) -> Hashes:
    total = np.zeros(len(columns[0][1]), dtype=np.uint64)
    for place, codes in columns:
        offset = np.uint64((place + 1) * GOLDEN % 2**64)
        total += _mixed(codes.astype(np.uint64) + offset)
    return total


def _mixed(x: Hashes) -> Hashes:
    """SplitMix64, which spreads neighbouring numbers over all 64 bits (Steele, Lea and Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(x ^ (x >> np.uint64(31)))
