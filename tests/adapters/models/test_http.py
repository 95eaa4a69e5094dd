"""A model behind HTTP, on this machine only: the same numbers as in process, counted, repeated, and limited."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import jali
from jali.adapters.models import http
from jali.adapters.models.protocols import kserve_v1, kserve_v2, mlflow, templated
from jali.core.errors import JaliError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 3))
Y = (X[:, 0] + RNG.normal(size=400) > 0).astype(int)
TREE = DecisionTreeClassifier(random_state=0, max_depth=6).fit(X[:150], Y[:150])


class Served(ThreadingHTTPServer):
    """A server on loopback that answers each request by a function from JSON to (status, JSON)."""

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.bodies = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}/invocations"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.bodies.append(body)
        status, reply = self.server.answer(body)
        content = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture
def serve(monkeypatch):
    monkeypatch.setattr(http, "WAIT", 0.0)
    running = []

    def start(answer):
        server = Served(answer)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        running.append((server, thread))
        return server

    yield start
    for server, thread in running:
        server.shutdown()
        server.server_close()
        thread.join()


def scored(body):
    return 200, {"predictions": TREE.predict_proba(np.array(body["inputs"])).tolist()}


def grown(X, y, seed):
    return DecisionTreeClassifier(random_state=0, max_depth=6).fit(X, y)


def test_an_audit_over_http_gives_the_same_numbers(serve):
    settings = {"train": (X[:150], Y[:150]), "population": (X[150:], Y[150:]), "fit": grown}
    settings |= {"game": "given_model(members=150, shadows=1)", "attack": ["threshold"]}
    model = jali.http_model(serve(scored).url, budget=100_000)
    there = jali.audit(model, **settings)
    here = jali.audit(TREE, **settings)
    timed = ("seconds",)
    rows = [[r for r in a.results.rows if r.metric not in timed] for a in (there, here)]
    assert [(r.metric, r.value, r.low, r.high) for r in rows[0]] == [
        (r.metric, r.value, r.low, r.high) for r in rows[1]
    ]
    assert (there.evidence.value == here.evidence.value).all()
    assert 400 <= model.queries < 100_000


def test_rows_are_sent_in_batches_and_once(serve):
    server = serve(scored)
    model = jali.http_model(server.url, batch=64)
    np.testing.assert_array_equal(model.predict_proba(X), TREE.predict_proba(X))
    assert [len(body["inputs"]) for body in server.bodies] == [64] * 6 + [16]
    model.predict_proba(X[::-1])
    assert (model.queries, model.requests, len(server.bodies)) == (400, 7, 7)


def test_a_busy_server_is_asked_again(serve):
    replies = [(503, b"busy"), (429, b"slow down"), None]

    def sometimes(body):
        return replies.pop(0) or scored(body)

    model = jali.http_model(serve(sometimes).url, retries=2)
    np.testing.assert_array_equal(model.predict_proba(X[:5]), TREE.predict_proba(X[:5]))
    assert (model.queries, model.requests) == (5, 3)


@pytest.mark.parametrize(
    ("answer", "says", "requests"),
    [
        (lambda body: (503, b"busy"), "answered 503 Service Unavailable busy", 2),
        (lambda body: (400, b"schema mismatch\nmore"), "answered 400 Bad Request schema mismatch", 1),
        (lambda body: (200, b"<html>"), "something else than JSON", 1),
        (lambda body: (200, {"outputs": []}), "has no 'predictions' .it has 'outputs'.: is the protocol another", 1),
        (lambda body: (200, {"predictions": [0.5]}), "gave 1 answers for 3 rows", 1),
        (lambda body: (200, {"predictions": 3}), "must answer with a list", 1),
    ],
)
def test_a_server_that_cannot_be_used_is_one_sentence(serve, answer, says, requests):
    model = jali.http_model(serve(answer).url, retries=1)
    with pytest.raises(JaliError, match=says):
        model.predict_proba(X[:3])
    assert model.requests == requests


def test_the_budget_is_kept(serve):
    server = serve(scored)
    model = jali.http_model(server.url, batch=10, budget=25)
    with pytest.raises(JaliError, match="budget of 25 rows is spent: 20 were asked, and 10 more are needed"):
        model.predict_proba(X[:40])
    assert len(server.bodies) == 2
    with pytest.raises(JaliError, match="refused"):
        jali.http_model("http://127.0.0.1:9/x", retries=0).predict_proba(X[:1])


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"url": "file:///etc/passwd"}, "starts with http"),
        ({"protocol": "grpc"}, "knows the protocols mlflow, kserve_v1, kserve_v2, not 'grpc'"),
        ({"protocol": {"request": {"rows": 1}}}, "must contain"),
        ({"protocol": {"body": 1}}, "has request and answer"),
        ({"budget": 0}, "at least 1"),
    ],
)
def test_bad_settings(more, says):
    with pytest.raises(JaliError, match=says):
        jali.http_model(**{"url": "http://127.0.0.1:9/x", **more})


def test_protocols_by_hand():
    rows = [[1.5, "a"], [None, "b"]]
    named = mlflow().request(["n", "t"], rows)
    assert named == {"dataframe_split": {"columns": ["n", "t"], "data": rows}}
    assert kserve_v1().request(None, rows) == {"instances": rows}
    assert kserve_v1().request(["n", "t"], rows[:1]) == {"instances": [{"n": 1.5, "t": "a"}]}
    flat = kserve_v2().request(None, [[1.0, 2.0], [3.0, 4.0]])
    assert flat["inputs"] == [{"name": "input-0", "shape": [2, 2], "datatype": "FP64", "data": [1.0, 2.0, 3.0, 4.0]}]
    split = kserve_v2().request(["n", "t", "k", "b"], [[1.5, "a", 1, True], [None, "b", 2, False]])["inputs"]
    assert [(entry["datatype"], entry["data"]) for entry in split[:2]] == [("FP64", [1.5, None]), ("BYTES", ["a", "b"])]
    assert [entry["datatype"] for entry in split[2:]] == ["INT64", "BOOL"]
    outputs = [{"name": "label", "shape": [2], "data": [0, 1]}]
    assert kserve_v2().answers({"outputs": outputs}) == [0, 1]
    outputs.insert(0, {"name": "probabilities", "shape": [2, 2], "data": [0.1, 0.9, 0.4, 0.6]})
    assert kserve_v2().answers({"outputs": outputs}) == [[0.1, 0.9], [0.4, 0.6]]
    own = templated({"request": {"columns": "$columns", "q": [{"all": "$records"}]}, "answer": "a.b"})
    assert own.request(["n", "t"], rows[:1]) == {"columns": ["n", "t"], "q": [{"all": [{"n": 1.5, "t": "a"}]}]}


def test_values_as_json(serve):
    table = pd.DataFrame({"n": [1.5, np.nan], "t": ["a", None], "k": [1, 2], "b": [True, False]})
    server = serve(lambda body: (200, {"predictions": [[0.5, 0.5]] * len(body["dataframe_split"]["data"])}))
    jali.http_model(server.url).predict_proba(table)
    assert server.bodies[0]["dataframe_split"]["data"] == [[1.5, "a", 1, True], [None, None, 2, False]]
