"""Packages that are functions too: `jali.audit(model, …)` beside `from jali.audit import worker`."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any


class Verb(ModuleType):
    """A package whose name is one of the verbs; calling it calls the function of that name in `jali.api`.

    Python puts an imported package into its parent under its own name, where the function of the same name should
    stand. So the package answers the call itself.
    """

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self._function()(*args, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._function())

    def _function(self) -> Any:
        return getattr(importlib.import_module("jali.api"), self.__name__.rpartition(".")[2])
