"""Published numbers beside the same made as released by the authors: a table's second life, without typing it twice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jali.core.errors import JaliError

KEY = "as_released"
NAMES = ("studies", "methods", "metrics")


def with_released(tables: Any) -> Any:
    """Tables, each followed by what its `as_released` makes of it.

    `as_released = { studies = {…}, methods = {…}, metrics = {…} }` says which study, method and metric is the authors'
    way of which; what a map leaves out keeps its name, but a method that no map of methods names has no such number.

    >>> table = {"source": "Table 2", "tolerance": {"auc": 0.02}, "published": {"a": {"LRT": {"auc": 0.6}}}}
    >>> made = with_released([{**table, "as_released": {"studies": {"a": "leaky"}}}])[1]
    >>> made["source"], made["published"], made["released"]
    ('Table 2, as released by the authors', {'leaky': {'LRT': {'auc': 0.6}}}, True)
    """
    if not isinstance(tables, list):
        return tables
    out = []
    for table in tables:
        plain = {k: v for k, v in table.items() if k != KEY} if isinstance(table, dict) else table
        out.append(plain)
        if isinstance(table, dict) and KEY in table:
            out.append(_released(plain, table[KEY]))
    return out


def _released(table: Mapping[str, Any], maps: Any) -> dict[str, Any]:
    source = table.get("source", "A table")
    if not isinstance(maps, dict) or not all(k in NAMES and _names_to_names(v) for k, v in maps.items()):
        raise JaliError(f"{source}: as_released maps names of {', '.join(NAMES)} to those of the authors' way.")
    studies, methods, metrics = (maps.get(name, {}) for name in NAMES)
    _check_tables(table, source)
    published: dict[str, Any] = {}
    for study, numbers in table.get("published", {}).items():
        if studies and study not in studies:
            continue
        kept = {m: cells for m, cells in numbers.items() if not methods or m in methods}
        renamed = {methods.get(m, m): {metrics.get(k, k): v for k, v in cells.items()} for m, cells in kept.items()}
        if renamed:
            published[studies.get(study, study)] = renamed
    names = {**studies, **methods, **metrics}
    return {
        **table,
        "source": f"{source}, as released by the authors",
        "published": published,
        "released": True,
        "tolerance": {metrics.get(k, k): v for k, v in table.get("tolerance", {}).items()},
        "rows": _also(table.get("rows", {}), names),
        "columns": _also(table.get("columns", {}), names),
    }


def _names_to_names(given: Any) -> bool:
    return isinstance(given, dict) and all(isinstance(new, str) for new in given.values())


def _check_tables(table: Mapping[str, Any], source: Any) -> None:
    """Refuse what cannot be renamed: `published` is study, method, metric, number, and the others are tables."""
    plain = all(isinstance(table.get(key, {}), dict) for key in ("published", "tolerance", "rows", "columns"))
    studies = table.get("published", {}).values() if plain else ()
    deep = all(isinstance(numbers, dict) and all(isinstance(c, dict) for c in numbers.values()) for numbers in studies)
    if not plain or not deep:
        raise JaliError(f"{source}: published must be tables of study, method, metric and number.")


def _also(words: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
    """What the paper calls rows or columns, under the new names too."""
    return {**words, **{new: words[old] for old, new in names.items() if old in words}}
