from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _short_training(monkeypatch):
    """Contracts hold after any number of steps, so autoencoders take few; tests/explain trains them in full."""
    monkeypatch.setattr("jali.explain._recourse.vae.STEPS", 200)
    monkeypatch.setattr("jali.explain._recourse.vae.EPOCHS", 2)
