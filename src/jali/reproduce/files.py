"""Files of a reproduction: findings and studies as text that can be reviewed, drawings compressed beside it."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from jali.core import files as core_files
from jali.core.errors import JaliError
from jali.reproduce import schema_1
from jali.reproduce.schema import Paper
from jali.results import Row
from jali.results.reproduction import Capped, Finding, Reproduction, Study
from jali.store import atomic, write_text

SCHEMA = "jali.reproduction/2"
FIRST = "jali.reproduction/1"  # the first edition: every field of every value, drawings in the same file
DIGITS = 6  # significant digits of numbers that no verdict depends on
DRAWINGS = ".drawings.json.gz"
MOST = 1 << 28  # bytes of all drawings; those of five papers have 2 million
SHARED = (
    "section",
    "source",
    "kind",
    "bound",
    "tolerance",
    "units",
    "reason",
    "item",
    "released",
    "exact",
    "differs",
)  # written once where all findings of a section agree
ESTIMATE = ("value", "low", "high", "units", "reason")
CAP = ("value", "low", "high", "cap", "looser")
Fields = dict[str, Any]


def save(found: Reproduction, folder: Path) -> None:
    """Write `<paper>.json`, and its drawings beside it if there are any."""
    file = folder / f"{found.paper}.json"
    drawn = _drawings_of(file)
    if found.drawings:
        with atomic(drawn) as out:
            out.write(_compressed([_dumped(drawing) for drawing in found.drawings]))
    else:
        drawn.unlink(missing_ok=True)
    write_text(file, text(found))


def read(file: Path, paper: Paper | None = None) -> Reproduction:
    """The reproduction that a file of this schema or of the first one holds.

    paper: whose run it is; rows of the first schema name its methods, and say no more of a query attack than that.
    """
    try:
        content = json.loads(core_files.content(file))
        if content["schema_version"] == FIRST:
            return Reproduction.model_validate(schema_1.converted(content, paper) | {"schema_version": SCHEMA})
        return Reproduction.model_validate(_whole(content, file))
    except JaliError:
        raise
    except OSError as error:
        raise JaliError(f"Cannot read {error.filename or file}: {error.strerror or error}.") from None
    except (ValueError, TypeError, KeyError, AttributeError, EOFError, RecursionError, zlib.error):
        raise JaliError(f"{file} is not the file of a reproduction: give the .json file of an earlier run.") from None


def all_in(folder: Path) -> list[Reproduction]:
    """The reproductions whose files lie in a folder, without their drawings; other files are passed over."""
    out = []
    for file in sorted(folder.glob("*.json")):
        try:
            content = json.loads(core_files.content(file))
            if isinstance(content, dict) and content.get("schema_version") == SCHEMA:
                out.append(Reproduction.model_validate(_whole(content | {"drawings": []}, file)))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
    return out


def text(found: Reproduction) -> str:
    """All but the drawings as JSON: a line per finding, and per explainer, group and attack that was measured."""
    head = _dumped(found.model_copy(update={"findings": [], "drawings": [], "studies": []}))
    lines = [f" {_json(name)}: {_json(value)}" for name, value in ({"schema_version": SCHEMA} | head).items()]
    if found.drawings:
        lines.append(f' "drawings": {_json(found.paper + DRAWINGS)}')
    lines.append(f' "findings": {_nested(map(_section, _sections(found.findings)), 1)}')
    lines.append(f' "studies": {_nested(map(_study, found.studies), 1)}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _whole(content: Fields, file: Path) -> Fields:
    """A file of this schema with everything that it leaves out."""
    if content["schema_version"] != SCHEMA:
        raise ValueError
    drawn = json.loads(_decompressed(_drawings_of(file))) if content.get("drawings") else []
    findings = [part["shared"] | own for part in content["findings"] for own in part["findings"]]
    studies = [_study_of(study) for study in content["studies"]]
    return content | {"findings": findings, "studies": studies, "drawings": drawn}


# --- findings by section -------------------------------------------------------------------------------------------


def _sections(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Findings that follow each other in one section."""
    out: list[list[Finding]] = []
    for finding in findings:
        if not out or out[-1][0].section != finding.section:
            out.append([])
        out[-1].append(finding)
    return out


def _section(findings: Sequence[Finding]) -> Fields:
    """What all findings of a section share, and each without it; their numbers keep every bit."""
    every = [_dumped(finding, digits=0) for finding in findings]
    shared = {k: every[0][k] for k in SHARED if k in every[0] and all(e.get(k) == every[0][k] for e in every)}
    return {"shared": shared, "findings": [{k: v for k, v in e.items() if k not in shared} for e in every]}


