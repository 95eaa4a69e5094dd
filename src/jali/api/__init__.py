"""The interface: audit or protect a model of your own, or audit a named experiment or evidence without any model."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jali.api.answers import Answer
    from jali.api.audits import audit, foresee, from_config
    from jali.api.comparing import compare
    from jali.api.dumps import attack_dump
    from jali.api.evidence_files import as_released, attack_file, save_reproduction, store_in
    from jali.api.explainers import explainer, reason_codes
    from jali.api.exposed import exposure
    from jali.api.forgetting import forget
    from jali.api.frontiers import frontier, frontier_of, read_frontier
    from jali.api.protected import Protected
    from jali.api.protection import protect
    from jali.api.released import attack_released, link_released
    from jali.api.result import Audit
    from jali.api.scanning import scan
    from jali.protect.budget import Budget

__all__ = [
    "Answer",
    "Audit",
    "Budget",
    "Protected",
    "as_released",
    "attack_dump",
    "attack_file",
    "attack_released",
    "audit",
    "compare",
    "explainer",
    "exposure",
    "foresee",
    "forget",
    "from_config",
    "frontier",
    "frontier_of",
    "link_released",
    "protect",
    "read_frontier",
    "reason_codes",
    "save_reproduction",
    "scan",
    "store_in",
]
MODULES = {
    "Answer": "answers",
    "Audit": "result",
    "Protected": "protected",
    "as_released": "evidence_files",
    "attack_dump": "dumps",
    "attack_file": "evidence_files",
    "attack_released": "released",
    "audit": "audits",
    "compare": "comparing",
    "explainer": "explainers",
    "exposure": "exposed",
    "foresee": "audits",
    "forget": "forgetting",
    "from_config": "audits",
    "frontier": "frontiers",
    "frontier_of": "frontiers",
    "link_released": "released",
    "protect": "protection",
    "read_frontier": "frontiers",
    "reason_codes": "explainers",
    "save_reproduction": "evidence_files",
    "scan": "scanning",
    "store_in": "evidence_files",
}


def __getattr__(name: str) -> Any:
    """Load a function on first use: no command needs all of them."""
    if name == "Budget":
        return import_module("jali.protect.budget").Budget
    if name in MODULES:
        return getattr(import_module(f"jali.api.{MODULES[name]}"), name)
    raise AttributeError(f"module 'jali.api' has no attribute {name!r}")
