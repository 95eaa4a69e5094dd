"""Sanity checks; an audit that fails one is invalid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jali.audit.trials import Trial, guess
from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses, Records, rows_by_unit
from jali.core.values import Bools, Dataset, Evidence, Floats, Game, Ints, Rng
from jali.parallel import alone
from jali.results import Check
from jali.stats.intervals import delong, over_units
from jali.stats.roc import auc

LEVEL = 0.999
CHANCE = 3.29  # deviations that 99.9 % of normal numbers do not exceed
BLIND = "blind baseline"
SIXTEEN = 16
MOST = 12_000  # rows that the blind classifier reads
FEW_SHADOWS = "not run: it needs at least two shadow models"
WIDEST = 500  # columns that it reads
MOST_CATEGORIES = 255  # of a column that scikit-learn's trees tell apart


def blind(data: Dataset, game: Game, rng: Rng) -> Check:
    """A classifier that sees the records and labels but no model must not separate members from non-members.

    Gradient boosting on (x, y), trained on one half and judged on the other, for up to three targets; of a wide table
    it reads 500 columns, drawn at random.
    Das, Zhang and Tramèr, Blind Baselines Beat Membership Inference Attacks, 2024.
    """
    sides = [np.unique(game.member[game.scored[:, t], j]) for t, j in enumerate(game.targets)]
    if all(len(side) < 2 for side in sides):
        return Check(name=BLIND, passed=True, detail="not run: only members, or only non-members, are scored")
    rows, category = rows_read(data, rng)
    group = data.group_numbers()
    found = []
    for t in range(min(3, len(game.targets))):
        scored = rng.permutation(np.flatnonzero(game.scored[:, t]))[:MOST]
        truth = game.member[scored, game.targets[t]]
        found.append(delong(*_held_out(rows[scored], truth, group[scored], rng, category), LEVEL))
    worst = max(found, key=lambda e: e.value or 0.0)
    return _above_half(BLIND, worst, "a classifier on (x, y) alone, without any model")


def rows_read(data: Dataset, rng: Rng) -> tuple[Floats, list[int]]:
    """Records and labels (N, P), as the blind classifier reads them, and which of these columns are categories.

    Numbers of categories have no order, and small trees that split them as numbers see little of what differs. Of a
    column with more categories than trees read, the most frequent ones are told apart.
    """
    wide = data.X.shape[1]
    columns = np.sort(rng.permutation(wide)[:WIDEST]) if wide > WIDEST else np.arange(wide)
    rows = np.concatenate([data.X[:, columns], data.y[:, None]], axis=1)
    category = [at for at, j in enumerate(columns.tolist()) if data.schema.columns[j].kind == "category"]
    for at in category:
        rows[:, at] = _frequent(rows[:, at])
    return rows, category


def _frequent(column: Floats) -> Floats:
    """A column of categories (N,) as numbers from 0 on, the most frequent first; rare ones share the last.

    >>> _frequent(np.array([7.0, 300.0, 300.0]))
    array([1., 0., 0.])
    """
    _, at, count = np.unique(column, return_inverse=True, return_counts=True)
    rank = np.argsort(np.argsort(-count, kind="stable"), kind="stable")
    return np.asarray(np.minimum(rank[at], MOST_CATEGORIES - 1), dtype=np.float64)


def rows_per_person(data: Dataset, game: Game) -> list[Check]:
    """Members and non-members must have equally many rows each: a model memorises what it saw often.

    Mann-Whitney test on the people of one target (the worst of up to three), at the level of the other checks; without
    groups there is nothing to check.
    """
    if data.groups is None:
        return []
    from scipy.stats import mannwhitneyu

    group = data.group_numbers()
    worst = 1.0
    for t, column in list(enumerate(game.targets))[:3]:
        people, at, first = _unique(group[game.scored[:, t]])
        inside = game.member[game.scored[:, t], column][first]
        if len(people) and inside.any() and not inside.all():
            many = np.bincount(at)
            worst = min(worst, float(mannwhitneyu(many[inside], many[~inside]).pvalue))
    detail = f"the number of rows that members and others have differs as it would by chance with p = {worst:.2g}"
    return [Check(name="rows per person", passed=worst >= 1 - LEVEL, detail=detail, value=worst)]


def _held_out(rows: Floats, truth: Bools, group: Ints, rng: Rng, category: Sequence[int] = ()) -> tuple[Floats, Bools]:
    """Scores and truth of one half of the groups, one each, by a classifier trained on the other half.

    One split, not cross-validation, whose folds depend on each other: its AUC varies a quarter more than its interval
    says.
    Rows of one person share their membership, so a group stays on one side and counts once.
    """
    learn = half_of(truth, group, rng)
    margin = margins(rows, truth, learn, rng, category)
    people, at, first = _unique(group)
    side = learn[first]
    total = np.bincount(at[~learn], weights=margin, minlength=len(people))
    count = np.bincount(at[~learn], weights=np.ones(len(margin)), minlength=len(people))
    return (total / np.maximum(count, 1))[~side], truth[first][~side]


def half_of(truth: Bools, group: Ints, rng: Rng) -> Bools:
    """The rows (G,) of a random half of the members and of the non-members, a person on one side with all rows."""
    people, at, first = _unique(group)
    side = np.empty(len(people), dtype=bool)
    for kind in (True, False):
        mine = np.flatnonzero(truth[first] == kind)
        side[mine] = rng.permutation(len(mine)) % 2 == 0
    chosen: Bools = side[at]
    return chosen


def margins(rows: Floats, truth: Bools, learn: Bools, rng: Rng, category: Sequence[int] = ()) -> Floats:
    """How much the rows outside `learn` (G,) look like members' to a classifier trained on the others."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=40,
        max_leaf_nodes=8,
        random_state=int(rng.integers(2**31)),
        categorical_features=list(category) or None,
    )
    # A limit on threads does not reach a library that is loaded after it was set, so it is set again here.
    found: Floats = alone(lambda m: m.fit(rows[learn], truth[learn]).decision_function(rows[~learn]), model)
    return found


