"""Hostile tables: text, Parquet, logs of explanations, releases and dumps."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.security.harness import SENTINEL, Named, Rng, Use, code, escapes, folder, pick, pickled
from tests.security.mutants import BYTES

NAMES = ("age", "income", "job", "paid")
ODD_NAMES = (
    "", " ", "age", "__class__", "../../etc/passwd", "<script>window.hacked=1</script>", "a\x1b[31mb", "x" * 5000,
    "a=b",
    "\u202ereversed", "member", "missing", "{{7*7}}", "[red]x[/red]", "é\ud7ff", "None", "0", "index", "a:b", "nan",
    "\t",
)  # fmt: skip
ODD_CELLS = (
    "", "nan", "NaN", "inf", "-inf", "1e400", "-1e400", "1e308", "9007199254740993", "-9007199254740993",
    "9" * 30, "9" * 400, "1e-400", "0x10", "True", "=1+1", "=cmd|' /C calc'!A0", "\x1b]0;owned\x07", "\x00",
    "2020-02-30",
    "2020-01-01", "9999-12-31", "0001-01-01", "'", '"', '"""', ",", "a" * 100_000, "<b>", "\u202e", "none", "1,000",
    "1_000",
    "１２", "½", "٣", "-0", "+-1", "..", "None", "NULL", "#N/A", "[1, 2]", "{}", "(missing)", "missing", "((missing))",
)  # fmt: skip


def rows(rng: Rng, n: int = 30) -> list[list[str]]:
    """An ordinary table; its jobs are the values of people, and one of them is the sentinel."""
    jobs = ("cook", "smith", SENTINEL)
    return [
        [
            str(rng.integers(18, 80)),
            f"{rng.normal(3000, 500):.2f}",
            str(pick(rng, jobs)),
            str(pick(rng, ("no", "yes"))),
        ]
        for _ in range(n)
    ]


def text_of(names: list[str], cells: list[list[str]], separator: str = ",", quoted: bool = True) -> str:
    """A table as text."""

    def cell(value: str) -> str:
        special = any(sign in value for sign in (separator, '"', "\n"))
        return '"' + value.replace('"', '""') + '"' if quoted and special else value

    return "\n".join(separator.join(map(cell, line)) for line in [names, *cells]) + "\n"


def odd_cells(rng: Rng) -> str:
    """An ordinary table with some odd cells."""
    table = rows(rng)
    for _ in range(int(rng.integers(1, 20))):
        table[int(rng.integers(len(table)))][int(rng.integers(4))] = pick(rng, ODD_CELLS)
    return text_of(list(NAMES), table, quoted=bool(rng.random() < 0.7))


def odd_column(rng: Rng) -> str:
    """An ordinary table with a column of one odd value, or of odd values only."""
    table = rows(rng)
    column = int(rng.integers(4))
    one = pick(rng, ODD_CELLS)
    for line in table:
        line[column] = one if rng.random() < 0.9 else pick(rng, ODD_CELLS)
    return text_of(list(NAMES), table)


def odd_names(rng: Rng) -> str:
    """An ordinary table with odd names of columns."""
    names = [pick(rng, ODD_NAMES) if rng.random() < 0.4 else name for name in NAMES]
    return text_of(names, rows(rng), quoted=bool(rng.random() < 0.7))


def odd_shape(rng: Rng) -> str:
    """Lines with more or fewer cells, no lines, no header, very many columns."""
    table = rows(rng)
    choice = int(rng.integers(6))
    if choice == 0:
        return text_of(list(NAMES), table[: int(rng.integers(3))])
    if choice == 1:
        return text_of([f"c{k}" for k in range(3000)], [["1"] * 3000] * 3)
    if choice == 2:
        return "\n" * int(rng.integers(5)) + text_of(table[0], table[1:])
    if choice == 3:
        return ""
    for line in table:
        if rng.random() < 0.2:
            line[:] = line * 2 if rng.random() < 0.5 else line[:2]
    return text_of(list(NAMES), table, separator=pick(rng, (",", ";", "\t", "|")))


def odd_bytes(rng: Rng) -> bytes:
    """An ordinary table with damaged bytes, or in another encoding."""
    whole = text_of(list(NAMES), rows(rng))
    choice = int(rng.integers(8))
    if choice < 4:
        return BYTES[choice](whole.encode(), rng)
    if choice == 4:
        return whole.encode(pick(rng, ("utf-16", "utf-32", "utf-8-sig", "utf-7")))
    if choice == 5:
        return whole.replace("cook", "k\N{LATIN SMALL LETTER U WITH DIAERESIS}che").encode("latin-1")
    if choice == 6:
        return rng.bytes(int(rng.integers(1, 400)))
    return pickled() + whole.encode()


TEXTS: tuple[Callable[[Rng], str | bytes], ...] = (odd_cells, odd_column, odd_names, odd_shape, odd_bytes)


def hostile_texts(count: int, rng: Rng) -> Iterator[Named]:
    """Files of text: name and (ending, content, settings of the table)."""
    for k in range(count):
        made = TEXTS[k % len(TEXTS)](rng)
        content = made if isinstance(made, bytes) else made.encode("utf-8", errors="replace")
        ending = pick(rng, (".csv", ".csv", ".csv", ".tsv", ".csv.gz"))
        if ending == ".csv.gz":
            packed = gzip.compress(content)
            content = BYTES[k % 4](packed, rng) if rng.random() < 0.5 else packed
        yield f"{TEXTS[k % len(TEXTS)].__name__} {k}", (ending, content, settings(rng))


