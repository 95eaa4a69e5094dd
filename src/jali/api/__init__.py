"""The interface: audit a model of your own, a named experiment, or evidence without any model."""

from jali.api.audits import audit, foresee, from_config
from jali.api.evidence_files import as_released, attack_file, save_reproduction, store_in
from jali.api.explainers import explainer, reason_codes
from jali.api.result import Audit

__all__ = [
    "Audit",
    "as_released",
    "attack_file",
    "audit",
    "explainer",
    "foresee",
    "from_config",
    "reason_codes",
    "save_reproduction",
    "store_in",
]
