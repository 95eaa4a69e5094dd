"""Hostile variants of structured text: a value that TOML or JSON can hold, changed in one or a few places."""

from __future__ import annotations

import copy
import json
import math
from datetime import date
from typing import Any

import tomli_w

from tests.security.harness import CANARY, Rng, code, pick
from tests.security.mutants import BYTES

DEEP: Any = 1
for _ in range(90):
    DEEP = [DEEP]

ODD_VALUES: tuple[Any, ...] = (
    True, False, -1, 0, 1, 2, 3, 10**23, 2**53 + 1, -(2**63), 0.5, 1e308, -1e308, math.inf, -math.inf, math.nan, "",
    " ",
    "\0", "a\0b", "\x1b[31mred", "\u202e", "x" * 5000, "é" * 300, "../../../etc/passwd", "/dev/zero", "/dev/stdin",
    "nan",
    "os:system", "builtins:exec(1)", "lira", "nice()", "logistic(C=-1)", "{{7*7}}", "<script>window.hacked=1</script>",
    "[red]", "%s%n", "a/b", "a:b", "(" * 200, "[" * 200, "lira(" * 120, "1" * 400, "é:é", "none", code(),
    "http://127.0.0.1:9",
    [], {}, [[]], [{}], {"": ""}, {"a": {"b": {"c": 1}}}, [1, "a", None], DEEP, ["x"] * 3000, date(2020, 2, 29),
    "hypercube(d=100000000000000000000000)", "cifar10(classes=1)", "mnist(digits=1)", 'k_anonymous(nice(), floor="x")',
    f"sklearn(estimator='os:mkdir', params='{CANARY}')", "table(path='/etc/passwd', target='x')", "zaphod:Part",
)  # fmt: skip


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to everything inside a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(way for key, item in inside for way in places(item, (*here, key)))]


def changed(value: Any, rng: Rng) -> Any:
    """A copy in which one to three things were replaced, removed, renamed, doubled or put into a list."""
    value = copy.deepcopy(value)
    for _ in range(int(rng.integers(1, 4))):
        ways = [way for way in places(value) if way]
        if not ways:
            return pick(rng, ODD_VALUES)
        *path, last = pick(rng, ways)
        holder = value
        for key in path:
            holder = holder[key]
        what = int(rng.integers(8))
        if what == 0:
            del holder[last]
        elif what == 1 and isinstance(holder, dict):
            holder[pick(rng, ("", "a\0", "x" * 3000, "__class__", "no such", "\x1b[2J"))] = holder.pop(last)
        elif what == 2 and isinstance(holder, list):
            holder += holder[:2]
        elif what == 3:
            holder[last] = [holder[last]]
        else:
            holder[last] = copy.deepcopy(pick(rng, ODD_VALUES))
    return value


def as_json(value: Any) -> bytes:
    """JSON as Python writes it, with NaN and infinities."""
    return json.dumps(value, default=str).encode()


def as_toml(value: Any) -> bytes:
    """TOML of what TOML can hold of a value."""
    found = _for_toml(value)
    try:
        return tomli_w.dumps(found if isinstance(found, dict) else {"value": found}).encode("utf-8", errors="replace")
    except (TypeError, ValueError):
        return repr(value).encode("utf-8", errors="replace")


def _for_toml(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _for_toml(item) for key, item in value.items() if item is not None}
    return [_for_toml(item) for item in value if item is not None] if isinstance(value, list) else value


TOML_TEXTS = (
    b"a" + b".a" * 2_000 + b" = 1", b"a = " + b"[" * 20_000, b"a = " + b"{a=" * 5_000, b"seed = " + b"9" * 10_000,
    b"[" * 1000, b"data = '''", b"\xff\xfe", b"\0", b"data = \"\\u0000\"", b"data = \"\\uD800\"", b"= 1", b"[a]\n[a]\n",
    b"seed = 0x" + b"f" * 4000, b"data = 1979-05-27T07:32:00-99:00", b"", b"#" * 100_000, b"data = nan",
    b"explain = [[[]]]",
)  # fmt: skip
JSON_TEXTS = (
    b"[" * 100_000, b'{"a":' * 100_000, b"9" * 10_000, b"", b"null", b"[]", b"{}", b"1e999", b'"\\ud800"', b"\xff",
    b"\0",
    b'{"schema_version": "jali.results/2"}', b'{"schema_version": "jali.verification/2"}',
    b'{"format": "jali.protected/1"}',
    b'{"schema_version": ["jali.reproduction/2"]}', b'{"a": ' + b"9" * 5000 + b"}", b"NaN",
)  # fmt: skip


def hostile(good: Any, write: Any, texts: tuple[bytes, ...], k: int, rng: Rng) -> bytes:
    """The k-th hostile variant of a value as text: mostly changed in its structure, else in its bytes, else a bomb."""
    if k < len(texts):
        return texts[k]
    return BYTES[k % 4](write(good), rng) if k % 5 == 0 else bytes(write(changed(good, rng)))
