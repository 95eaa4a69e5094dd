"""Packages that can be called: `jali.audit(model, …)` works beside `from jali.audit import one_model`."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A package whose name is one of the verbs; calling it calls the function of that name in `jali.api`.

    Python sets an imported package as an attribute of its parent and so replaces the function of the same name.
    Therefore the package itself is callable.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self._function()(*args, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function())

    def _function(self) -> Any:
        return getattr(importlib.import_module("jali.api"), self.__name__.rpartition(".")[2])
