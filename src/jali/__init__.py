"""jali: what a model's explanations give away about the people in its training data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.api import Audit, attack_dump, attack_released, audit, exposure, link_released, scan

__all__ = ["Audit", "__version__", "attack_dump", "attack_released", "audit", "exposure", "link_released", "scan"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load the interface on first use, so that `jali --help` stays quick."""
    from importlib import import_module

    if name == "audit":
        return import_module("jali.audit")
    if name in __all__:
        return getattr(import_module("jali.api"), name)
    raise AttributeError(f"module 'jali' has no attribute {name!r}")
