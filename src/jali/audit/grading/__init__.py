"""The graders, one per harm and file; their interface is `core/grading.py`. A new file is registered automatically."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

from jali.core.claims import Harm
from jali.core.errors import JaliError
from jali.core.grading import Grader


def graders() -> tuple[Grader, ...]:
    """All graders."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    return tuple(_only(f"{__name__}.{name}") for name in sorted(names))


def grader(harm: Harm) -> Grader:
    """The grader of attacks that cause this harm.

    >>> grader("membership").claim.__name__
    'Membership'
    """
    for found in graders():
        if found.harm == harm:
            return found
    raise JaliError(f"There is no grader for attacks that learn {harm}: add one to audit/grading.")


def _only(module: str) -> Grader:
    """The one public grader of a file."""
    classes = [c for c in vars(import_module(module)).values() if inspect.isclass(c) and c.__module__ == module]
    grader: Grader = next(c() for c in classes if not c.__name__.startswith("_"))  # type: ignore[assignment]
    return grader
