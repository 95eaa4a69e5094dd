"""jali: what a model's explanations give away about the people in its training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.adapters.models.http import http_model
    from jali.api import (
        Audit,
        Budget,
        Protected,
        attack_dump,
        attack_released,
        audit,
        compare,
        explainer,
        exposure,
        forget,
        frontier,
        link_released,
        protect,
        reason_codes,
        scan,
    )

__all__ = [
    "Audit",
    "Budget",
    "Protected",
    "__version__",
    "attack_dump",
    "attack_released",
    "audit",
    "compare",
    "explainer",
    "exposure",
    "forget",
    "frontier",
    "http_model",
    "link_released",
    "protect",
    "reason_codes",
    "scan",
]
__version__ = "0.2.0"


def __getattr__(name: str) -> Any:
    """Load the interface on first use, so that `jali --help` stays quick."""
    from importlib import import_module

    if name in ("audit", "protect"):
        return import_module(f"jali.{name}")
    if name == "http_model":
        return import_module("jali.adapters.models.http").http_model
    if name in __all__:
        return getattr(import_module("jali.api"), name)
    raise AttributeError(f"module 'jali' has no attribute {name!r}")
