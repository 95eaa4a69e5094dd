"""The interface: audit or protect a model of your own, or audit a named experiment or evidence without any model."""

from jali.api.answers import Answer
from jali.api.audits import audit, foresee, from_config
from jali.api.comparing import compare
from jali.api.dumps import attack_dump
from jali.api.evidence_files import as_released, attack_file, save_reproduction, store_in
from jali.api.explainers import explainer, reason_codes
from jali.api.exposed import exposure
from jali.api.forgetting import forget
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
    "link_released",
    "protect",
    "reason_codes",
    "save_reproduction",
    "scan",
    "store_in",
]
