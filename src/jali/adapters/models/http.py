"""A model behind an HTTP endpoint as a function that gives probabilities. Only this module opens connections."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from jali.adapters.models.protocols import PROTOCOLS, Protocol, templated
from jali.core.errors import JaliError

WAIT = 0.5  # seconds before the first retry; each further one waits twice as long
LATER = (408, 425, 429, 500, 502, 503, 504)  # answers of a server that may be others a moment later


class HttpModel:
    """Asks an endpoint for the probabilities of rows, in batches, and counts what it asks.

    A row that was asked about before is not asked again, so an audit costs each row once. `queries` counts rows,
    `requests` counts requests, failed ones too. Sending rows to a server tells it these rows.
    """

    def __init__(
        self,
        url: str,
        protocol: str | Mapping[str, Any] = "mlflow",
        *,
        batch: int = 256,
        retries: int = 3,
        budget: int | None = None,
        timeout: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise JaliError(f"http_model needs an address that starts with http:// or https://, not {url!r}.")
        if batch < 1 or retries < 0 or not timeout > 0 or (budget is not None and budget < 1):
            raise JaliError("http_model: batch and budget must be at least 1, retries at least 0, timeout above 0.")
        self.url = url
        self.protocol = _protocol(protocol)
        self.batch = batch
        self.retries = retries
        self.budget = budget
        self.timeout = timeout
        self.headers = {"Content-Type": "application/json", "Accept": "application/json", **(headers or {})}
        self.queries = 0
        self.requests = 0
        self.known: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"HttpModel({self.url}, {self.queries} rows asked)"

    def predict_proba(self, rows: Any) -> list[Any]:
        """What the endpoint answers for each row, in its own form."""
        names, cells = _cells(rows)
        keys = [json.dumps(row) for row in cells]
        fresh = {key: row for key, row in zip(keys, cells, strict=True) if key not in self.known}
        asked = list(fresh.items())
        for at in range(0, len(asked), self.batch):
            self._ask(names, asked[at : at + self.batch])
        return [self.known[key] for key in keys]

    def _ask(self, names: Sequence[str] | None, some: Sequence[tuple[str, list[Any]]]) -> None:
        if self.budget is not None and self.queries + len(some) > self.budget:
            raise JaliError(
                f"The budget of {self.budget:,} rows is spent: {self.queries:,} were asked, and {len(some):,} more are "
                "needed. Give a larger budget, fewer rows, or explainers that ask less."
            )
        self.queries += len(some)
        body = self.protocol.request(names, [row for _, row in some])
        found = self.protocol.answers(_json(self._send(json.dumps(body).encode())))
        if len(found) != len(some):
            raise JaliError(f"{self.url} gave {len(found)} answers for {len(some)} rows: is the protocol another one?")
        self.known.update(zip((key for key, _ in some), found, strict=True))

    def _send(self, body: bytes) -> bytes:
        """The answer to one request; a server that is busy or does not answer is asked again, a few times."""
        request = urllib.request.Request(self.url, body, self.headers, method="POST")
        for attempt in range(self.retries + 1):
            self.requests += 1
            try:
                with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                    content: bytes = answer.read()
                    return content
            except urllib.error.HTTPError as error:
                with error:
                    said = error.read(300).decode("utf-8", "replace").split("\n")[0]
                why = f"it answered {error.code} {error.reason} {said}".strip()
                if error.code not in LATER:
                    break
            except (OSError, ValueError) as error:
                why = str(getattr(error, "reason", None) or error or type(error).__name__)
            if attempt < self.retries:
                time.sleep(WAIT * 2**attempt)
        raise JaliError(f"{self.url} cannot be asked: {why}.")


def http_model(
    url: str,
    protocol: str | Mapping[str, Any] = "mlflow",
    *,
    batch: int = 256,
    retries: int = 3,
    budget: int | None = None,
    timeout: float = 30.0,
    headers: Mapping[str, str] | None = None,
) -> HttpModel:
    """A model behind an HTTP endpoint, for `jali.audit`.

    protocol: "mlflow" (/invocations), "kserve_v1" (:predict), "kserve_v2" (/infer), or a template such as
    {"request": {"rows": "$rows"}, "answer": "scores"}. budget: the most rows that may be asked. headers: such as those
    that authorise a request.
    """
    return HttpModel(url, protocol, batch=batch, retries=retries, budget=budget, timeout=timeout, headers=headers)


def _protocol(given: str | Mapping[str, Any]) -> Protocol:
    if isinstance(given, Mapping):
        return templated(given)
    if given not in PROTOCOLS:
        raise JaliError(
            f"http_model knows the protocols {', '.join(PROTOCOLS)}, not {given!r}; for another one give a template, "
            "such as protocol={'request': {'rows': '$rows'}, 'answer': 'scores'}."
        )
    made: Callable[[], Protocol] = PROTOCOLS[given]
    return made()


def _cells(rows: Any) -> tuple[list[str] | None, list[list[Any]]]:
    """The names of the columns, where they have any, and the rows as JSON can write them: missing values are null."""
    if not hasattr(rows, "columns"):
        return None, [[_plain(v) for v in row] for row in np.asarray(rows).tolist()]
    columns = [[_plain(v) for v in rows.iloc[:, j].tolist()] for j in range(rows.shape[1])]
    return [str(c) for c in rows.columns], [list(row) for row in zip(*columns, strict=True)]


def _plain(value: Any) -> Any:
    """A value that JSON has: a number, a text, a truth value, or None where it is missing."""
    if isinstance(value, bool | str | int) or value is None:
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, np.generic):
        return _plain(value.item())
    text = str(value)
    return None if text in ("<NA>", "NaT", "nan") else text


def _json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        raise JaliError(f"The endpoint answered with something else than JSON: {content[:80]!r}.") from None
