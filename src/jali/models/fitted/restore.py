"""Ensembles from plain arrays, so that models are stored as npz and never pickled."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.protocols import Ensemble
from jali.models.fitted.linear import LinearEnsemble
from jali.models.fitted.network import NetworkEnsemble
from jali.models.fitted.torch_network import restored


def restore(arrays: Mapping[str, Any], encoding: Encoding, modules: Collection[str] = ()) -> Ensemble | None:
    """The ensemble that was saved as these arrays by `arrays()`; None if they are of an unknown kind.

    The arrays of several ensembles of one trainer may be concatenated along the first axis. `modules` are the user's
    own modules that may be imported: a file in the store could name any module, and only those of the trainer are safe.

    >>> import numpy as np
    >>> from jali.core.values import Column, Schema
    >>> encoding = Encoding(Schema((Column("age"),)))
    >>> len(restore({"coef": np.zeros((3, 1, 2)), "intercept": np.zeros((3, 2))}, encoding))
    3
    """
    found = _restored(arrays, encoding, modules)
    if found is not None and not len(found):
        raise JaliError("The stored weights hold no model.")
    return found


def _restored(arrays: Mapping[str, Any], encoding: Encoding, modules: Collection[str]) -> Ensemble | None:
    if "coef" in arrays:
        _check_names(arrays, ("coef", "intercept"))
        return LinearEnsemble(encoding, arrays["coef"], arrays["intercept"])
    if "architecture" in arrays:
        return restored(arrays, encoding, modules)
    depth = sum(name.startswith("weight") for name in arrays)
    if not depth:
        return None
    _check_names(arrays, [f"{kind}{layer}" for kind in ("weight", "bias") for layer in range(depth)])
    weights = tuple(arrays[f"weight{layer}"] for layer in range(depth))
    return NetworkEnsemble(encoding, weights, tuple(arrays[f"bias{layer}"] for layer in range(depth)))


def _check_names(arrays: Mapping[str, Any], names: Collection[str]) -> None:
    """Refuse weights that are not complete."""
    if missing := [name for name in names if name not in arrays]:
        raise JaliError(f"The stored weights lack {missing[0]!r}.")
