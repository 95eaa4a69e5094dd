"""Parts of one's own that hold objects: keys follow what is in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from jali.core import registry
from jali.core.contents import untold
from jali.explain.reason_codes import ReasonCodes


@dataclass(frozen=True)
class Mine:
    """A part of a user's own that holds anything."""

    held: Any
    gives: ClassVar[str] = "attribution"


def fitted(turn: int) -> LogisticRegression:
    rng = np.random.default_rng(turn)
    return LogisticRegression().fit(rng.normal(size=(20, 2)), np.arange(20) % 2)


LONG = np.zeros(10_000)
OTHER = np.where(np.arange(10_000) == 5_000, 1.0, 0.0)


@pytest.mark.parametrize("pair", [(LONG, OTHER), (fitted(0), fitted(1)), ({"a": 1}, {"a": 2}), (b"a", b"b")])
def test_two_objects_with_the_same_text_have_two_keys(pair):
    one, other = pair
    assert registry.key(Mine(one)) != registry.key(Mine(other))
    assert registry.key(Mine([Mine(one)])) != registry.key(Mine([Mine(other)]))
    assert registry.key(ReasonCodes(inner=Mine(one))) != registry.key(ReasonCodes(inner=Mine(other)))


@pytest.mark.parametrize("make", [lambda: LONG.copy(), lambda: fitted(0), lambda: {"a": 1}])
def test_equal_contents_have_one_key(make):
    assert registry.key(Mine(make())) == registry.key(Mine(make()))


def test_what_cannot_be_pickled_counts_in_this_run_alone(monkeypatch):
    held = lambda: 1  # noqa: E731
    first = registry.key(Mine(held))
    assert registry.key(Mine(held)) == first
    assert registry.key(Mine(lambda: 1)) != first
    monkeypatch.setattr("jali.core.contents.RUN", "another run")
    assert registry.key(Mine(held)) != first


def test_parts_that_say_all_in_their_texts_have_nothing_beside_it():
    assert untold(registry.build("explain", 'reason_codes(tree_shap, show="signs")')) == ""
    assert untold(Mine([1, "a", None, (0.5, True)])) == ""
