from __future__ import annotations

import numpy as np

from jali.audit.plan import with_gaps
from jali.core.values import Evidence, Game, SignalName
from tests.conftest import planted


def test_not_asked_is_not_the_same_as_no_answer():
    found, whole = planted(0.0, n=30, models=4, signals=2)
    asked = np.arange(30)[:, None] < np.array([30, 20, 20, 20])
    there = asked & (np.arange(30) % 3 > 0)[:, None]
    game = Game(whole.member, [0], np.array([[False, True, True, True]]), np.ones((30, 1), bool), asked)
    evidence = Evidence(
        (SignalName("l1", "scores"), SignalName("l1", "recourse")), found.value, np.stack([asked, there]), found.member
    )
    full = with_gaps(evidence, game)
    assert full.names == (*evidence.names, SignalName("answered", "recourse"))
    np.testing.assert_array_equal(full.observed[2], asked)
    np.testing.assert_array_equal(full.value[2], there)


def test_where_everybody_is_asked_a_gap_is_no_answer():
    found, game = planted(0.0, n=30, models=4)
    there = np.arange(30)[:, None] % 3 > np.zeros(4)
    full = with_gaps(Evidence((SignalName("l1", "recourse"),), found.value, there[None], found.member), game)
    assert full.names == (SignalName("l1", "recourse"), SignalName("answered", "recourse"))
    assert full.observed[1].all()
    assert with_gaps(found, game) is found
