"""jali: what a model's explanations give away about the people in its training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.adapters.models.http import HttpModel as http_model
    from jali.api import Audit, audit, explainer, reason_codes

__all__ = ["Audit", "__version__", "audit", "explainer", "http_model", "reason_codes"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the interface on first use, so that `jali --help` stays quick."""
    from importlib import import_module

    if name == "audit":
        return import_module("jali.audit")
    if name in ("Audit", "explainer", "reason_codes"):
        return getattr(import_module("jali.api"), name)
    if name == "http_model":
        return import_module("jali.adapters.models.http").HttpModel
    raise AttributeError(f"module 'jali' has no attribute {name!r}")