# --- studies -------------------------------------------------------------------------------------------------------


def _study(study: Study) -> Fields:
    own = _dumped(study.model_copy(update={"measures": [], "capped": []}))
    measures = [_without_kind(some) for some in _folded(study.measures, ESTIMATE)]
    capped = _folded(study.capped, CAP)
    return own | ({"measures": measures} if measures else {}) | ({"capped": capped} if capped else {})


def _without_kind(measure: Fields) -> Fields:
    """A measure without its kind, unless that is another."""
    return {k: v for k, v in measure.items() if (k, v) != ("kind", "measure")}


def _study_of(compact: Fields) -> Fields:
    measures = [{"kind": "measure"} | row for row in _unfolded(compact.get("measures", []), ESTIMATE)]
    return compact | {"measures": measures, "capped": _unfolded(compact.get("capped", []), CAP)}


def _folded(rows: Iterable[Row | Capped], fields: Sequence[str]) -> list[Fields]:
    """Rows that differ only in their metric and its numbers as one: metric -> numbers in the order of fields."""
    out: dict[str, Fields] = {}
    for row in map(_dumped, rows):
        head = {k: v for k, v in row.items() if k not in (*fields, "metric")}
        numbers = [row.get(k) for k in fields]
        while numbers and numbers[-1] is None:
            numbers.pop()
        out.setdefault(_json(head), head | {"metrics": {}})["metrics"][row["metric"]] = numbers
    return list(out.values())


def _unfolded(folded: Iterable[Fields], fields: Sequence[str]) -> list[Fields]:
    """The inverse of `_folded`; omitted fields have their defaults, and an omitted value is missing."""
    out = []
    for some in folded:
        head = {k: v for k, v in some.items() if k != "metrics"}
        for metric, numbers in some["metrics"].items():
            given = {k: v for k, v in zip(fields, numbers, strict=False) if v is not None}
            out.append({"metric": metric, "value": None} | head | given)
    return out


# --- text ----------------------------------------------------------------------------------------------------------


def _dumped(value: BaseModel, digits: int = DIGITS) -> Fields:
    """The fields that are not at their defaults."""
    fields: Fields = _rounded(value.model_dump(mode="json", exclude_defaults=True), digits)
    return fields


def _rounded(value: Any, digits: int) -> Any:
    """Floats with this many significant digits (0: all), also inside lists and tables."""
    if isinstance(value, float) and digits:
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {k: _rounded(v, digits) for k, v in value.items()}
    return [_rounded(v, digits) for v in value] if isinstance(value, list) else value


def _nested(values: Iterable[Fields], depth: int) -> str:
    """A list with a line per value; a value that holds lists of tables has a line for each of these."""
    pad = " " * (depth + 1)
    lines = [pad + _entry(value, depth + 1) for value in values]
    return "[\n" + ",\n".join(lines) + "\n" + " " * depth + "]" if lines else "[]"


def _entry(value: Fields, depth: int) -> str:
    long = {k: v for k, v in value.items() if isinstance(v, list) and v and all(isinstance(x, dict) for x in v)}
    if not long:
        return _json(value)
    short = [f"{_json(k)}:{_json(v)}" for k, v in value.items() if k not in long]
    return "{" + ",".join([*short, *(f"{_json(k)}:{_nested(v, depth)}" for k, v in long.items())]) + "}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _drawings_of(file: Path) -> Path:
    return file.with_name(file.stem + DRAWINGS)


def _compressed(drawings: list[Fields]) -> bytes:
    """Without a date, so that the same drawings are the same bytes."""
    return gzip.compress(json.dumps(drawings, ensure_ascii=False, separators=(",", ":")).encode(), 9, mtime=0)


def _decompressed(file: Path) -> str:
    try:
        with core_files.opened(file) as packed, gzip.open(packed) as content:
            drawings = content.read(MOST + 1)
    except FileNotFoundError:
        raise JaliError(
            f"The drawings of this run are not at {file}: put the file beside the .json file, or remove the line "
            f'"drawings" from it for a page without figures.'
        ) from None
    if len(drawings) > MOST:
        raise JaliError(f"{file} unpacks to more than {MOST >> 20} MB, and drawings are small: make them again.")
    return drawings.decode()
