"""What a paper's file says once and means many times: tables `over` a grid of variables, and names for long texts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from jali.core.errors import JaliError

OVER = "over"
WITHOUT = "without"
EACH = "each"
VARIABLES = "variables"
ALIASES = "aliases"
MOST = 20_000  # grid points of one file: more are a mistake, or a file that is meant to exhaust the machine
DEPTH = 10  # how often an alias may name another
BRACES = re.compile(r"\{([a-z_][a-z0-9_]*)(?::([a-z_][a-z0-9_]*))?\}")
Words = Mapping[str, Any]


def expanded(tables: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a file with every grid written out and every name replaced.

    `{x}` stands for the value of a variable, or for an alias; `{x:title}` for a word that belongs to the value. An
    entry with `over = { x = [1, 2] }` is there once per value, but not for values named in `without = [{ x = 2 }]`;
    entries whose names come out the same are one.

    >>> expanded({"methods": {"k = {x}": {"over": {"x": [2, 5]}, "explain": "near(k={x})"}}})
    {'methods': {'k = 2': {'explain': 'near(k=2)'}, 'k = 5': {'explain': 'near(k=5)'}}}
    """
    known = {k: v for k, v in tables.items() if k not in (VARIABLES, ALIASES)}
    grid = _Grid(_table(tables, VARIABLES), _table(tables, ALIASES))
    out = grid.value(known, {})
    return dict(out)


def _table(tables: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = tables.get(name, {})
    if not isinstance(found, dict):
        raise JaliError(f"{name} must be a table: write [{name}] and its names below.")
    return found


class _Grid:
    """Expands one file: its variables, its aliases, and how many points have been written out."""

    def __init__(self, variables: dict[str, Any], aliases: dict[str, Any]) -> None:
        self.variables = variables
        self.aliases = aliases
        self.points = 0

    def value(self, value: Any, at: Words) -> Any:
        """A value at a point of the grid."""
        if isinstance(value, str):
            return self.text(value, at)
        if isinstance(value, list):
            return [one for item in value for one in self.items(item, at)]
        return self.entries(value, at) if isinstance(value, dict) else value

    def entries(self, table: Mapping[str, Any], at: Words) -> dict[str, Any]:
        """The entries of a table; those that come out under the same name are merged."""
        out: dict[str, Any] = {}
        for name, value in table.items():
            if name in (OVER, WITHOUT) and OVER in table:
                continue
            for point in self.grid(value, at, name):
                key = self.text(name, point)
                out[key] = _merged(out.get(key), self.value(_said(value), point), key)
        return out

    def items(self, item: Any, at: Words) -> Iterator[Any]:
        """What an item of a list stands for: itself, the list of an alias, or one table or text (`each`) per point."""
        name = BRACES.fullmatch(item) if isinstance(item, str) else None
        if name is not None and isinstance(self.aliases.get(name.group(1)), list):
            yield from self.value(self.aliases[name.group(1)], at)
            return
        for point in self.grid(item, at, "an item of a list"):
            yield self.value(_said(item), point)

    def grid(self, entry: Any, at: Words, where: str) -> Iterator[Words]:
        """The points of the grid of an entry, the last variable fastest; without a grid the point where one is."""
        if not isinstance(entry, dict) or OVER not in entry:
            yield at
            return
        over = entry[OVER]
        if not isinstance(over, dict):
            raise JaliError(f"{where}: over must be a table of variables, such as over = {{ x = [1, 2] }}.")
        axes = [list(self.axis(names, values)) for names, values in over.items()]
        left_out = _left_out(entry.get(WITHOUT, []), where)
        for chosen in itertools.product(*axes):
            self.points += 1
            if self.points > MOST:
                raise JaliError(f"{where}: the grids of this file have more than {MOST:,} points.")
            point = dict(at)
            for words in chosen:
                point.update(words)
            if not any(_is_at(point, those) for those in left_out):
                yield point

    def axis(self, names: str, values: Any) -> Iterator[Words]:
        """The steps of one variable, or of several that go together: `"x, y" = [["a", "b"], ["c", "d"]]`."""
        if isinstance(values, str):
            if values not in self.variables:
                raise JaliError(f"There is no variable {values!r}; there are {', '.join(self.variables) or 'none'}.")
            values = self.variables[values]
        together = [name.strip() for name in names.split(",")]
        table = values if isinstance(values, dict) else {}
        if isinstance(values, dict):
            values = list(values)
        if not isinstance(values, list):
            raise JaliError(f"The variable {names!r} needs a list, or a table of values and their words.")
        for value in values:
            parts = value if len(together) > 1 else [value]
            if not isinstance(parts, list) or len(parts) != len(together):
                raise JaliError(f"The variables {names!r} need {len(together)} values each time, not {value!r}.")
            yield {name: self.known(part, table) for name, part in zip(together, parts, strict=True)}

    def known(self, part: Any, own: Mapping[str, Any]) -> Any:
        """A value with its words: those of all tables of variables that have it, its own table last."""
        if isinstance(part, dict | list):
            raise JaliError(f"A value of a variable is a text or a number, not {part!r}.")
        if not isinstance(part, str):
            return part
        words: dict[str, Any] = {"": part}
        for table in (*self.variables.values(), own):
            if isinstance(table, dict) and part in table:
                words |= table[part] if isinstance(table[part], dict) else {"title": table[part]}
        return words

    def text(self, text: str, at: Words, depth: int = 0) -> str:
        """A text with its names replaced; an alias or a word may name variables and other aliases."""
        if depth > DEPTH:
            raise JaliError(f"An alias names itself: {text[:60]!r}.")

        def replaced(found: re.Match[str]) -> str:
            name, field = found.groups()
            if name in at:
                return self.text(_word(at[name], field or "", name), at, depth + 1)
            if name in self.aliases and field is None:
                return self.text(str(self.aliases[name]), at, depth + 1)
            names = ", ".join([*at, *self.aliases]) or "none"
            raise JaliError(f"{found.group()} in {text[:60]!r} is neither a variable nor an alias; there are {names}.")

        return BRACES.sub(replaced, text)


def _said(entry: Any) -> Any:
    """What an entry says at each point: the text below `each`, or the whole table."""
    return entry[EACH] if isinstance(entry, dict) and OVER in entry and EACH in entry else entry


def _left_out(without: Any, where: str) -> list[dict[str, Any]]:
    if not isinstance(without, list) or not all(isinstance(those, dict) and those for those in without):
        raise JaliError(f"{where}: without must be a list of points, such as without = [{{ x = 2 }}].")
    return without


def _is_at(point: Words, those: Mapping[str, Any]) -> bool:
    """Whether a point has these values."""
    return all(name in point and _word(point[name], "", name) == str(value) for name, value in those.items())


def _word(value: Any, field: str, name: str) -> str:
    words = value if isinstance(value, dict) else {"": value}
    if field not in words:
        raise JaliError(f"The value {words['']!r} of {name!r} has no {field!r}.")
    return str(words[field])


def _merged(one: Any, other: Any, name: str) -> Any:
    """Two entries of one name: tables are united, anything else may stand only once."""
    if one is None:
        return other
    if not (isinstance(one, dict) and isinstance(other, dict)):
        raise JaliError(f"{name!r} stands twice with different values.")
    return {k: _merged(one.get(k), other[k], k) if k in other else one[k] for k in {**one, **other}}
