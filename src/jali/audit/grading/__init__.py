"""One grader per harm; each file holds one, and a new file is found by itself."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module

from jali.core.claims import Harm
from jali.core.errors import JaliError
from jali.core.grading import Grader


def graders() -> tuple[Grader, ...]:
    """Every grader there is."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    return tuple(_only(f"{__name__}.{name}") for name in sorted(names))


def grader(harm: Harm) -> Grader:
    """The grader of attacks that learn this.

    >>> grader("membership").claim.__name__
    'Membership'
    """
    for found in graders():
        if found.harm == harm:
            return found
    raise JaliError(f"Nothing grades what an attack learns about {harm}: add a grader to audit/grading.")


def _only(module: str) -> Grader:
    """The one public grader of a file."""
    classes = [c for c in vars(import_module(module)).values() if inspect.isclass(c) and c.__module__ == module]
    grader: Grader = next(c() for c in classes if not c.__name__.startswith("_"))  # type: ignore[assignment]
    return grader
