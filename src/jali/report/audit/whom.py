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
    groups were compared, by all attacks together.
    """
    for metric in METRICS:
        blocks = []
        compared = 0
        for _, rows in views.subgroups(results):
            mine = [row for row in rows if row.metric == metric and row.value is not None and views.is_large(row)]
            everybody = views.overall(results, mine[0]) if mine else None
            if everybody is None or everybody.value is None:
                continue
            compared += len(mine)
            above = [row for row in mine if row.low is not None and row.low > everybody.value]
            blocks.append((sorted(above, key=lambda row: -(row.value or 0.0)), everybody))
        if blocks:
            worst = max(blocks, key=lambda block: block[0][0].value or 0.0 if block[0] else -1.0)
            return *worst, compared
    return [], None, 0


def _groups(results: Results) -> str:
    above, everybody, compared = exposed_groups(results)
    if everybody is None or compared < 2:
        return ""
    if not above:
        return f"None of {compared} groups that were compared is clearly more exposed than everybody."
    rate = words.level(everybody.metric) is not None
    unit = " recognised" if rate else " AUC"
    named = [f"{row.group} ({words.value_of(row)}{'' if k else unit})" for k, row in enumerate(above[:MOST])]
    price = f", with {words.price(everybody.metric)}" if rate else ""
    by = f" by {everybody.explainer}" if everybody.explainer else ""
    return (
        f"Most exposed{by}: {words.listed(named)}; everybody: {words.value_of(everybody)}{price}. "
        f"{compared} groups were compared; one in 40 would stand out by chance."
    )


def _records(results: Results) -> str:
    always = [e for e in results.exposed if e.member_of > 1 and e.recognised == e.member_of]
    if not always:
        return ""
    if len(always) == 1:
        return "At least 1 record is recognised by every model that was trained on it."
    return f"At least {len(always):,} records are recognised by every model that was trained on them."
