"""Small mechanisms with a known epsilon, correct and broken: what a verifier finds, and what it wrongly refutes."""

from __future__ import annotations

from jali.verify.zoo import (
    bits,
    bounds,
    discrete,
    gaussian,
    groups,
    histograms,
    laplace,
    objects,
    places,
    rare,
    removal,
    responses,
    sampling,
    seeds,
    selection,
    sensitivity,
    shapes,
    supports,
    thresholds,
)
from jali.verify.zoo.exhibit import Exhibit

FAMILIES = (
    laplace,
    sensitivity,
    gaussian,
    discrete,
    supports,
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
    histograms,
    places,
    removal,
)


def exhibits() -> tuple[Exhibit, ...]:
    """All mechanisms of the zoo, family by family."""
    return tuple(each for family in FAMILIES for each in family.EXHIBITS)
