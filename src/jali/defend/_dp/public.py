"""A direction of recourse that is learnt from public data, not from the training rows."""

from __future__ import annotations

import numpy as np

from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.guarantee import Guarantee
from jali.core.protocols import Source
from jali.core.values import Dataset, Floats, Schema
from jali.data.linear_gaussian import LinearGaussian
from jali.data.sample import Sample
from jali.defend._dp.checks import EXACT_NOISE, ROW
from jali.defend._dp.erm import EXACT
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.models.logistic import Logistic

# With so small a C and so large a bound, one record moves scores almost as far as the stability bound allows.
DEPLOYED = ClippedLogistic(bound=4.0, C=3e-4, scaling="declared")
ASSUMES = (
    "the model is the exact optimum its stability describes, and the schema's bounds, scale and categories are public",
    "no person of the training data is in the public data",
    "who needs recourse is decided by the model without noise, and is not covered",
    EXACT,
    ROW,
    EXACT_NOISE,
)


def per_answer(mechanism: str, epsilon: float) -> Guarantee:
    """The guarantee of noise per answer along a public direction; it covers the explanations alone.

    >>> print(per_answer("noise", 1.0))
    epsilon = 1 a release (noise, replace-one), for explanations
    """
    return Guarantee(mechanism, epsilon, "replace-one", ("explanations",), per="release", assumes=ASSUMES)


def example(columns: int) -> Sample:
    """Public data with standardised columns, for tests of guarantees that need a public direction.

    >>> example(1).load().X.shape
    (500, 1)
    """
    return Sample(LinearGaussian(n=20_000, d=columns, scale="population"), n=500)


def direction(name: str, public: Source, schema: Schema) -> Floats:
    """The unit vector (P,) towards class 1, on mutable numbers, of a logistic regression on public data.

    >>> from jali.data.linear_gaussian import LinearGaussian
    >>> public = LinearGaussian(n=2000, d=10, seed=0)
    >>> direction("x", public, public.load().schema).round(1) + 0.0
    array([-1.,  0.,  0.,  0.,  0.,  0.,  0.,  0.,  0.,  0.])
    """
    data = public.load()
    encoding = Encoding(schema)
    if _meaning(data.schema) != _meaning(schema):
        raise JaliError(
            f"{name}: the public data must have the columns and classes of the table, and "
            f"{type(public).__name__} has others."
        )
    same = Dataset(data.X, data.y, schema)
    model = Logistic().fit(same, np.ones((len(same), 1), dtype=bool), [np.random.default_rng(0)])[0]
    slope = (model.coef[:, 1] - model.coef[:, 0]) * encoding.movable()
    length = float(np.linalg.norm(slope))
    if length == 0:
        raise JaliError(f"{name}: no number may change in this table, so there is no direction to recommend.")
    unit: Floats = slope / length
    unit.setflags(write=False)
    return unit


def _meaning(schema: Schema) -> list[object]:
    """What two tables must have in common, so that a direction means the same in both."""
    return [schema.classes, *((c.name, c.kind, c.categories) for c in schema.columns)]