def _unique(group: Ints) -> tuple[Ints, Ints, Ints]:
    """Different groups, the place of each row's group among them, and the first row of each."""
    people, first, at = np.unique(group, return_index=True, return_inverse=True)
    return people, at, first


def null_target(
    evidence: Evidence, game: Game, trial: Trial, records: Records | None = None, person: Ints | None = None
) -> Check:
    """The same attack on a model that is independent of the target must not recognise the target's members.

    One shadow of each target is attacked with the help of the other shadows, and judged by the target's membership. By
    chance it trained on a few more of the members or of the others, and a strong attack tells them apart by that. Over
    several targets this evens out; of a single one it is weighed out (`_evened`).
    """
    if not game.shadows.any(axis=1).all():
        return Check(name="null target", passed=True, detail=FEW_SHADOWS)
    chosen = range(min(SIXTEEN, len(game.targets)))
    stand_in = np.array([np.flatnonzero(game.shadows[t])[t % game.shadows[t].sum()] for t in chosen])
    helpers = game.shadows[: len(stand_in)].copy()
    helpers[np.arange(len(stand_in)), stand_in] = False
    if not helpers.any(axis=1).all():
        return Check(name="null target", passed=True, detail=FEW_SHADOWS)
    scored = game.scored[:, : len(stand_in)]
    weight = None if game.weight is None else game.weight[:, : len(stand_in)]
    swapped = Game(game.member, stand_in, helpers, scored, aside=game.aside, weight=weight)
    try:
        found = guess(evidence, swapped, trial, records, person)
    except JaliError as error:
        return Check(name="null target", passed=True, detail=f"not run: {error}")
    truth = game.member[found.record, game.targets[found.unit]]
    if len(game.targets) == 1:
        found = _evened(found, game.member[found.record, stand_in[found.unit]], truth)
    return _covers_half(
        "null target", _auc(found, truth), "the attack on a model that the target's members did not train"
    )


def _evened(guesses: Guesses, trained: Bools, truth: Bools) -> Guesses:
    """Guesses weighed so that a model trained on as large a share (G,) of members as of others (truth, G).

    Only what chance explains is weighed out (99.9 %): a model that follows the target's training set must be noticed.
    """
    sides = [trained[truth], trained[~truth]]
    if not all(len(side) for side in sides):
        return guesses
    whole = float(trained.mean())
    chance = math.sqrt(whole * (1 - whole) * sum(1 / len(side) for side in sides))
    shares = [float(side.mean()) for side in sides]
    if min(shares) <= 0 or max(shares) >= 1 or abs(shares[0] - shares[1]) > CHANCE * chance:
        return guesses
    mine = np.where(truth, shares[0], shares[1])
    weight = np.where(trained, whole / mine, (1 - whole) / (1 - mine))
    return replace(guesses, weight=guesses.weight * weight)


def orientation(guesses: Guesses) -> Check:
    """An attack that learns its direction from shadows must not be significantly worse than guessing."""
    estimate = _auc(guesses, guesses.truth)
    passed = estimate.high is None or estimate.high >= 0.5
    return _check("orientation", passed, estimate, "the combined attack points towards members")


def parity(difference: float) -> Check:
    """Members and non-members are preprocessed alike: an output must not depend on the rows evaluated with it."""
    detail = f"the largest change of an output when members and non-members are evaluated apart is {difference:.1e}"
    return Check(name="same preprocessing", passed=difference <= 1e-3, detail=detail, value=difference)


def _auc(guesses: Guesses, truth: Bools) -> Estimate:
    split = [mine for mine in rows_by_unit(guesses.unit) if truth[mine].any() and not truth[mine].all()]
    if len(split) == 1:
        [mine] = split
        weight = None if guesses.weights is None else guesses.weight[mine]
        return delong(guesses.score[mine], truth[mine], LEVEL, guesses.group[mine], weight)
    weights = guesses.weights
    values = [auc(guesses.score[mine], truth[mine], None if weights is None else weights[mine]) for mine in split]
    return over_units(np.array(values), LEVEL)


def _covers_half(name: str, e: Estimate, what: str) -> Check:
    return _check(name, e.low is None or e.high is None or e.low <= 0.5 <= e.high, e, what)


def _above_half(name: str, e: Estimate, what: str) -> Check:
    return _check(name, e.low is None or e.low <= 0.5, e, what)


def _check(name: str, passed: bool, e: Estimate, what: str) -> Check:
    span = "" if e.low is None else f" (99.9 % interval {e.low:.3f} to {e.high:.3f}; one half is chance)"
    return Check(
        name=name, passed=passed, detail=f"{what}: AUC {e.value:.3f}{span}", value=e.value, low=e.low, high=e.high
    )
