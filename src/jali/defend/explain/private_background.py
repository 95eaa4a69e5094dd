"""Explainers that read training rows, given private synthetic rows in their place."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Explanation, Gives, Prepared, Wants
from jali.core.guarantee import CONSTANTS, Guarantee, taken
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Rng, Schema
from jali.defend._dp.checks import ROW, positive
from jali.defend._dp.histograms import private_histograms
from jali.explain.native.rows import predictions
from jali.explain.nice import NICE


@dataclass(frozen=True)
class PrivateBackground:
    """The explainer `inner`, which is given synthetic rows wherever it would read training rows.

    The rows are drawn from histograms of each column by class, which are (epsilon, delta)-private (`bins` for numbers,
    between declared bounds; discrete Gaussian noise). So donors of counterfactuals, backgrounds and neighbourhoods are
    nobody's rows. `rows` of them are drawn, and their labels are those that the model predicts. epsilon covers what the
    explainer itself reads. The model is not covered, so there is no guarantee of differential privacy for explanations
    of a model that was trained without it; with a private model both add up.

    Canonne, Kamath and Steinke, 2020 (noise); the idea of private clusters or marginals as donors: PrivRecourse.

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> import numpy as np
    >>> schema = Schema((Column("a", low=0, high=10, centre=5, spread=3),), favourable=1)
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 1.0]]), np.zeros(2))
    >>> train = Dataset(np.linspace(0, 10, 400)[:, None], np.arange(400) >= 200, schema)
    >>> rng = np.random.default_rng(0)
    >>> out = PrivateBackground(epsilon=1.0).prepare(model, schema, train, rng).explain(np.array([[2.0]]), rng)
    >>> bool(5 < out.rows[0, 0] < 5.1), bool((out.rows[0, 0] == train.X).any())
    (True, False)
    """

    inner: Explainer = field(default_factory=NICE)
    epsilon: float = 1.0
    delta: float = 1e-6
    bins: int = 10
    rows: int = 5000

    def __post_init__(self) -> None:
        positive("private_background", "epsilon", self.epsilon)
        if not 0 < self.delta < 1 or self.bins < 2 or self.rows < 2:
            raise JaliError(
                "private_background: delta must be between 0 and 1, bins and rows at least 2, not "
                f"{self.delta}, {self.bins} and {self.rows}."
            )

    @property
    def gives(self) -> Gives:
        """As the wrapped explainer."""
        return self.inner.gives

    @property
    def wants(self) -> Wants:
        """As the wrapped explainer."""
        return self.inner.wants

    @property
    def reads_training_data(self) -> bool:
        """Only if the wrapped explainer does; otherwise there is nothing to replace."""
        return self.inner.reads_training_data

    def releases_rows(self) -> bool:
        """False: the rows are nobody's."""
        return False

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Prepared:
        """Draw the synthetic rows, label them with the model, and prepare the wrapped explainer with them."""
        if not self.inner.reads_training_data:
            return self.inner.prepare(model, schema, None, rng)
        return _Nobodys(self.inner.prepare(model, schema, self.synthetic(model, schema, train, rng), rng))

    def synthetic(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> Dataset:
        """Rows that are nobody's, with the labels that the model predicts."""
        if train is None or len(train) == 0:
            raise JaliError("private_background makes histograms of the training rows: pass them as train.")
        name = "private_background"
        made = private_histograms(name, replace(train, schema=schema), self.epsilon, self.delta, self.bins, rng)
        drawn = made.rows(self.rows, rng)
        return Dataset(drawn.X, predictions(model, drawn.X)[1], schema)

    def claim_about_rows(self, schema: Schema) -> Guarantee:
        """The guarantee of the synthetic rows alone; void where bounds or categories were taken from the rows."""
        void = taken(schema, CONSTANTS)
        assumes = ("bounds, categories and the number of rows are public", ROW)
        mechanism = "discrete Gaussian noise on histograms"
        return Guarantee(mechanism, self.epsilon, "replace-one", (), delta=self.delta, assumes=assumes, void=void)


@dataclass(frozen=True, eq=False)
class _Nobodys:
    """An explainer that was prepared with synthetic rows: what it shows comes from no training row."""

    ready: Prepared

    def explain(self, X: Floats, rng: Rng) -> Explanation:
        """The explanations; places among the synthetic rows are no places among the training rows."""
        found = self.ready.explain(X, rng)
        return replace(found, origin=None) if isinstance(found, Counterfactual) else found
