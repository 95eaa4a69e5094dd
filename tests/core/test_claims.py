"""Claims are frozen arrays of one length each; they know nothing of the truth."""

from __future__ import annotations

import dataclasses
from typing import get_args

import numpy as np
import pytest

from jali.core.claims import Claim, Harm, Identity, Membership
from jali.core.errors import JaliError


def test_a_claim_holds_nothing_that_says_who_is_a_member():
    names = {f.name for claim in get_args(Claim) for f in dataclasses.fields(claim)}
    assert names == {"score", "overall", "person", "candidates", "values"}


def test_membership_is_a_score_per_record():
    claim = Membership([1, -1])
    assert claim.score.dtype == np.float64
    assert not claim.score.flags.writeable
    assert claim.overall == {}
    assert Membership(np.zeros(2)).overall is not claim.overall
    with pytest.raises(JaliError, match=r"score must have shape \(any\), not \(1, 2\)"):
        Membership(np.zeros((1, 2)))


def test_identity_is_a_person_a_count_and_a_row_per_record():
    claim = Identity(np.ones(2), [3, -1], [1, 0], np.zeros((2, 4)))
    assert (claim.person.dtype, claim.candidates.dtype) == (np.int64, np.int64)
    assert claim.values.shape == (2, 4)
    assert not any(getattr(claim, f.name).flags.writeable for f in dataclasses.fields(claim))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"person": [1]}, r"person must have shape \(2\)"),
        ({"candidates": [1, 2, 3]}, r"candidates must have shape \(2\)"),
        ({"values": np.zeros((3, 4))}, r"values must have shape \(2, any\)"),
    ],
)
def test_what_does_not_fit_together_is_refused(change, says):
    parts = {"score": np.ones(2), "person": [0, 0], "candidates": [1, 1], "values": np.zeros((2, 4))}
    with pytest.raises(JaliError, match=says):
        Identity(**parts | change)


def test_harms_are_those_of_the_threat_table():
    from jali.audit.threat_models import HARMS

    assert tuple(HARMS) == get_args(Harm)
