"""jali: what a model's explanations give away about the people in its training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.adapters.models.http import http_model
    from jali.api import Audit, audit

__all__ = ["Audit", "__version__", "audit", "http_model"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the interface on first use, so that `jali --help` stays quick."""
    from importlib import import_module

    if name == "audit":
        return import_module("jali.audit")
    if name == "Audit":
        return import_module("jali.api").Audit
    if name == "http_model":
        return import_module("jali.adapters.models.http").http_model
    raise AttributeError(f"module 'jali' has no attribute {name!r}")
