"""Pages of results that somebody else may have sent or changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from jinja2 import TemplateError

from jali.core.errors import JaliError

DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, TemplateError)


@contextlib.contextmanager
def drawing(file: Path) -> Iterator[None]:
    """Say in one sentence that a file follows its schema, but holds what cannot be drawn.

    A schema cannot say everything, such as that one list is as long as another; a file that jali wrote can be drawn.
    """
    try:
        yield
    except JaliError:
        raise
    except DAMAGED as error:
        raise JaliError(
            f"{file} was changed in a way that cannot be drawn ({type(error).__name__}): run the command that made it "
            "again."
        ) from None
