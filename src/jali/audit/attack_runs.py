"""Query attacks on one model: build the oracle, run the attack, grade its claim, and keep numbers only."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from jali.audit.grading import grader
from jali.audit.preparations import Preparations
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Explainer, Explanation, Recomputed, Surrogate, public
from jali.core.grading import Graded, Grader, Truth
from jali.core.protocols import Model, Recomputable, Trainer, is_local
from jali.core.query import Knowledge, Oracle, QueryAttack, Sees
from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.store import Arrays

READS: dict[Sees, str] = {"counterfactuals": "counterfactual", "local surrogates": "surrogate"}


@dataclass(frozen=True)
class AttackRun:
    """A query attack, what its adversary knows, and what it queries: an explainer, or without one the model itself."""

    attack: QueryAttack
    knowledge: Knowledge
    explainer: Explainer | None = None

    @property
    def label(self) -> str:
        """Specifications of explainer, knowledge and attack; it names the random stream of the run."""
        return " | ".join((self.queried, registry.spec(self.knowledge), registry.spec(self.attack)))

    @property
    def queried(self) -> str:
        """Specification of the explainer, empty for the model."""
        return "" if self.explainer is None else registry.spec(self.explainer)

    @property
    def grader(self) -> Grader:
        """The grader of its claims."""
        return grader(self.attack.learns)


@dataclass(frozen=True)
class Completed:
    """One attack run on one target: its graded claim, and how many rows were queried."""

    graded: Graded
    queries: int

    def arrays(self) -> Arrays:
        """The same as plain arrays, for the store."""
        graded = self.graded
        return {
            "score": graded.score,
            "truth": graded.truth,
            "values": graded.values,
            "defined": graded.defined,
            "overall_names": np.array(list(graded.overall), dtype=np.str_),
            "overall": np.array(list(graded.overall.values()), dtype=np.float64),
            "queries": np.array(self.queries),
        }


@dataclass(frozen=True)
class Failed:
    """One attack run that could not be carried out, and why."""

    reason: str

    def arrays(self) -> Arrays:
        """The same as plain arrays, for the store."""
        return {"reason": np.array(self.reason)}


def restored(arrays: Arrays) -> Completed | Failed:
    """The result of an attack run, read back from the store."""
    if "reason" in arrays:
        return Failed(str(arrays["reason"]))
    overall = dict(zip(arrays["overall_names"].tolist(), arrays["overall"].tolist(), strict=True))
    graded = Graded(arrays["score"], arrays["truth"], arrays["values"], arrays["defined"], overall)
    return Completed(graded, int(arrays["queries"]))


@dataclass(frozen=True, eq=False)
class TargetModel:
    """One model under attack, with its explainers, the records queried and the rest of the population.

    draws: the random stream of each explainer, by its specification. trainer: how models like it are trained. given:
    the explanations so far; an explanation does not depend on which attack reads it, or on earlier queries.
    """

    prepared: Preparations
    records: Dataset
    others: Dataset
    member: Bools
    draws: Callable[[str], Rng]
    trainer: Trainer | None = None
    given: dict[str, Explanation] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        prepared: Preparations,
        data: Dataset,
        member: Bools,
        scored: Bools,
        draws: Callable[[str], Rng],
        trainer: Trainer | None = None,
    ) -> TargetModel:
        """A model of a game, from its members (N,) and the records that are scored (N,)."""
        return cls(prepared, data.rows(scored), data.rows(~member & ~scored), member[scored], draws, trainer)

    @property
    def model(self) -> Model:
        """The model."""
        return self.prepared.model

    @property
    def train(self) -> Dataset:
        """Its training set."""
        return self.prepared.train

    def explained(self, explainer: Explainer, X: Floats) -> Explanation:
        """The explanations of rows X (n, D); the same rows are explained only once."""
        name = registry.spec(explainer)
        key = name + hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest()
        if key not in self.given:
            self.given[key] = self.prepared.of(explainer).explain(X, self.draws(name))
        return self.given[key]


def try_run(run: AttackRun, target: TargetModel, rng: Rng) -> Completed | Failed:
    """The attack run, or why it could not be carried out."""
    try:
        return made(run, target, rng)
    except JaliError as error:
        return Failed(str(error))


def made(run: AttackRun, target: TargetModel, rng: Rng) -> Completed:
    """Query the oracle, take the claim, and grade it."""
    known = run.knowledge.know(_rows_of(run.knowledge, target), rng)
    watched = _RecordingOracle(run, target)
    oracle = watched.oracle()
    claim = run.attack.run(oracle, known, target.records, rng)
    if not isinstance(claim, run.grader.claim):
        name = registry.name_of(run.attack)
        raise JaliError(
            f"{name} declares that it learns {run.attack.learns}, so it must return {run.grader.claim.__name__}, not "
            f"{type(claim).__name__}."
        )
    return Completed(run.grader.grade(claim, watched.truth()), oracle.queries)


@dataclass(eq=False)
class _RecordingOracle:
    """The oracle of one attack run, and its last explanation with the fields that are never shown."""

    run: AttackRun
    target: TargetModel
    explained: Floats | None = None
    explanation: Explanation | None = None
    scores: Callable[[Floats], Floats] | None = None

    def oracle(self) -> Oracle:
        """The oracle that the adversary may query."""
        explainer = self.run.explainer
        sees = self.run.attack.sees
        schema = self.target.train.schema
        if explainer is None:
            if sees in READS:
                raise JaliError("This attack reads explanations: name an explainer beside it.")
            self.scores = self.target.model.logits
            return Oracle(schema, self.scores, trainer=self.target.trainer)
        if sees == "local surrogates":
            return Oracle(schema, _not_queried, self.explain)
        if explainer.gives != "surrogate":
            self.scores = self.target.model.logits
            oracle = Oracle(schema, self.scores, self.explain, trainer=self.target.trainer)
            prepared = self.target.prepared.of(explainer)
            return (
                replace(oracle, regions_for=_regions_for(prepared, self.target))
                if isinstance(prepared, Recomputable)
                else oracle
            )
        self.scores = self._surrogate(explainer).logits
        return Oracle(schema, self.scores, self.explain)

    def explain(self, X: Floats) -> Explanation:
        """The public part of the explanations of rows X (n, D)."""
        assert self.run.explainer is not None
        self.explained = X
        self.explanation = self.target.explained(self.run.explainer, X)
        return public(self.explanation)

    def _surrogate(self, explainer: Explainer) -> Model:
        """The one surrogate of all records."""
        if is_local(explainer):
            raise JaliError(
                f"{registry.name_of(explainer)} explains each record by a model of its own: attack them together, with "
                f"vote({registry.name_of(self.run.attack)})."
            )
        explanation = self.explain(self.target.records.X)
        assert isinstance(explanation, Surrogate)
        return explanation.models[0]

    def truth(self) -> Truth:
        """The truth about the target, after the attack."""
        target = self.target
        outside = ~target.member
        labels: Ints | None = None
        if self.scores is not None and outside.any():
            labels = np.full(len(target.records), -1)
            labels[outside] = self.scores(target.records.X[outside]).argmax(axis=1)
        return Truth(
            target.model,
            target.train,
            target.records,
            target.others,
            target.member,
            labels,
            self.explained,
            self.explanation,
        )


def _rows_of(knowledge: Knowledge, target: TargetModel) -> Dataset:
    """The rows from which knowledge is made; where it is about everybody, the training people come first."""
    if knowledge.whose == "others":
        return target.others
    tables = [target.train]
    if knowledge.whose == "everybody":
        tables += [target.records, target.others]
    X = np.concatenate([t.X for t in tables])
    y = np.concatenate([t.y for t in tables])
    groups = [t.groups for t in tables if t.groups is not None]
    return Dataset(X, y, target.train.schema, np.concatenate(groups) if len(groups) == len(tables) else None)


def _regions_for(prepared: Recomputable, target: TargetModel) -> Callable[[Floats, Ints], Recomputed]:
    """What an explainer would show of each person (n,) of a register who had the row of X (n, D).

    A person outside the training set is never shown.
    """

    def regions_for(X: Floats, person: Ints) -> Recomputed:
        inside = person < len(target.train)
        found = prepared.regions_for(X, np.where(inside, person, 0))
        return Recomputed(found.regions, found.given & inside)

    return regions_for


def _not_queried(X: Floats) -> Floats:
    raise JaliError(f"This attack may read surrogates only, but it queried the model about {len(X)} rows.")
