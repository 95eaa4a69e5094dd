"""The attack on a released set: scores of candidates, judged with intervals, in groups, and as the release grows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from jali.audit.released_sets.matches import equal_rows, matches
from jali.audit.released_sets.scores import scores
from jali.audit.released_sets.spaces import Space, space
from jali.core.errors import JaliError
from jali.core.guesses import Guesses
from jali.core.values import Bools, Floats, Ints, Rng
from jali.data.tables.aligned import Aligned
from jali.results import Row
from jali.results.released import Coverage, ReleasedSet
from jali.stats.intervals import estimate

METRICS = ("auc", "tpr@0.01", "tpr@0.001")
CHANCE = {"tpr@0.01": 0.01, "auc": 0.5}  # metrics that the answer may be about, the first that is clear
GROWING = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 25600)
FEWEST = 20  # people on either side of a comparison, and in the reference
BY_DISTANCE = ("distance", "calibrated")  # scores that are followed as the release grows
CANDIDATES, RELEASED, REFERENCE = "candidates", "released", "reference"


@dataclass(frozen=True, eq=False)
class People:
    """What is known of the candidates (n,): membership, whose row it is, and the class of each; None or empty if not.

    favourable: the name of the class that people hope for.
    """

    member: Bools | None = None
    person: Ints | None = None
    label: npt.NDArray[np.str_] | None = None
    favourable: str = ""

    def pick(self, rows: Ints) -> People:
        """The chosen candidates."""
        member = None if self.member is None else self.member[rows]
        person = None if self.person is None else self.person[rows]
        return replace(self, member=member, person=person, label=None if self.label is None else self.label[rows])


@dataclass(frozen=True, eq=False)
class Judged:
    """Everything that is compared: rows of candidates and, without membership, of people of the reference after them.

    truth (n,): who is taken for a member; group (n,): whose row it is.
    """

    tables: Aligned
    space: Space
    X: Floats
    codes: Ints
    calibration: Ints
    truth: Bools
    group: Ints
    label: npt.NDArray[np.str_] | None
    seed: int
    scores: dict[str, Floats] = field(default_factory=dict)


def attack(
    tables: Aligned, people: People, distance: str = "heom", seed: int = 0
) -> tuple[ReleasedSet, dict[str, Floats]]:
    """What a release says about candidates, and the scores (n,) of the complete candidates by name."""
    if people.favourable and people.label is not None and people.favourable not in people.label:
        known = ", ".join(map(repr, np.unique(people.label)[:5].tolist()))
        raise JaliError(f"No candidate has the favourable class {people.favourable!r}; there are {known}.")
    judged = _judged(tables, people.pick(tables.at[CANDIDATES]), distance, seed)
    rng = np.random.default_rng(seed)
    rows = [row for name, score in judged.scores.items() for row in _rows(name, score, judged, rng)]
    candidates = len(tables.rows[CANDIDATES])
    found = ReleasedSet(
        judged=people.member is not None,
        distance=distance,
        facts=_facts(tables, judged, people.member is not None),
        rows=rows,
        favourable=people.favourable,
        best=_best(judged, rows, people.favourable, rng),
        matches=matches(tables, None if people.member is None else judged.truth, judged.group[:candidates]),
        coverage=_coverage(judged, rows, rng),
        notes=[*tables.notes, *_cautions(people, judged)],
    )
    return found, {name: score[:candidates] for name, score in judged.scores.items()}


def _judged(tables: Aligned, people: People, distance: str, seed: int) -> Judged:
    """The comparison: members with non-members, or all candidates with half of the reference."""
    X = tables.rows[CANDIDATES]
    R = tables.rows[REFERENCE]
    codes = {name: tables.codes(name) for name in (CANDIDATES, RELEASED, REFERENCE)}
    _enough(people, len(X), len(R))
    kept = np.arange(len(R))
    truth = np.ones(len(X), dtype=bool) if people.member is None else people.member
    group = np.arange(len(X)) if people.person is None else people.person
    mine = codes[CANDIDATES]
    if people.member is None:
        # People of the reference are at distance zero of themselves: half of them calibrate, the others are compared.
        order = np.random.default_rng(seed).permutation(len(R))
        kept, null = order[: len(R) // 2], order[len(R) // 2 :]
        X = np.concatenate([X, R[null]])
        mine = np.concatenate([mine, codes[REFERENCE][null]])
        truth = np.concatenate([truth, np.zeros(len(null), dtype=bool)])
        group = np.concatenate([group, group.max() + 1 + np.arange(len(null))])
    where = space(distance, tables.schema)
    known: Mapping[str, Ints] = {
        CANDIDATES: mine,
        RELEASED: codes[RELEASED],
        REFERENCE: codes[REFERENCE][kept],
    }
    found = scores(where, X, tables.rows[RELEASED], R[kept], known)
    label = people.label if people.member is not None else None
    return Judged(tables, where, X, mine, kept, truth, group, label, seed, found)


def _enough(people: People, candidates: int, reference: int) -> None:
    """Refuse to compare with too few people."""
    if reference < 2 * FEWEST:
        raise JaliError(
            f"The reference has {reference} complete rows; at least {2 * FEWEST} are needed to compare with."
        )
    if people.member is None:
        return
    members = int(people.member.sum())
    if min(members, candidates - members) < FEWEST:
        raise JaliError(
            f"Of the candidates {members} are members and {candidates - members} are not; at least {FEWEST} of either "
            "are needed: leave --member out to rank candidates without judging."
        )


def _groups(judged: Judged) -> Iterable[tuple[str, Bools]]:
    """Everybody, then each class."""
    yield "", np.ones(len(judged.truth), dtype=bool)
    if judged.label is not None:
        for name in np.unique(judged.label):
            yield str(name), judged.label == name


def _rows(name: str, score: Floats, judged: Judged, rng: Rng) -> list[Row]:
    """The rows of one score, for everybody and for each class."""
    out = []
    for group, some in _groups(judged):
        for metric in METRICS:
            out.append(_row(name, metric, score[some], judged, some, rng, group=group))
    return out


def _row(
    name: str, metric: str, score: Floats, judged: Judged, some: Bools, rng: Rng, level: float = 0.95, group: str = ""
) -> Row:
    """One metric of one score of some people, with its interval."""
    truth = judged.truth[some]
    at = np.flatnonzero(some)
    found, how = estimate(metric, Guesses(score, truth, np.zeros_like(at), at, judged.group[some]), rng, level)
    return Row(
        kind="attack",
        learns="membership",
        attack=name,
        metric=metric,
        group=group,
        value=found.value,
        low=found.low,
        high=found.high,
        units=found.units,
        reason=found.reason,
        interval=how.replace("this model", "this release"),
        n=len(at),
        base_rate=float(truth.mean()) if len(at) else None,
    )


def _best(judged: Judged, rows: list[Row], favourable: str, rng: Rng) -> list[Row]:
    """The strongest attack on everybody and on each class: at 1 % false positives, or in AUC where only that is clear.

    Levels are corrected for the choice among attacks, of the two metrics, and among classes (Bonferroni).
    """
    groups = dict(_groups(judged))
    order = sorted(groups, key=lambda group: (group != "", group != favourable, group))
    out = []
    for group in order:
        choices = len(judged.scores) * len(CHANCE) * (len(groups) - 1 if group else 1)
        tops = []
        for metric in CHANCE:
            mine = [r for r in rows if r.group == group and r.metric == metric and r.value is not None]
            if mine:
                top = max(mine, key=lambda row: row.value or 0.0).attack
                score = judged.scores[top][groups[group]]
                tops.append(_row(top, metric, score, judged, groups[group], rng, 1 - 0.05 / choices, group))
        clear = [row for row in tops if (row.low or 0.0) > CHANCE[row.metric]]
        out += [*clear, *tops][:1]
    return out


def _coverage(judged: Judged, rows: list[Row], rng: Rng) -> list[Coverage]:
    """The stronger of the two scores by distance as the release grows, its rows in random order."""
    G = judged.tables.rows[RELEASED]
    order = np.random.default_rng(judged.seed).permutation(len(G))
    sizes = [s for s in GROWING if s < len(G)] + [len(G)]
    rate = {row.attack: row.value or 0.0 for row in rows if row.metric == "tpr@0.01" and not row.group}
    name = max(BY_DISTANCE, key=lambda score: rate[score])
    base = judged.scores["calibrated"] - judged.scores["distance"] if name == "calibrated" else np.zeros(len(judged.X))
    near = np.full(len(judged.X), np.inf)
    codes = judged.tables.codes(RELEASED)[order]
    everybody = np.ones(len(judged.truth), dtype=bool)
    out = []
    before = 0
    for size in sizes:
        near = np.minimum(near, judged.space.nearest(judged.X, G[order[before:size]])[:, 0])
        exact = int((equal_rows(judged.codes, codes[:size]) & judged.truth).sum())
        rate_here = _row(name, "tpr@0.01", base - near, judged, everybody, rng)
        out.append(Coverage(released=size, rate=rate_here, exact=exact))
        before = size
    return out


def _facts(tables: Aligned, judged: Judged, has_members: bool) -> dict[str, int]:
    """The sizes of what was compared."""
    facts = {"columns compared": len(tables.schema.columns), "released rows": len(tables.rows[RELEASED])}
    facts |= {"candidates": len(tables.rows[CANDIDATES]), "reference": len(tables.rows[REFERENCE])}
    return facts | ({"members": int(judged.truth.sum())} if has_members else {})


def _cautions(people: People, judged: Judged) -> list[str]:
    """What the reader must keep in mind about the comparison itself."""
    if people.member is None:
        return [
            "Membership was not given, so candidates are compared with people of the reference: where the candidates "
            "differ from the reference for other reasons, that shows here too."
        ]
    shared = equal_rows(judged.codes, judged.tables.codes(REFERENCE))
    if shared[judged.truth].mean() > 2 * shared[~judged.truth].mean() + 0.01:
        return ["Many members are in the reference; it should be a sample of people outside the training data."]
    return []
