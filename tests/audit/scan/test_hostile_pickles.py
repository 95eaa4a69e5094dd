"""Nothing in a pickle runs, whatever it says; what it declares is not believed."""

from __future__ import annotations

import io
import os
import pickle
import struct
import subprocess
import zipfile

import numpy as np
import pytest

import jali
from jali.audit.scan.pickle_files import read_bytes
from jali.core.errors import JaliError
from tests.audit.scan.people import NUMBERS, TRAIN


class Call:
    """Pickles as a call of anything."""

    def __init__(self, function, *args):
        self.call = (function, args)

    def __reduce__(self):
        return self.call


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "ran"


def payloads(mark):
    """Pickles that would leave a file behind if anything in them ran."""
    command = f"touch {mark}"
    code = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    yield "system", pickle.dumps(Call(os.system, command))
    yield "eval", pickle.dumps(Call(eval, code))
    yield "exec, protocol 0", pickle.dumps(Call(exec, code), protocol=0)
    yield "subprocess", pickle.dumps(Call(subprocess.check_output, ["touch", str(mark)]), protocol=2)
    yield "getattr", pickle.dumps(Call(getattr, Call(__import__, "os"), "system"))
    yield "loads again", pickle.dumps(Call(pickle.loads, pickle.dumps(Call(os.system, command))))
    yield "INST", f"(S'touch {mark}'\nios\nsystem\n.".encode()
    yield "OBJ", b"(cos\nsystem\nS'touch " + str(mark).encode() + b"'\no."
    yield "NEWOBJ_EX", b"\x80\x04cos\nsystem\n(S'touch " + str(mark).encode() + b"'\nt}\x92."
    yield "in an array", pickle.dumps(np.array([Call(os.system, command), 1], dtype=object))
    yield "state", pickle.dumps({"a": [Call(os.system, command)], "b": np.eye(3)})
    yield "numpy", pickle.dumps(Call(np.testing._private.utils.runstring, code, {}))


def test_the_payloads_are_real(tmp_path, mark):
    """Of those that pickle itself can load, most do run: otherwise the test below would show nothing."""
    ran = 0
    for _, data in payloads(mark):
        try:
            pickle.loads(data)
        except Exception:
            continue
        finally:
            ran += mark.exists()
            mark.unlink(missing_ok=True)
    assert ran >= 8


def test_nothing_runs(tmp_path, mark):
    for name, data in payloads(mark):
        file = tmp_path / f"{name}.pkl"
        file.write_bytes(data)
        found = jali.scan(file, TRAIN).results
        assert not mark.exists(), name
        assert found.people == 0
    joined = tmp_path / "objects.npz"
    with zipfile.ZipFile(joined, "w") as archive:
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.array([Call(os.system, f"touch {mark}")], dtype=object))
        archive.writestr("a.npy", buffer.getvalue())
    jali.scan(joined, TRAIN)
    assert not mark.exists()


def test_arrays_beside_a_payload_are_still_found(tmp_path, mark):
    rows = TRAIN[NUMBERS].to_numpy(float)[:40]
    file = tmp_path / "model.pkl"
    file.write_bytes(pickle.dumps({"run": Call(os.system, f"touch {mark}"), "rows": rows}))
    found = jali.scan(file, TRAIN).results
    assert not mark.exists()
    assert [(p.where, p.rows) for p in found.leaks] == [("model.pkl.rows", 40)]
    assert "objects of posix were not made" in found.skipped["model.pkl (objects)"]


HUGE = struct.pack("<Q", 1 << 60)


@pytest.mark.parametrize(
    "data",
    [
        b"\x80\x04\x8e" + HUGE + b"abc.",  # bytes
        b"\x80\x04\x8d" + HUGE + b"abc.",  # text
        b"\x80\x05\x96" + HUGE + b"abc.",  # byte array
        b"\x80\x02\x8b" + struct.pack("<i", (1 << 31) - 1) + b"\x01.",  # a whole number
        b"\x80\x04\x95" + HUGE,  # a frame and nothing in it
        b"\x80\x04",
        b"",
        b"t.",
        b"I" + b"9" * 10_000 + b"\n.",
        b"\x80\x04R.",
        b"\x80\x04h\x07.",
        b"garbage",
    ],
)
def test_what_is_declared_but_not_there_is_an_error(data):
    with pytest.raises(JaliError):
        read_bytes(data)


def test_a_large_place_in_the_memory_takes_no_memory():
    assert read_bytes(b"\x80\x02K\x01r" + struct.pack("<I", (1 << 32) - 1) + b".")[0] == 1


def test_a_large_declared_array_is_not_made(tmp_path):
    kind = pickle.dumps(np.dtype("f8"), protocol=2)[2:-1]
    size = b"\x8a\x08" + struct.pack("<q", 10**15)
    data = b"\x80\x02cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(" + size + b"tC\x01btR(K\x01(" + size
    file = tmp_path / "large.pkl"
    file.write_bytes(data + b"t" + kind + b"\x89C\x08abcdefghtb.")
    assert jali.scan(file, TRAIN).results.people == 0
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000, 4), }"
    array = tmp_path / "large.npy"
    array.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header) + 1) + header + b"\n")
    assert "not as large as its header says" in jali.scan(array, TRAIN).results.skipped["large.npy"]


def test_deep_cyclic_and_doubling_structures_end(tmp_path):
    deep = b"]" * 100_000 + b"a" * 99_999
    doubling = b"\x80\x02]q\x00" + b"".join(b"](h%ch%ceq%c" % (i, i, i + 1) for i in range(60)) + b"."
    loop = b"\x80\x02]q\x00h\x00a."
    for name, data in {"deep": b"\x80\x02" + deep + b".", "doubling": doubling, "loop": loop}.items():
        file = tmp_path / f"{name}.pkl"
        file.write_bytes(data)
        assert jali.scan(file, TRAIN).results.people == 0
