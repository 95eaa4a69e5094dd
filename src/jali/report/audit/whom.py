"""Who is hit: the groups that are recognised more often than everybody, and single records that always are."""

from __future__ import annotations

from jali.report import views, words
from jali.results import Results, Row

MOST = 3  # groups that are named
METRICS = ("tpr@0.01", "auc")


def whom(results: Results) -> tuple[str, ...]:
    """A sentence on groups, and one on records.

    >>> whom(Results())
    ()
    """
    return tuple(filter(None, (_groups(results), _records(results))))


def exposed_groups(results: Results) -> tuple[list[Row], Row | None, int]:
    """The groups whose whole interval lies above everybody's number, the most exposed first; that number; how many
    groups were compared.
    """
    for metric in METRICS:
        for _, rows in views.subgroups(results):
            mine = [row for row in rows if row.metric == metric and row.value is not None]
            everybody = views.overall(results, mine[0]) if mine else None
            if everybody is None or everybody.value is None:
                continue
            above = [row for row in mine if row.low is not None and row.low > everybody.value]
            return sorted(above, key=lambda row: -(row.value or 0.0)), everybody, len(mine)
    return [], None, 0


def _groups(results: Results) -> str:
    above, everybody, compared = exposed_groups(results)
    if everybody is None or compared < 2:
        return ""
    scale = "AUC" if words.level(everybody.metric) is None else f"recognised with {words.price(everybody.metric)}"
    if not above:
        return (
            f"None of {compared} groups is clearly more exposed than everybody ({words.value_of(everybody)} {scale})."
        )
    named = [f"{row.group} ({words.value_of(row)})" for row in above[:MOST]]
    return (
        f"Most exposed of {compared} groups: {words.listed(named)}, where everybody has {words.value_of(everybody)} "
        f"{scale}; one group in 40 would stand out by chance."
    )


def _records(results: Results) -> str:
    always = [e for e in results.exposed if e.member_of > 1 and e.recognised == e.member_of]
    if not always:
        return ""
    if len(always) == 1:
        return "At least 1 record is recognised by every model that was trained on it."
    return f"At least {len(always):,} records are recognised by every model that was trained on them."
