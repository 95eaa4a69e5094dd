"""Attacks that ask, held against one model: the oracle is built here, and here alone the truth is joined."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from jali.audit.preparations import Preparations
from jali.core import registry
from jali.core.distance import nearest, ranges
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Explainer, Explanation, Regions, Surrogate, public
from jali.core.protocols import Model, Replayable, is_local
from jali.core.query import Claims, Inquiry, Knowledge, Links, Oracle
from jali.core.values import Bools, Dataset, Floats, Ints, Rng
from jali.store import Arrays
from jali.text.rules import Readable, accuracy, exposing, hits

LINKED = ("crowd", "singled_out", "at_most_10", "newly_singled_out", "reidentified", "disclosed", "imputed", "gained")
FACT, FAILED, NEW = "fact/", "failed", "newly_singled_out"
CROWD = 10  # people below whom a rule speaks of few
ASKED = (10, 30, 100, 300, 1000)  # answers after which coverage is told
NEIGHBOURS = 15  # people like the one named, from whom the baseline guesses


@dataclass(frozen=True)
class Inquest:
    """An inquiry, what its adversary knows, and whom it asks: an explainer, or without one the model itself."""

    inquiry: Inquiry
    knowledge: Knowledge
    explainer: Explainer | None = None

    @property
    def name(self) -> str:
        """Specifications of explainer, knowledge and inquiry."""
        asked = "" if self.explainer is None else registry.spec(self.explainer)
        return " | ".join((asked, registry.spec(self.knowledge), registry.spec(self.inquiry)))

    def measures(self) -> tuple[str, ...]:
        """Names of what is measured besides right and wrong: explainer/measure."""
        if self.explainer is None or not self.inquiry.links:
            return ()
        return tuple(f"{registry.spec(self.explainer)}/{registry.spec(self.inquiry)}: {m}" for m in LINKED)


@dataclass(frozen=True, eq=False)
class Scene:
    """One model with its training rows, the records asked about and the rest of the population.

    draws: the random stream of what an explainer, by name, says of the records. told: what was said so far; an answer
    is the same whichever attack reads it, and whatever was asked before.
    """

    prepared: Preparations
    records: Dataset
    others: Dataset
    inside: Bools
    draws: Callable[[str], Rng]
    told: dict[str, Explanation] = field(default_factory=dict)

    @property
    def model(self) -> Model:
        """The model attacked."""
        return self.prepared.model

    @property
    def owner(self) -> Dataset:
        """Its training set."""
        return self.prepared.train

    @classmethod
    def of(
        cls, prepared: Preparations, data: Dataset, member: Bools, scored: Bools, draws: Callable[[str], Rng]
    ) -> Scene:
        """The scene of a column of a game, from who trained it (N,) and who is asked about (N,)."""
        return cls(prepared, data.rows(scored), data.rows(~member & ~scored), member[scored], draws)


def attempted(inquest: Inquest, scene: Scene, rng: Rng) -> Arrays:
    """As `held`; where the attack could not be made, why, and scores that are no numbers."""
    try:
        return held(inquest, scene, rng)
    except JaliError as error:
        n, kinds = len(scene.inside), len(inquest.measures())
        nothing = {"quality": np.zeros((kinds, n)), "there": np.zeros((kinds, n), dtype=bool)}
        scores = {"score": np.full(n, np.nan), "truth": scene.inside, "queries": np.array(0)}
        return {**scores, **nothing, FAILED: np.array(str(error))}


def held(inquest: Inquest, scene: Scene, rng: Rng) -> Arrays:
    """Score and truth (n,) of the claims about the records of a scene, the queries made, and what is measured."""
    known = inquest.knowledge.know(_rows_of(inquest.knowledge, scene), rng)
    oracle, kept = _oracle(inquest, scene)
    claims = inquest.inquiry.run(oracle, known, scene.records, rng)
    if len(claims.score) != len(scene.records):
        raise JaliError(
            f"{registry.name_of(inquest.inquiry)} must claim something of each of {len(scene.records)} records."
        )
    out: Arrays = {"score": claims.score, "truth": scene.inside, "queries": np.array(oracle.queries)}
    if isinstance(claims, Claims):
        facts = {**claims.facts, **classes(oracle, scene), **(surrogacy(*kept[-1], scene) if kept else {})}
        nothing = {"quality": np.zeros((0, len(scene.inside))), "there": np.zeros((0, len(scene.inside)), dtype=bool)}
        return out | nothing | {FACT + name: np.array(value) for name, value in facts.items()}
    answer = kept[-1][1]
    origin = answer.origin if isinstance(answer, Counterfactual) else None
    value, there = linked(claims, origin, answer.found, scene)
    told = {FACT + name: np.array(share) for name, share in coverage(value[LINKED.index(NEW)], scene.owner).items()}
    return out | told | {"truth": value[LINKED.index("reidentified")] > 0, "quality": value, "there": there}


def classes(oracle: Oracle, scene: Scene) -> dict[str, float]:
    """Precision, recall and F1 of each class, by number, in what the oracle says of records it was not trained on."""
    outside = scene.records.rows(~scene.inside)
    if oracle.ask is _unasked or not len(outside):
        return {}
    told, out = oracle.ask(outside.X).argmax(axis=1), dict[str, float]()
    for c in range(len(outside.schema.classes)):
        claimed, true = told == c, outside.y == c
        both = float((claimed & true).sum())
        whole = {"precision": claimed.sum(), "recall": true.sum(), "f1": (claimed.sum() + true.sum()) / 2}
        out |= {f"{name}_of_class_{c}": both / max(float(of), 1.0) for name, of in whole.items()}
    return out


def surrogacy(X: Floats, answer: Explanation, scene: Scene) -> dict[str, float]:
    """How true surrogates that explain rows X (n, D) are, and what their rules show; nothing of other explanations.

    fidelity: share of those rows of which the surrogate says what the model says; accuracy_of_surrogate: share of the
    records outside the training rows that a surrogate of all has right. rules: how many are published;
    rules_below_10: how many of them cover some training rows but fewer than CROWD.
    """
    if not isinstance(answer, Surrogate):
        return {}
    rules = [rule for model in answer.models if isinstance(model, Readable) for rule in model.rules()]
    few = exposing(rules, scene.owner.X, CROWD)
    out = {"fidelity": float(hits(answer, scene.model, X).mean()), "rules": len(rules), "rules_below_10": few.sum()}
    outside = scene.records.rows(~scene.inside)
    if len(answer.models) == 1 and len(outside):
        out["accuracy_of_surrogate"] = accuracy(answer.models[0], outside.X, outside.y)
    return {name: float(value) for name, value in out.items()}


def coverage(new: Floats, owner: Dataset) -> dict[str, float]:
    """Share of the people behind a model who are singled out after some of the answers, in the order they were given.

    new (n,): whether an answer singles out somebody whom no earlier one did.
    """
    many = len(owner) if owner.groups is None else len(np.unique(owner.groups))
    after = [q for q in ASKED if q < len(new)] + [len(new)]
    return {f"coverage_after_{q}": float(new[:q].sum() / many) for q in after}


def linked(claims: Links, origin: Ints | None, found: Bools, scene: Scene) -> tuple[Floats, Bools]:
    """What LINKED says (K, n) of claims about people, and where it speaks (K, n).

    crowd: people who fit. singled_out: one alone does; at_most_10: so few do. newly_singled_out: somebody whom no
    earlier answer singled out. reidentified: the person named is the one the answer shows (training row origin).
    imputed: share of the private columns of the person named that are guessed right without any answer, as the
    commonest value among the 15 people of the population who are nearest in quasi-identifiers. disclosed: the same with
    the answer, whose value counts 1 / crowd and those of the 15 the rest. gained: disclosed minus imputed.
    """
    person, crowd = claims.person, claims.crowd
    alone, few = found & (crowd == 1), found & (crowd > 0) & (crowd <= CROWD)
    real = found & (person >= 0) & (person < len(scene.owner))
    who = np.arange(len(scene.owner)) if scene.owner.groups is None else scene.owner.groups
    first, right = np.zeros(len(person), dtype=bool), np.zeros(len(person), dtype=bool)
    named = np.where(alone & real, who[np.where(real, person, 0)], -1)
    first[np.unique(named, return_index=True)[1]] = True
    if origin is not None:
        right[real] = who[person[real]] == who[origin[real]]
    value, there = np.zeros((len(LINKED), len(person))), np.tile(found, (len(LINKED), 1))
    value[:5] = crowd, alone, few, alone & real & first, right
    there[5], there[6:] = real, real & (len(scene.others) > 0)
    truth, sure = scene.owner.X[person[real]], np.divide(1.0, crowd[real], dtype=np.float64)
    near = _neighbours(truth, scene)
    value[5, real] = _agreement(_guessed(claims.rows[real], near, sure), truth, scene)
    if len(scene.others):
        value[6, real] = _agreement(_guessed(claims.rows[real], near, 0 * sure), truth, scene)
        value[7] = value[5] - value[6]
    return value, there


def _agreement(guess: Floats, truth: Floats, scene: Scene) -> Floats:
    """Share (n,) of the private columns that a guess has right."""
    private = np.array([c.role != "quasi" for c in scene.owner.schema.columns])
    return np.asarray((guess == truth)[:, private].mean(axis=1)) if private.any() else np.zeros(len(guess))


def _neighbours(people: Floats, scene: Scene) -> Floats:
    """Those of the population (n, k, D) who are nearest to people (n, D) in quasi-identifiers."""
    schema, rest = scene.owner.schema, scene.others.X
    if not len(people) or not len(rest):
        return np.zeros((len(people), 0, people.shape[1]))
    quasi = np.array([c.role == "quasi" for c in schema.columns])
    here, there = (np.where(quasi, X, 0.0) for X in (people, rest))
    return np.asarray(rest[nearest(here, there, schema, ranges(schema, rest), min(NEIGHBOURS, len(rest)))[0]])


def _guessed(shown: Floats, near: Floats, sure: Floats) -> Floats:
    """The value of each column (n, D) with most weight: sure (n,) for the one shown, the rest shared by neighbours.

    Of values that weigh as much the first, the nearest neighbours before the one shown.
    """
    each = (1 - sure[:, None]) / max(1, near.shape[1])
    weight = np.concatenate([np.broadcast_to(each, near.shape[:2]), sure[:, None]], axis=1)
    values, out = np.concatenate([near, shown[:, None]], axis=1), np.empty_like(shown)
    for j in range(shown.shape[1]):
        mine = values[:, :, j]
        votes = ((mine[:, :, None] == mine[:, None, :]) * weight[:, None, :]).sum(axis=2)
        out[:, j] = np.take_along_axis(mine, votes.argmax(axis=1)[:, None], axis=1)[:, 0]
    return out


def _rows_of(knowledge: Knowledge, scene: Scene) -> Dataset:
    """The rows that a kind of knowledge is made from; of everybody, those behind the model come first."""
    if knowledge.whose == "others":
        return scene.others
    rest = [scene.records, scene.others] if knowledge.whose == "everybody" else []
    tables = [scene.owner, *rest]
    X, y = (np.concatenate([getattr(t, name) for t in tables]) for name in ("X", "y"))
    groups = [t.groups for t in tables if t.groups is not None]
    return Dataset(X, y, scene.owner.schema, np.concatenate(groups) if len(groups) == len(tables) else None)


def _explained(explainer: Explainer | None, scene: Scene, X: Floats) -> Explanation:
    """What an explainer says of rows X (n, D); of the same rows it is asked once."""
    if explainer is None:
        raise JaliError("This attack reads explanations: name an explainer beside it.")
    name = registry.spec(explainer)
    key = name + hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest()
    if key not in scene.told:
        scene.told[key] = scene.prepared.of(explainer).explain(X, scene.draws(name))
    return scene.told[key]


def _oracle(inquest: Inquest, scene: Scene) -> tuple[Oracle, list[tuple[Floats, Explanation]]]:
    """What the adversary may ask, and a list that keeps what was asked and answered, with what is not shown."""
    explainer, schema, kept = inquest.explainer, scene.owner.schema, list[tuple[Floats, Explanation]]()

    def tell(X: Floats) -> Explanation:
        kept.append((X, _explained(explainer, scene, X)))
        return public(kept[-1][1])

    if explainer is None:
        return Oracle(schema, scene.model.logits), kept
    if explainer.gives != "surrogate":
        oracle = Oracle(schema, scene.model.logits, tell)
        oracle.again = _again(explainer, scene) or oracle.again
        return oracle, kept
    if inquest.inquiry.shows == "explanation":
        return Oracle(schema, _unasked, tell), kept
    if is_local(explainer):
        raise JaliError(
            f"{registry.name_of(explainer)} explains each record by a model of its own: attack them together, with "
            f"vote({registry.name_of(inquest.inquiry)})."
        )
    made = tell(scene.records.X)
    assert isinstance(made, Surrogate)
    return Oracle(schema, made.models[0].logits, tell), kept


def _again(explainer: Explainer, scene: Scene) -> Callable[[Floats, Ints], Regions] | None:
    """What an explainer would show of people who (n,) of a register if they had rows X (n, D), if it can be run so.

    Nobody is shown who is not behind the model, or to whom it does not give the outcome that the row has: there, the
    row itself stands for no answer.
    """
    made = scene.prepared.of(explainer)
    if not isinstance(made, Replayable):
        return None
    schema, labels = scene.owner.schema, scene.model.logits(scene.owner.X).argmax(axis=1)

    def again(X: Floats, who: Ints) -> Regions:
        able, out = who < len(labels), Regions.of(X, schema)
        able[able] = labels[who[able]] == scene.model.logits(X[able]).argmax(axis=1)
        some, low, high, allowed = made.regions_for(X[able]), X.copy(), X.copy(), out.allowed.copy()
        low[able], high[able], allowed[able] = some.low, some.high, some.allowed
        return Regions(low, high, allowed, schema)

    return again


def _unasked(X: Floats) -> Floats:
    raise JaliError(f"This attack reads surrogates and asked the model about {len(X)} rows beside them.")