def settings(rng: Rng) -> dict[str, Any]:
    """What a user may say about a table."""
    given: dict[str, Any] = {"target": pick(rng, ("paid", "paid", "paid", "job", "age", "no such column"))}
    if rng.random() < 0.3:
        given["quasi"] = ("age", "job")
    if rng.random() < 0.2:
        given["groups"] = pick(rng, ("job", "age", "income", "paid"))
    if rng.random() < 0.2:
        given["sensitive"] = "job"
    if rng.random() < 0.2:
        given["kind"] = (pick(rng, ("job=number", "age=category", "income=integer", "paid=category")),)
    if rng.random() < 0.2:
        given["bounds"] = (pick(rng, ("age=0:120", "income=0:1", "job=0:1")),)
    return given


def load(item: tuple[str, bytes, dict[str, Any]], where: Path) -> object:
    """Read a table as an audit does, and show its schema as the command line does."""
    from rich.console import Console

    from jali.core.encoding import Encoding
    from jali.data.table import Table
    from jali.report.audit import schema

    ending, content, given = item
    path = where / f"table{ending}"
    path.write_bytes(content)
    data = Table(str(path), **given).load()
    Encoding(data.schema).encode(data.X[:50])
    shown = io.StringIO()
    Console(file=shown, width=120).print(schema.table(data.schema, False))
    if SENTINEL in shown.getvalue():
        raise AssertionError("the schema shows a person's value")
    return data


def text_tables(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Tables as text; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        return escapes(hostile_texts(count, rng), use or (lambda item: load(item, where)))


# --- Parquet -------------------------------------------------------------------------------------------------------


def parquet_of(rng: Rng) -> dict[str, Any]:
    """An ordinary table as columns."""
    table = rows(rng)
    return {
        "age": [int(line[0]) for line in table],
        "income": [float(line[1]) for line in table],
        "job": [line[2] for line in table],
        "paid": [line[3] for line in table],
    }


def odd_arrow(rng: Rng) -> Any:
    """An ordinary Arrow table with one column of an odd type."""
    from datetime import time, timedelta
    from decimal import Decimal

    import pyarrow as pa

    made = parquet_of(rng)
    n = len(made["age"])
    odd = {
        "lists": pa.array([[1, 2]] * n),
        "structs": pa.array([{"a": 1}] * n),
        "maps": pa.array([[("a", 1)]] * n, type=pa.map_(pa.string(), pa.int64())),
        "bytes": pa.array([b"\xff\xfe"] * n),
        "undecodable": pa.Array.from_buffers(pa.string(), n, pa.array([b"\xff\xfe"] * n, pa.binary()).buffers()),
        "decimals": pa.array([Decimal("1e20")] * n),
        "durations": pa.array([timedelta(days=k) for k in range(n)]),
        "times": pa.array([time(1, 2)] * n),
        "stamps": pa.array([2**60] * n, type=pa.timestamp("us")),
        "far dates": pa.array([2**30] * n, type=pa.date32()),
        "nulls": pa.nulls(n),
        "above 2^53": pa.array([2**53 + 1 + k for k in range(n)], type=pa.int64()),
        "unsigned": pa.array([2**64 - 1] * n, type=pa.uint64()),
        "dictionary": pa.array(["a"] * n).dictionary_encode(),
        "halves": pa.array(np.ones(n, dtype=np.float16)),
        "mixed": pa.array([None, float("inf")] * (n // 2)),
        "large text": pa.array(["a" * 100_000] * n, type=pa.large_string()),
    }
    column = pick(rng, NAMES)
    kind = pick(rng, sorted(odd))
    columns = {name: odd[kind] if name == column else pa.array(values) for name, values in made.items()}
    names = [pick(rng, ODD_NAMES) if rng.random() < 0.05 else name for name in columns]
    return pa.Table.from_arrays(list(columns.values()), names=names)


def odd_metadata(rng: Rng) -> Any:
    """An ordinary Arrow table whose metadata lie about it, or name extension types."""
    import pyarrow as pa

    table = pa.table(parquet_of(rng))
    lies = (
        b"not json", b"[" * 5000, b'{"index_columns": ["paid"], "columns": []}',
        b'{"index_columns": [{"kind": "range", "name": null, "start": 0, "stop": 1000000, "step": 1}], "columns": []}',
        b'{"columns": [{"name": "age", "field_name": "age", "pandas_type": "object", "numpy_type": "object"}]}',
        b'{"index_columns": 7, "columns": 7, "column_indexes": 7}', pickled(),
    )  # fmt: skip
    if rng.random() < 0.5:
        return table.replace_schema_metadata({b"pandas": pick(rng, lies)})
    name = pick(rng, (b"arrow.py_extension_type", b"pandas.period", b"pandas.interval", b"arrow.opaque", b"arrow.json"))
    marked = {b"ARROW:extension:name": name, b"ARROW:extension:metadata": pick(rng, (pickled(), code().encode()))}
    fields = [field.with_metadata(marked) if field.name == "age" else field for field in table.schema]
    return table.cast(pa.schema(fields))


def hostile_parquet(count: int, rng: Rng) -> Iterator[Named]:
    """Parquet files: damaged bytes, odd types, metadata that lie."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for k in range(count):
        kind = k % 6
        table = odd_arrow(rng) if kind == 4 else odd_metadata(rng) if kind == 5 else pa.table(parquet_of(rng))
        file = io.BytesIO()
        pq.write_table(table, file, compression=pick(rng, ("snappy", "none", "gzip", "zstd")))
        content = BYTES[kind](file.getvalue(), rng) if kind < 4 else file.getvalue()
        yield f"parquet {k}", (".parquet", content, settings(rng))


def parquet_tables(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Parquet files; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        return escapes(hostile_parquet(count, rng), use or (lambda item: load(item, where)))
