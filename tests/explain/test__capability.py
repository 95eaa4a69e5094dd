from __future__ import annotations

import numpy as np
import pytest

from jali import parts
from jali.core import Column, JaliError, Schema
from jali.encoding import Encoding
from jali.explain._capability import differentiable, linear
from jali.models._network import Network

SCHEMA = Schema((Column("a"), Column("b")))


class Labels:
    """A model that answers and tells nothing else."""

    name = "OnlyLabels"

    def logits(self, X):
        return np.stack([X[:, 0], -X[:, 0]], axis=1)


def wants(name):
    return getattr(parts.find("explain", name), "wants", "")


def test_the_refusal_names_what_fits_a_model_without_gradients():
    with pytest.raises(JaliError, match="scfe needs gradients, and OnlyLabels has none") as refusal:
        differentiable("scfe", Labels(), SCHEMA)
    named = str(refusal.value).split("(")[1].split(")")[0].split(", ")
    assert named == [n for n in parts.names("explain") if wants(n) == "labels"]
    assert "scfe" not in named


def test_a_network_is_offered_gradients_where_it_is_not_linear():
    net = Network(Encoding(SCHEMA), (np.eye(2), np.eye(2)), (np.zeros(2), np.zeros(2)))
    with pytest.raises(JaliError, match="linear in its columns") as refusal:
        linear("linear_recourse", net, SCHEMA)
    assert "scfe" in str(refusal.value)
    assert "linear_recourse," not in str(refusal.value)
    assert differentiable("scfe", net, SCHEMA) is net
