"""The price of protection, and attributions that do or do not name what the model uses."""

from __future__ import annotations

import numpy as np
import pytest

import jali
from jali.audit.faithfulness import faithfulness
from jali.core.encoding import Encoding
from jali.core.explanation import Attribution
from jali.core.values import Column, Dataset, Schema
from jali.models.fitted.linear import LinearModel
from tests.protect.people import SETTINGS, trained


def test_the_price_counts_what_people_get():
    train, others, model = trained()
    protected = jali.protect(model, train, "k_groups(k=8)", **SETTINGS)
    price = protected.price(others)
    denied = model.predict(others[0]) == "no"
    given = [bool(a.row) for a in protected.explain(others[0])]
    answered = price.find("answered")
    assert answered.n == denied.sum()
    assert answered.value == pytest.approx(np.sum(given) / denied.sum())
    assert 0.9 < answered.low < answered.value
    assert price.find("withheld").value == pytest.approx(1 - answered.value)
    assert price.find("valid").value == 1
    assert price.find("accuracy").value == pytest.approx((model.predict(others[0]) == others[1]).mean())
    by_sex = [price.find("answered", f"sex={s}").n for s in "fm"]
    assert sum(by_sex) == answered.n
    assert 0 < price.find("fidelity").value <= 1
    assert len(price.to_frame()) == len(price.lines)


def test_faithful_attributions_have_low_deletion_and_high_insertion():
    """A model that reads one of three columns: naming it first is faithful, naming it last is not."""
    schema = Schema((Column("a"), Column("b"), Column("c")))
    model = LinearModel(Encoding(schema), np.array([[0.0, 4.0], [0, 0], [0, 0]]), np.zeros(2))
    people = Dataset(np.array([[1.0, 1, 1], [1, 2, 2], [-1, 0, 0], [-1, -1, -1], [0, 0, 0]]), [1, 1, 0, 0, 0], schema)
    right = faithfulness(model, people, Attribution(np.tile([1.0, 0.5, 0.1], (5, 1))))
    wrong = faithfulness(model, people, Attribution(np.tile([0.1, 0.5, 1.0], (5, 1))))
    p = 1 / (1 + np.exp(-4.0))
    assert right["deletion"][0] == pytest.approx(0.5)
    assert right["insertion"][0] == pytest.approx(p)
    assert wrong["deletion"][0] == pytest.approx((p + p + 0.5) / 3)
    assert wrong["insertion"][0] == pytest.approx((0.5 + 0.5 + p) / 3)
