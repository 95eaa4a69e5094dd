"""A configuration as TOML text, to be read and to be saved as audit.toml."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]")
BREAKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
SURROGATES = re.compile(r"[\ud800-\udfff]")
BARE = re.compile(r"[A-Za-z0-9_-]+")


def dumps(config: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """Write plain values first, then one table per nested dictionary; what is None is left to its default.

    >>> print(dumps({"seed": 1, "data": {"source": "adult"}}))
    seed = 1
    <BLANKLINE>
    [data]
    source = "adult"
    """
    plain = {k: v for k, v in config.items() if not isinstance(v, Mapping)}
    lines = [f"{_key(k)} = {_value(v)}" for k, v in plain.items() if v is not None]
    parts = ["\n".join(lines)] if lines else []
    for name, table in config.items():
        if isinstance(table, Mapping):
            parts.append(_table((*path, name), table))
    return "\n\n".join(parts)


def _table(path: tuple[str, ...], table: Mapping[str, Any]) -> str:
    body = dumps(table, path)
    head = f"[{'.'.join(_key(p) for p in path)}]"
    only_tables = table and all(isinstance(v, Mapping) for v in table.values())
    return body if only_tables else f"{head}\n{body}".rstrip()


def _key(name: str) -> str:
    return name if BARE.fullmatch(name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(v) for v in value if v is not None) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, (int, float)) else _string(str(value))


def _string(text: str) -> str:
    """A basic string in which every character can be seen."""
    text = json.dumps(SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text), ensure_ascii=False)
    hidden = re.compile(f"{UNSEEN.pattern}|{BREAKS.pattern}")
    return hidden.sub(lambda m: "".join(f"\\u{ord(c):04X}" for c in m[0]), text)
