"""What the declared noise costs by a second accountant, beside the claim."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from jali.core.guarantee import GaussianNoise, Guarantee, accounting
from jali.privacy.accounting import Recomputed, recomputed
from jali.privacy.mechanisms import Tape

if TYPE_CHECKING:
    from dp_accounting import DpEvent


def accounted(given: Guarantee, tape: Tape) -> Recomputed | None:
    """The claim beside what two accountants compute from the noise that was declared; None if too little was."""
    noise = event(given, tape)
    return None if noise is None else recomputed(given, noise)


def too_small(found: Recomputed | None) -> str:
    """A warning where the declared noise does not suffice for the claim; empty where it does or is not known."""
    if found is None or found.holds:
        return ""
    return (
        f"THE DECLARED NOISE IS TOO SMALL FOR THE CLAIM: it costs epsilon = {min(found.pld, found.rdp):.4g}, "
        f"not {found.claimed:g}."
    )


def event(given: Guarantee, tape: Tape) -> DpEvent | None:
    """What the mechanisms on a tape did, for `dp-accounting`, if the constants they declared suffice; else None.

    Each with `scale` and `sensitivity` (the largest sum of changes): Laplace noise, or a ball's. With the `multiplier`
    that a claim rests on: the claim's event, with the multiplier that was used.

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
