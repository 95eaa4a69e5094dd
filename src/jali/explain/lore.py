"""LORE: local rules from a small tree around each record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from jali.core.errors import JaliError
from jali.core.explanation import Gives, Surrogate, Wants
from jali.core.protocols import Model
from jali.core.values import Dataset, Floats, Ints, Rng, Schema
from jali.explain._attribution.marginals import Marginals, required
from jali.explain._attribution.slopes import blocks
from jali.explain._surrogate.neighbourhood import GENERATORS, Generator, Neighbourhood, around
from jali.explain._surrogate.records import Records
from jali.explain._surrogate.rules import Local, explained, merged
from jali.explain._surrogate.trees import Tree
from jali.explain.native.rows import predictions


@dataclass(frozen=True)
class Lore:
    """A decision tree around each record, with the rule that holds for it and those that would change its outcome.

    The black box labels `samples` rows around a record, and a tree is grown on them until it fits them without error.
    `generator` says where the rows come from:

    - "genetic": over `generations`, half the rows evolve to be near the record and of its class, half to be near it
      and of another class; fitness = [class as wanted] + 1 - d(x, z) - [z = x];
    - "probabilities": the same, with the cosine of class probabilities in place of [class as wanted];
    - "mixed": half genetic, half random;
    - "counterfactual": the nearest rows of another class are found in a shrinking ball; rows are then drawn around
      these and around the record;
    - "random": each column is drawn from its own distribution, anywhere in the population.

    Columns are drawn from their marginal distributions in the training rows, as published. Nothing else is read from
    the training rows, but the bounds of rules can lie next to their values. At least a tenth of the rows are of another
    class; where no such row can be drawn, the tree is a single leaf and the record counts as not found. With
    `trees` > 1, that many neighbourhoods are drawn and their trees are merged into one by vote, which is more stable.
    With `check`, one more genetic neighbourhood is drawn, on which the fidelity of each tree is measured.
    All records of a call share the random draws, and each generation is one query of the black box.

    The first rule of an answer is the factual one, which is true of the record. The others are counterfactual rules:
    those with the fewest changes, among the rules whose smallest change the black box confirms. There may be none, and
    `countered` then says so: near a record, a tree's boundary often lies a little off the black box's. A rule is
    confirmed for this record, not for everybody it covers: its sentence says for what share of the training rows it
    covers it holds.

    Guidotti et al., Stable and actionable explanations of black-box models through factual and counterfactual rules,
    2022; attacked by Naretto, Monreale and Giannotti, Evaluating the privacy exposure of interpretable global and local
    explainers, 2024, with 10,000 samples. Here the fittest of old and new rows survive, and the search for another
    class also starts from rows of that class (docs/surrogates.md shows the effect).

    >>> from jali.core.values import Column
    >>> from jali.core.encoding import Encoding
    >>> from jali.models.fitted.linear import LinearModel
    >>> schema = Schema((Column("age", "integer"), Column("income", "integer")), classes=("denied", "granted"))
    >>> model = LinearModel(Encoding(schema), np.array([[0.0, 0.0], [0.0, 1.0]]), np.array([0.0, -5.5]))
    >>> train = Dataset(np.stack([np.arange(20.0) % 7, np.arange(20.0) % 10], axis=1), np.zeros(20), schema)
    >>> rng = np.random.default_rng(0)
    >>> ready = Lore().prepare(model, schema, train, rng)
    >>> made = ready.explain(np.array([[3.0, 4.0]]), rng)
    >>> for sentence in made.models[0].sentences(np.array([3.0, 4.0]), schema):
    ...     print(sentence)
    If income is at most 5, then denied (true of 100 % of the training rows that this covers).
    If income were at least 6 (now 4), the outcome would be granted (this covers fewer than 10 training rows).
    """

    generator: Generator = "genetic"
    samples: int = 2000
    generations: int = 10
    trees: int = 1
    check: bool = False
    local: ClassVar[bool] = True
    gives: ClassVar[Gives] = "surrogate"
    wants: ClassVar[Wants] = "labels"
    reads_training_data: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.generator not in GENERATORS:
            raise JaliError(f"lore: generator must be one of {', '.join(GENERATORS)}, not {self.generator!r}.")
        if self.samples < 8 or self.generations < 1 or self.trees < 1:
            raise JaliError(
                "lore: samples must be at least 8, generations and trees at least 1, "
                f"not {self.samples}, {self.generations} and {self.trees}."
            )

    def prepare(self, model: Model, schema: Schema, train: Dataset | None, rng: Rng) -> _Prepared:  # noqa: ARG002
        """Read the marginal distributions of the training rows; neighbourhoods are drawn in `explain`."""
        rows = required("lore", train).X
        return _Prepared(self, model, Marginals.of(rows, schema), rows, predictions(model, rows)[1])

    def neighbourhood(self, records: Records, rng: Rng) -> Neighbourhood:
        """The rows (n, S, D) around some records that a tree is grown on."""
        return around(records, self.generator, self.samples, self.generations, rng)


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The explainer for one model; decided (N,): its classes of the training rows (N, D)."""

    part: Lore
    model: Model
    marginals: Marginals
    train: Floats
    decided: Ints

    def explain(self, X: Floats, rng: Rng) -> Surrogate:
        """A tree for each of the rows (n, D), found where its neighbourhood has more than one class."""
        part, schema = self.part, self.marginals.schema
        # Drawn once, so that the result does not depend on the blocks; the last seed is that of the check.
        seeds = rng.integers(2**31, size=part.trees + part.check)
        models, found, agree = list[Local](), list[bool](), list[float]()
        for some in blocks(len(X), part.samples * X.shape[1]):
            records = Records(self.model, X[some], self.marginals)
            near = [part.neighbourhood(records, np.random.default_rng(int(seed))) for seed in seeds[: part.trees]]
            trees = [_tree(near, i, schema, int(seeds[0])) for i in range(len(records.X))]
            models += explained(trees, records, self.train, self.decided)
            found += np.any([one.both for one in near], axis=0).tolist()
            if part.check:
                other = around(
                    records, "genetic", part.samples, part.generations, np.random.default_rng(int(seeds[-1]))
                )
                agree += [_fidelity(tree, other, i) for i, tree in enumerate(trees)]
        countered = np.array([local.countered for local in models], dtype=bool)
        fidelity = np.array(agree) if part.check else None
        return Surrogate(tuple(models), np.arange(len(X)), np.array(found, dtype=bool), countered, fidelity)


def _tree(near: list[Neighbourhood], i: int, schema: Schema, seed: int) -> Tree:
    """The tree of record i."""
    return merged([one.rows[i] for one in near], [one.labels[i] for one in near], schema, seed)


def _fidelity(tree: Tree, other: Neighbourhood, i: int) -> float:
    """On what share of the rows of another neighbourhood of record i its tree decides like the black box."""
    return float(np.mean(tree.logits(other.rows[i]).argmax(axis=1) == other.labels[i]))
