"""Small pictures inside a page: records as they are, attributions in two colours that fade where they say nothing."""

from __future__ import annotations

import base64
import struct
import zlib

import numpy as np
import numpy.typing as npt

from jali.report import words
from jali.results import Exposed, Heat, Picture, Results

Bytes = npt.NDArray[np.uint8]
FOR, AGAINST = (208, 98, 32), (20, 138, 150)  # readable on light and on dark paper; also for those who see no red
MIDDLE, STEPS = 128, 127
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def picture(shown: Picture) -> str:
    """A record as the address of a picture: three channels in colour, any other number as the grey of their mean."""
    pixels = _pixels(shown)
    grey = np.repeat(pixels.mean(axis=0, keepdims=True).astype(np.uint8), 3, axis=0)
    colour = pixels if len(pixels) == 3 else grey
    return _address(np.concatenate([colour, np.full((1, *colour.shape[1:]), 255, dtype=np.uint8)]))


def heat(shown: Heat) -> str:
    """A map as the address of a picture: hue for the sign, and the more opaque the larger."""
    size = (_pixels(shown.drawn)[0].astype(np.float64) - MIDDLE) / STEPS
    hue = np.where(size >= 0, np.array(FOR)[:, None, None], np.array(AGAINST)[:, None, None])
    alpha = np.rint(255 * np.minimum(np.abs(size), 1.0))
    return _address(np.concatenate([hue, alpha[None]]).astype(np.uint8))


def explainers(results: Results) -> list[str]:
    """Explainers that have a map, in their order."""
    return list(dict.fromkeys(h.explainer for record in results.exposed for h in record.maps))


def scales(results: Results) -> list[tuple[bool, list[str]]]:
    """Explainers with something to say against a prediction (True), and those without: they differ in their legend."""
    maps = [h for record in results.exposed for h in record.maps]
    signed = {h.explainer for h in maps if (_pixels(h.drawn) < MIDDLE).any()}
    both = ((side, [e for e in explainers(results) if (e in signed) is side]) for side in (True, False))
    return [(side, names) for side, names in both if names]


def described(record: Exposed, shown: Heat) -> str:
    """A map in words, for those who do not see it."""
    side = "trained on it" if shown.member else "not trained on it"
    return (
        f"{shown.explainer} of row {record.record}, labelled {record.label}, under model {shown.model}, {side}, which "
        f"says {shown.prediction} ({words.whole_percent(shown.chance)}); strongest colour {shown.reach:.3g}"
    )


def _pixels(shown: Picture) -> Bytes:
    return np.frombuffer(base64.b64decode(shown.pixels), dtype=np.uint8).reshape(shown.size)


def _address(rgba: Bytes) -> str:
    """Pixels (4, height, width) as a data URI of a PNG picture."""
    _, height, width = rgba.shape
    lines = np.moveaxis(rgba, 0, 2).reshape(height, 4 * width)
    raw = np.concatenate([np.zeros((height, 1), dtype=np.uint8), lines], axis=1).tobytes()  # no filter on any line
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    png = SIGNATURE + b"".join(map(_chunk, chunks))
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"


def _chunk(named: tuple[bytes, bytes]) -> bytes:
    name, content = named
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
