"""Fuzzers: each feeds hostile input to one reader and counts what is neither a result nor one sentence.

`python -m tests.security.fuzz 10000` runs so many inputs of each; the suite runs a few hundred.
"""

from __future__ import annotations

import dataclasses
import io
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from jali.audit import evidence
from jali.core import registry
from jali.core.errors import JaliError
from jali.store import Store
from tests.security.mutants import BYTES, archives

Read = Callable[[Path], object]
Fuzzer = Callable[[int, int], list[str]]


def evidence_files(count: int, seed: int = 0, read: Read = evidence.read) -> list[str]:
    """Evidence files with flipped bits, cut, doubled, spliced, and archives of odd arrays; what escaped."""
    rng = np.random.default_rng(seed)
    good = io.BytesIO()
    np.savez_compressed(good, member=rng.random((40, 6)) < 0.5, loss=rng.random((40, 6)), variance=rng.random((40, 6)))
    escaped = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evidence.npz"
        inputs = list(archives(rng))
        inputs += [(f"mutant {k}", BYTES[k % len(BYTES)](good.getvalue(), rng)) for k in range(count - len(inputs))]
        for name, data in inputs:
            path.write_bytes(data)
            try:
                read(path)
            except JaliError:
                continue
            except BaseException as error:
                escaped.append(f"{name}: {type(error).__name__}: {error}")
    return escaped


def store_entries(count: int, seed: int = 0, load: Callable[[Store], object] | None = None) -> list[str]:
    """Entries of a store with flipped bits or from another place: all must be absent; what was taken or escaped."""
    rng = np.random.default_rng(seed)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder), b"mine")
        store.save("abc", {"value": rng.normal(size=(20, 3))})
        whole = store.path("abc").read_bytes()
        for k in range(count):
            changed = BYTES[k % len(BYTES)](whole, rng)
            store.path("abc").write_bytes(changed)
            try:
                found = store.load("abc") if load is None else load(store)
            except BaseException as error:
                wrong.append(f"{k}: {type(error).__name__}: {error}")
                continue
            if found is not None and changed != whole:
                wrong.append(f"{k}: a changed entry was taken")
    return wrong


ODD = (
    "-1", "0", "1", "2", "1e23", "-0.5", "0.5", '"x"', '""', "none", "true", "[]", "[1, 2]", '["a"]', '"nan"', "1e400",
    "-1e400", "1" + "0" * 23, "1" + "0" * 400, "[[[]]]", "lira()", "nice()", '"a:b"',
)  # fmt: skip


def fields_of_parts(count: int, seed: int = 0) -> list[str]:
    """Odd values for every field of every part, in a random order: a part or a sentence; what escaped."""
    every = [
        (kind, f"{name}({field.name}={value})")
        for kind in registry.FOLDERS
        for name in registry.names(kind)
        for field in dataclasses.fields(registry.find(kind, name))
        for value in ODD
    ]
    escaped = []
    for at in np.random.default_rng(seed).permutation(len(every))[:count]:
        kind, text = every[at]
        try:
            registry.build(kind, text)
        except JaliError:
            continue
        except BaseException as error:
            escaped.append(f"{text}: {type(error).__name__}: {error}")
    return escaped


FUZZERS: dict[str, Fuzzer] = {
    "evidence files": evidence_files,
    "entries of a store": store_entries,
    "fields of parts": fields_of_parts,
}

if __name__ == "__main__":
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for what, fuzzer in FUZZERS.items():
        found = fuzzer(many, 0)
        sys.stdout.write(f"{what}: {many:,} tried, {len(found)} escaped\n")
        sys.stdout.writelines(f"  {line}\n" for line in found[:20])
