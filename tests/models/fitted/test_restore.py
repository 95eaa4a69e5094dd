from __future__ import annotations

import numpy as np
import pytest

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.models.fitted.restore import restore
from jali.models.logistic import Logistic
from jali.models.mlp import MLP


@pytest.mark.parametrize("part", [Logistic(), MLP(hidden=(4, 3), epochs=1)], ids=["logistic", "mlp"])
def test_a_file_brings_back_the_same_ensemble(part, tmp_path):
    if isinstance(part, MLP):
        pytest.importorskip("torch", reason="the extra jali-audit[torch] is not installed")
    rng = np.random.default_rng(0)
    data = Dataset(rng.normal(size=(40, 2)), rng.integers(0, 2, 40), Schema((Column("a"), Column("b"))))
    fitted = part.fit(data, np.ones((40, 2), dtype=bool), [np.random.default_rng(j) for j in (0, 1)])
    np.savez(tmp_path / "models.npz", **fitted.arrays())
    with np.load(tmp_path / "models.npz", allow_pickle=False) as stored:
        back = restore(dict(stored), Encoding(data.schema))
    assert len(back) == 2
    np.testing.assert_array_equal(back.logits(data.X), fitted.logits(data.X))


def test_other_arrays_are_nobody():
    assert restore({"value": np.zeros(3)}, Encoding(Schema((Column("a"),)))) is None


def test_weights_of_no_model_are_refused():
    with pytest.raises(JaliError, match="hold no model"):
        restore({"coef": np.zeros((0, 1, 2)), "intercept": np.zeros((0, 2))}, Encoding(Schema((Column("a"),))))
