"""Hostile files of arrays: evidence, weights, entries of a store."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from jali.store import Store
from tests.security.harness import Named, Payload, Rng, Use, escapes, folder, pick, pickled
from tests.security.mutants import BYTES, archives


def evidence_files(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Evidence files with flipped bits, cut, doubled, spliced, and archives of odd arrays; what escaped."""
    from jali.audit import evidence

    rng = np.random.default_rng(seed)
    good = io.BytesIO()
    np.savez_compressed(good, member=rng.random((40, 6)) < 0.5, loss=rng.random((40, 6)), variance=rng.random((40, 6)))
    inputs = list(archives(rng))
    inputs += [(f"mutant {k}", BYTES[k % len(BYTES)](good.getvalue(), rng)) for k in range(count - len(inputs))]
    with folder() as where:
        path = where / "evidence.npz"

        def read(content: bytes) -> object:
            path.write_bytes(content)
            return evidence.read(path)

        def given(content: bytes) -> object:
            path.write_bytes(content)
            return use(path) if use else None

        return escapes(inputs[:count] if count < len(inputs) else inputs, given if use else read)


def store_entries(count: int, seed: int = 0, load: Callable[[Store], object] | None = None) -> list[str]:
    """Entries of a store with flipped bits or from another place: all must be absent; what was taken or escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        store = Store(where, b"mine")
        store.save("abc", {"value": rng.normal(size=(20, 3))})
        whole = store.path("abc").read_bytes()

        def taken(changed: bytes) -> None:
            store.path("abc").write_bytes(changed)
            found = store.load("abc") if load is None else load(store)
            if found is not None and changed != whole:
                raise AssertionError("a changed entry was taken")

        return escapes(((f"entry {k}", BYTES[k % len(BYTES)](whole, rng)) for k in range(count)), taken)


# --- weights -------------------------------------------------------------------------------------------------------


def weight_files(count: int, seed: int = 0, use: Use | None = None) -> list[str]:
    """Weights that somebody sent: safetensors of a network,
    and arrays of which an ensemble is restored; what escaped."""
    rng = np.random.default_rng(seed)
    with folder() as where:
        return escapes(_weights(count, rng), use or (lambda item: restored(item, where)))


def _weights(count: int, rng: Rng) -> Iterator[Named]:
    import torch  # noqa: F401 (it takes seconds, which no input should be charged with)
    from safetensors.numpy import save

    tensors = {"body.0.weight": rng.normal(size=(4, 3)).astype("f4"), "body.0.bias": np.zeros(4, dtype="f4")}
    good = save(tensors)
    pack = io.BytesIO()
    np.savez(pack, coef=rng.normal(size=(2, 3, 2)), intercept=np.zeros((2, 2)))
    for k in range(count):
        kind = k % 4
        if kind == 0:
            yield f"safetensors {k}", (".safetensors", BYTES[(k // 4) % 4](good, rng))
        elif kind == 1:
            yield f"safetensors header {k}", (".safetensors", _odd_safetensors(rng))
        elif kind == 2:
            yield f"npz {k}", (".npz", BYTES[(k // 4) % 4](pack.getvalue(), rng))
        else:
            yield f"odd npz {k}", (".npz", changed_archive(pack.getvalue(), rng))


ODD_ENTRIES: tuple[Any, ...] = (
    {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 10**12]},
    {"dtype": "F32", "shape": [2**62, 2**62], "data_offsets": [0, 48]},
    {"dtype": "F32", "shape": [-1, 3], "data_offsets": [0, 48]},
    {"dtype": "F32", "shape": [4, 3], "data_offsets": [-48, 0]},
    {"dtype": "F32", "shape": [4, 3], "data_offsets": [48, 0]},
    {"dtype": "O", "shape": [4, 3], "data_offsets": [0, 48]},
    {"dtype": "BF16", "shape": [4, 6], "data_offsets": [0, 48]},
    {"dtype": "F8_E5M2", "shape": [48], "data_offsets": [0, 48]},
    {"dtype": "BOOL", "shape": [4, 12], "data_offsets": [0, 48]},
    {"dtype": "F32", "shape": [], "data_offsets": [0, 4]},
    {"dtype": "F32", "shape": [0, 3], "data_offsets": [0, 0]},
    {"dtype": "F32"},
    {},
    [],
    "F32",
    None,
    7,
)


def _odd_safetensors(rng: Rng) -> bytes:
    """A safetensors file whose header lies."""
    names = ("body.0.weight", "body.0.bias", "head.weight", "__metadata__", "", "../x", "a\0b", "\x1b[31m", "x" * 3000)
    header: dict[str, Any] = {pick(rng, names): pick(rng, ODD_ENTRIES) for _ in range(int(rng.integers(1, 4)))}
    text = pick(rng, (json.dumps(header).encode(), b"[" * 3000, b"{" * 3000, b"not json", b"", pickled()))
    size = int(pick(rng, (len(text), len(text), len(text), len(text), 2**63, 2**64 - 1, 0, len(text) + 1)))
    return size.to_bytes(8, "little") + text + bytes(64)


def changed_archive(content: bytes, rng: Rng) -> bytes:
    """An npz file with one or two arrays of another shape or type, missing, or one too many."""
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        before: dict[str, Any] = {name: file[name] for name in file.files}
    arrays = dict(before)
    for _ in range(int(rng.integers(1, 3))):
        name = pick(rng, sorted(before))
        old = np.nan_to_num(before[name].astype(np.float64), posinf=9.0, neginf=-9.0)
        odd = (
            old[..., None], old.ravel(), old[:0], old.astype(str), old.astype("f2"), old.astype(np.int64),
            np.full(old.shape, np.nan), np.full(old.shape, np.inf), np.full(old.shape, 1e308), np.float64(7),
            np.zeros(0),
            np.zeros((0, 3, 0)), np.zeros((1,) * 30), old.astype(complex), np.array([{}], dtype=object), old > 0,
            np.array([Payload()], dtype=object), -np.abs(np.nan_to_num(old.astype(float))) - 1, np.zeros((5, 7)),
        )  # fmt: skip
        choice = int(rng.integers(len(odd) + 3))
        if choice < len(odd):
            arrays[name] = odd[choice]
        elif choice == len(odd):
            arrays.pop(name, None)
        else:
            more = ("weight0", "weight7", "bias0", "coef", "architecture", "decided", "settings", "intercept")
            arrays[pick(rng, more)] = pick(rng, odd)
    file_ = io.BytesIO()
    np.savez(file_, allow_pickle=True, **arrays)
    return _renamed(file_.getvalue()) if rng.random() < 0.05 else file_.getvalue()


def _renamed(content: bytes) -> bytes:
    """The archive with members that are called otherwise."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            new.writestr(f"../{name}", old.read(name))
    return out.getvalue()


def restored(item: tuple[str, bytes], where: Path) -> object:
    """Read weights: a safetensors file into a network, an npz file as `restore` makes an ensemble of it."""
    import hashlib

    from torch import nn

    from jali.core.encoding import Encoding
    from jali.core.values import Column, Schema
    from jali.models.fitted.restore import restore
    from jali.models.fitted.weights import fill
    from jali.store import read_arrays

    ending, content = item
    path = where / f"weights{ending}"
    path.write_bytes(content)
    if ending == ".safetensors":
        net = nn.Sequential()
        net.add_module("body", nn.Sequential(nn.Linear(3, 4)))
        net.add_module("head", nn.Linear(4, 2))
        fill(net, path, hashlib.sha256(content).hexdigest())
        return net
    columns = tuple(Column(name) for name in ("a", "b", "c"))
    found = restore(read_arrays(path), Encoding(Schema(columns)))
    with np.errstate(all="ignore"):  # weights that are not finite are weights
        return None if found is None else found[0].logits(np.zeros((2, 3)))
