"""Questions and answers of a ledger as bytes."""

from __future__ import annotations

import hmac
import io
import json
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee

Question = bytes | str | npt.NDArray[Any]


def digest(key: bytes, question: Question, claim: Guarantee) -> bytes:
    """A keyed hash of a question, with its mechanism and price."""
    if isinstance(question, str):
        kind, body = "text", question.encode(errors="surrogatepass")
    elif isinstance(question, bytes):
        kind, body = "bytes", question
    elif isinstance(question, np.ndarray) and not question.dtype.hasobject:
        kind, body = f"{question.dtype} {question.shape}", question.tobytes()
    else:
        raise JaliError(f"A question must be text, bytes or an array without objects, not {type(question).__name__}.")
    head = json.dumps([kind, claim.mechanism, float(claim.epsilon), claim.noise]).encode()
    return hmac.digest(key, len(head).to_bytes(8) + head + body, "sha256")


def encoded(answer: Any) -> tuple[str, bytes]:
    """An answer as bytes, and their format."""
    try:
        if isinstance(answer, bytes):
            return "bytes", answer
        if isinstance(answer, np.ndarray):
            file = io.BytesIO()
            np.save(file, answer, allow_pickle=False)
            return "npy", file.getvalue()
        plain = answer.item() if isinstance(answer, np.generic) else answer
        return "json", json.dumps(plain, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise JaliError(
            f"An answer must be bytes, an array without objects, or JSON, and this one is not ({error}): return one of "
            "these and ask again, it stays paid."
        ) from None


def decoded(kind: str, body: bytes) -> Any:
    """The answer that was stored as bytes in this format; raises ValueError where they are no such answer."""
    try:
        if kind == "npy":
            return _array(body)
        return json.loads(body) if kind == "json" else body
    except RecursionError:
        raise ValueError("an answer is nested too deeply") from None


def _array(body: bytes) -> npt.NDArray[Any]:
    """The array in bytes, which are as many as its header says."""
    stream = io.BytesIO(body)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an answer is no array")
    shape, fortran, kind = np.lib.format.read_array_header_1_0(stream)
    size = math.prod(shape) * kind.itemsize
    if kind.hasobject or min(shape, default=0) < 0 or size != len(body) - stream.tell():
        raise ValueError("an answer is no array")
    flat = np.frombuffer(body, dtype=kind, offset=stream.tell())
    return flat.reshape(shape, order="F" if fortran else "C").copy()
