"""Sessions of ONNX Runtime, by a stand-in with its traps, and by the library where it is installed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from jali.adapters.models.onnx import OnnxModel, is_session
from jali.core.errors import JaliError

X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
TREE = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, X[:, 0] > 0)


class Session:
    """Gives labels first; then mappings, as skl2onnx writes them, or an array."""

    def __init__(self, mapped, names=("input",), kind="tensor(float)"):
        self.mapped = mapped
        self.names = names
        self.kind = kind

    def get_inputs(self):
        return [SimpleNamespace(name=name, type=self.kind) for name in self.names]

    def get_outputs(self):
        return []

    def run(self, outputs, feeds):
        rows = np.concatenate(list(feeds.values()), axis=1)
        assert rows.dtype == np.float32
        found = TREE.predict_proba(rows)
        return [found.argmax(axis=1), [dict(enumerate(p)) for p in found.tolist()] if self.mapped else found]


@pytest.mark.parametrize("mapped", [True, False])
def test_probabilities_are_found_among_the_outputs(mapped):
    session = Session(mapped)
    assert is_session(session)
    assert not is_session(TREE)
    found = OnnxModel(session, [0, 1]).predict_proba(X.astype(np.float64))
    np.testing.assert_allclose(found, TREE.predict_proba(X))


def test_one_input_for_each_column():
    model = OnnxModel(Session(True, ("a", "b")), [0, 1])
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame(X, columns=["a", "b"])), TREE.predict_proba(X))
    with pytest.raises(JaliError, match=r"has 2 inputs .*give train and population as tables"):
        model.predict_proba(X)
    with pytest.raises(JaliError, match="reads 'b', and the table has no such column"):
        model.predict_proba(pd.DataFrame(X, columns=["a", "c"]))
    with pytest.raises(JaliError, match=r"reads tensor\(bool\)"):
        OnnxModel(Session(True, kind="tensor(bool)"), [0, 1]).predict_proba(X)


def test_the_library_itself():
    runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    written = skl2onnx.to_onnx(TREE, X[:1])
    model = OnnxModel(runtime.InferenceSession(written.SerializeToString()), [False, True])
    np.testing.assert_allclose(model.predict_proba(X), TREE.predict_proba(X), atol=1e-6)
