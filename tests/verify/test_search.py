from __future__ import annotations

import numpy as np

from jali.verify.answers import called
from jali.verify.search import Probe
from tests.verify.returning import failing, returning


def test_a_probe_knows_failure_from_silence_and_silence_from_an_answer():
    error = called([failing(KeyError("x"))] * 2)
    nan = returning(np.nan, np.nan)
    assert Probe(error, error, error).failed
    assert (Probe(nan, nan, nan).silent, Probe(nan, nan, nan).failed) == (True, False)
    assert not Probe(error, nan, error).silent
    assert Probe(error, nan, error).changed == 1
    assert not Probe(nan, nan, returning(1.0, np.nan)).repeats


def test_a_message_that_changes_with_the_record_is_an_answer_even_if_each_is_new():
    here = called([failing(KeyError(f"{i}, known")) for i in range(3)])
    there = called([failing(KeyError(f"{i}, new")) for i in range(3)])
    other = called([failing(KeyError(f"{i + 7}, known")) for i in range(3)])
    assert not Probe(here, there, here).silent
    assert Probe(here, other, there).silent  # noise that cannot be held fixed changes messages, too
