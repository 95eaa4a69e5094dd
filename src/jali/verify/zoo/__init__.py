"""Small mechanisms with a known epsilon, correct and broken: what a verifier finds, and what it wrongly refutes."""

from __future__ import annotations

from jali.verify.zoo import (
    bits,
    bounds,
    discrete,
    gaussian,
    groups,
    laplace,
    objects,
    rare,
    removal,
    responses,
    sampling,
    seeds,
    selection,
    shapes,
    thresholds,
)
from jali.verify.zoo.exhibit import Exhibit

FAMILIES = (
    laplace,
    gaussian,
    discrete,
    sampling,
    selection,
    responses,
    thresholds,
    rare,
    bits,
    shapes,
    objects,
    seeds,
    bounds,
    groups,
    removal,
)


def exhibits() -> tuple[Exhibit, ...]:
    """All mechanisms of the zoo, family by family."""
    return tuple(each for family in FAMILIES for each in family.EXHIBITS)
