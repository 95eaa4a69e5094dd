"""What each method guarantees about one model and one training set, with the conditions that can be checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from jali.anonymity.measures import people
from jali.core.explanation import Prepared
from jali.core.guarantee import Guarantee, Private
from jali.core.values import Dataset, Schema
from jali.defend.explain.k_anonymous import KAnonymous
from jali.defend.explain.k_rules import KRules
from jali.defend.explain.private_background import PrivateBackground
from jali.explain.native.groups import PreparedGroups
from jali.protect.protection import Condition, Protection, of_claim

NOT_DP = (
    "no differential privacy: whether somebody is in the training data may still be inferred (`audit` measures it)",
    "the model and its decisions, from which explanations are made",
)
NONE = "No guarantee: `audit` measures what these explanations give away."
ONE_ROW = "one row is one person (name the column that says whose row it is with groups=…)"


def protection_of(part: Any, ready: Prepared, train: Dataset, seeded: bool) -> Protection:
    """The guarantee of a part that was prepared for one model and its training set."""
    if isinstance(part, Private):
        claim: Guarantee = part.guarantee(train.schema)  # type: ignore[call-arg]
        return of_claim(claim.for_people_in(train), seeded)
    if isinstance(ready, PreparedGroups):
        return _of_groups(ready, train, {name for name, _ in part.grid})
    if isinstance(part, KAnonymous):
        return _of_regions(part, train.schema, train.groups is not None)
    if isinstance(part, PrivateBackground) and part.reads_training_data:
        return _of_background(part, train, seeded)
    if isinstance(part, KRules):
        return _of_rules(part, train)
    return Protection(NONE, (), NOT_DP)


def _of_rules(part: KRules, train: Dataset) -> Protection:
    statement = (
        f"Every rule covers at least {part.k} training people, its bounds end where no single person's value is, and "
        "shares are told in twentieths."
    )
    person = [] if train.groups is not None else [Condition(ONE_ROW)]
    return Protection(statement, (*known_categories(train.schema), *person), NOT_DP)


def _of_background(part: PrivateBackground, train: Dataset, seeded: bool) -> Protection:
    """The rows that explanations are made from are private; the model that they are about is not."""
    claim = part.claim_about_rows(train.schema).for_people_in(train)
    found = of_claim(claim, seeded)
    statement = (
        "The rows that explanations are made from are nobody's: they are drawn from histograms with epsilon = "
        f"{claim.epsilon:g}, delta = {claim.delta:g} (replace-one)."
    )
    return replace(found, statement=statement, not_covered=NOT_DP)


def _of_groups(ready: PreparedGroups, train: Dataset, declared: set[str]) -> Protection:
    """The list of groups is counted again, row by row, and so are the ends of intervals."""
    least = int(counted(ready, train).min())
    statement = (
        f"Every value shown is your own or that of a group of at least {ready.k} training people; all answers together "
        f"come from one list of {len(ready.people)} groups, and no end of an interval is one person's value."
    )
    moving = [c for c in train.schema.columns if c.mutable and c.kind != "category"]
    undeclared = [c.name for c in moving if c.name not in declared]
    conditions = [
        Condition(
            f"each group has at least {ready.k} people, counted again row by row (least: {least})",
            least >= ready.k,
            f"a group has {least} people, fewer than {ready.k}",
        ),
        Condition(
            "no end of an interval is the value of exactly one person",
            not lone_ends(ready, train),
            "an end of an interval is the value of exactly one person",
        ),
    ]
    if undeclared:
        named = ", ".join(undeclared[:3]) + (" and others" if len(undeclared) > 3 else "")
        conditions.append(
            Condition(f"the widths of cells of {named} may be known; they were taken from the rows' spread")
        )
    conditions += known_categories(train.schema)
    if train.groups is None:
        conditions.append(Condition(ONE_ROW))
    return Protection(statement, tuple(conditions), NOT_DP)


def known_categories(schema: Schema) -> list[Condition]:
    """That categories which were taken from the rows may be known: who asks with another one is told that it is new.

    So anybody can find out which categories occur, also those that one person has.
    """
    found = [c.name for c in schema.columns if c.kind == "category" and c.known != "declared"]
    if not found:
        return []
    named = ", ".join(found[:3]) + (" and others" if len(found) > 3 else "")
    return [
        Condition(
            f"which categories of {named} occur may be known; they were taken from the rows (declare them: bounds)"
        )
    ]


def counted(ready: PreparedGroups, train: Dataset) -> Any:
    """How many training people with the group's outcome lie in each group (G,), counted row by row."""
    labels = ready.model.logits(train.X).argmax(axis=1)
    out = np.zeros(len(ready.people), dtype=np.int64)
    for group in range(len(out)):
        mine = ready.regions.pick(np.array([group])).covers(train.X) & (labels == ready.label[group])
        out[group] = people(mine, train)[0]
    return out


def lone_ends(ready: PreparedGroups, train: Dataset) -> bool:
    """Whether an end of an interval is a value that exactly one training person has; declared bounds are public."""
    person = train.group_numbers()
    for j, column in enumerate(train.schema.columns):
        if column.kind == "category" or not column.mutable:
            continue
        public = [] if column.known == "observed" else [column.low, column.high]
        for end in np.setdiff1d(np.r_[ready.regions.low[:, j], ready.regions.high[:, j]], public):
            if len(np.unique(person[train.X[:, j] == end])) == 1:
                return True
    return False


def _of_regions(part: KAnonymous, schema: Schema, grouped: bool) -> Protection:
    quasi = [c.name for c in schema.columns if c.role == "quasi"]
    kept = "shows the values of these people, rounded outwards" if part.repair == "rounded" else "shows more"
    statement = (
        f"At least {part.k} training people match the quasi-identifiers of every answer ({', '.join(quasi)}), counted "
        f"again for each; every other column {kept}."
    )
    if part.solver == "mutual":
        statement += (
            f" For at least {part.k} of them the answer would be the same: one answer does not tell them apart, even "
            "to somebody who runs the method again and does not know who asked."
        )
    conditions = [
        Condition(
            "no private column shows the values of one person (repair is rounded)",
            part.repair == "rounded",
            f"private columns show the values of one person (repair is {part.repair}, not rounded)",
        ),
        Condition("all columns by which people can be found are named in quasi"),
        *known_categories(schema),
    ]
    if not grouped:
        conditions.append(Condition(ONE_ROW))
    return Protection(statement, tuple(conditions), NOT_DP)
