"""Explanations that give less away, with their guarantee and price. `jali.protect(model, …)` is `jali.api.protect`."""

import sys

from jali.core.callable_packages import Verb

sys.modules[__name__].__class__ = Verb
