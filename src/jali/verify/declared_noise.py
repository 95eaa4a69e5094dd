"""The epsilon of the declared noise by a second accountant, beside the claimed epsilon."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from jali.core.guarantee import GaussianNoise, Guarantee, accounting
from jali.privacy.accounting import Recomputed, recomputed
from jali.privacy.mechanisms import Tape

if TYPE_CHECKING:
    from dp_accounting import DpEvent


def accounted(given: Guarantee, tape: Tape) -> Recomputed | None:
    """The claim beside the epsilons of two accountants for the declared noise; None if too little was declared."""
    noise = event(given, tape)
    return None if noise is None else recomputed(given, noise)


def too_small(found: Recomputed | None) -> str:
    """A warning if the declared noise is too small for the claim; empty if it suffices or is not known."""
    if found is None or found.holds:
        return ""
    return (
        f"THE DECLARED NOISE IS TOO SMALL FOR THE CLAIM: it costs epsilon = {min(found.pld, found.rdp):.4g}, "
        f"not {found.claimed:g}."
    )


def event(given: Guarantee, tape: Tape) -> DpEvent | None:
    """The mechanisms on a tape as an event of `dp-accounting`; None if the constants that they declared do not suffice.

    A mechanism that declares `scale` and `sensitivity` adds Laplace noise (L1 sensitivity) or `ball` noise (L2). A
    mechanism that declares the `multiplier` of a claim has the claim's event, with the declared multiplier.

    >>> from jali.privacy.mechanisms import recording, released
    >>> import numpy as np
    >>> with recording() as tape:
    ...     _ = released("noise", lambda: np.zeros(1), scale=2.0, sensitivity=1.0)
    >>> event(Guarantee("x", 0.5, "replace-one", ("decisions",)), tape)
    LaplaceDpEvent(noise_multiplier=2.0)
    """
    noise: list[Any] = []
    for _, constants, _ in tape.releases:
        if "multiplier" in constants and isinstance(given, GaussianNoise):
            noise.append(dataclasses.replace(given, multiplier=constants["multiplier"]).event())  # type: ignore[call-arg]
        elif constants.get("sensitivity", 0) > 0 and "scale" in constants:
            noise.append(accounting().LaplaceDpEvent(constants["scale"] / constants["sensitivity"]))
        else:
            return None
    if len(noise) > 1:
        return accounting().ComposedDpEvent(noise)
    return noise[0] if noise else None
