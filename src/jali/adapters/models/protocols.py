"""How rows are sent to an endpoint and what comes back: MLflow, KServe version 1 and 2, or a template."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jali.core.errors import JaliError

Names = Sequence[str] | None
Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Protocol:
    """request: the body for rows and the names of their columns, if any. answers: of a reply, one for each row."""

    request: Callable[[Names, Rows], Any]
    answers: Callable[[Any], list[Any]]


def mlflow() -> Protocol:
    """MLflow's /invocations: a table by rows and columns, or rows of numbers; the answer is under `predictions`."""
    return Protocol(_mlflow_request, lambda reply: _found(reply, "predictions"))


def _mlflow_request(names: Names, rows: Rows) -> Any:
    if names is None:
        return {"inputs": [list(row) for row in rows]}
    return {"dataframe_split": {"columns": list(names), "data": [list(row) for row in rows]}}


def kserve_v1() -> Protocol:
    """KServe's :predict of version 1: rows, or mappings from column to value, under `instances`."""
    return Protocol(
        lambda names, rows: {"instances": [list(r) if names is None else _named(names, r) for r in rows]},
        lambda reply: _found(reply, "predictions"),
    )


def kserve_v2() -> Protocol:
    """KServe's /infer of version 2: one tensor of all rows, or one for each column of a table."""
    return Protocol(_v2_request, _v2_answers)


def _v2_request(names: Names, rows: Rows) -> Any:
    if names is None:
        shape = [len(rows), len(rows[0])]
        flat = [value for row in rows for value in row]
        return {"inputs": [{"name": "input-0", "shape": shape, "datatype": "FP64", "data": flat}]}
    inputs = []
    for j, name in enumerate(names):
        column = [row[j] for row in rows]
        inputs.append({"name": name, "shape": [len(rows), 1], "datatype": _datatype(column), "data": column})
    return {"inputs": inputs, "parameters": {"content_type": "pd"}}


def _datatype(column: Sequence[Any]) -> str:
    kinds = {type(value) for value in column if value is not None}
    if kinds <= {bool} and kinds:
        return "BOOL"
    if kinds <= {int} and kinds and None not in column:
        return "INT64"
    return "FP64" if kinds <= {int, float} else "BYTES"


def _v2_answers(reply: Any) -> list[Any]:
    """The rows of the output called probabilities, or of the last one."""
    outputs = _found(reply, "outputs")
    chosen = next((o for o in outputs if "prob" in str(o.get("name", ""))), outputs[-1])
    shape, data = chosen["shape"], chosen["data"]
    if len(shape) < 2 or (data and isinstance(data[0], list)):
        return list(data)
    wide = int(shape[1])
    return [data[at : at + wide] for at in range(0, len(data), wide)]


PROTOCOLS: dict[str, Callable[[], Protocol]] = {"mlflow": mlflow, "kserve_v1": kserve_v1, "kserve_v2": kserve_v2}


def templated(given: Mapping[str, Any]) -> Protocol:
    """A protocol of one's own: `request` with $rows, $records or $columns in it, and the path of the answers.

    >>> own = templated({"request": {"q": "$rows"}, "answer": "out.scores"})
    >>> own.request(None, [[1.0]]), own.answers({"out": {"scores": [0.5]}})
    ({'q': [[1.0]]}, [0.5])
    """
    if set(given) - {"request", "answer"} or "request" not in given:
        raise JaliError(
            "A protocol template has request and answer, such as {'request': {'rows': '$rows'}, 'answer': 'scores'}."
        )
    path = str(given.get("answer", ""))
    text = str(given["request"])
    if "$rows" not in text and "$records" not in text:
        raise JaliError("The request of a protocol template must contain '$rows' or '$records', where the rows go.")
    return Protocol(
        lambda names, rows: _filled(given["request"], names, rows),
        lambda reply: _found(reply, *filter(None, path.split("."))),
    )


def _filled(part: Any, names: Names, rows: Rows) -> Any:
    """A template with its marks replaced."""
    if isinstance(part, Mapping):
        return {key: _filled(value, names, rows) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_filled(value, names, rows) for value in part]
    known: dict[str, Callable[[], Any]] = {
        "$rows": lambda: [list(row) for row in rows],
        "$records": lambda: [_named(names or _numbered(rows), row) for row in rows],
        "$columns": lambda: list(names or _numbered(rows)),
    }
    return known[part]() if isinstance(part, str) and part in known else part


def _numbered(rows: Rows) -> list[str]:
    return [f"x{j}" for j in range(len(rows[0]))]


def _named(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return dict(zip(names, row, strict=True))


def _found(reply: Any, *path: str) -> list[Any]:
    """What a reply has at a path; it must be a list."""
    for name in path:
        if not isinstance(reply, Mapping) or name not in reply:
            has = ", ".join(map(repr, list(reply)[:5])) if isinstance(reply, Mapping) else type(reply).__name__
            raise JaliError(f"The endpoint's answer has no {name!r} (it has {has}): is the protocol another one?")
        reply = reply[name]
    if not isinstance(reply, list):
        raise JaliError(f"The endpoint must answer with a list, one entry for each row, not {type(reply).__name__}.")
    return reply
