"""The demonstration: `jali audit` without options. One story on real people, from verbs that users have too.

What is shown was chosen on seed 0; `benchmarks/bench_demonstration.py` repeats it on others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from jali import __version__
from jali.api.audits import from_config, loaded
from jali.api.protected import Protected
from jali.api.released import attack_released, link_released
from jali.api.result import Audit
from jali.audit.quality import sparsity, validity
from jali.audit.setup import Resources
from jali.config import Config
from jali.core import registry
from jali.core.explanation import Counterfactual
from jali.core.values import Dataset, Floats, Ints
from jali.data.tables import frames
from jali.explain.nice import NICE
from jali.parallel import fan_out
from jali.protect.making import made
from jali.protect.methods import DEFAULT, method_of
from jali.protect.wording import kept_immutable
from jali.results.demonstration import Demonstration, Deployed, Release
from jali.results.verification import Verification
from jali.store import Store, together, write_text

# The survey weight is no property of a person, and no bank has it.
DATA = 'without(adult, ["fnlwgt"])'
FOREST = 'sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=100, min_samples_leaf=3")'
EXPLAIN = ("tree_paths", "reason_codes(tree_paths, top=4)")
GAME = "halves(targets=4, shadows=12)"
CLAIMS = ("laplace_recourse", "dp_weights_recourse")  # published and false; ours, built for the same purpose


@dataclass(frozen=True)
class Sizes:
    """How much is done: people in each table, people who ask, people and models of the audit, draws of each test."""

    people: int = 2000
    asking: int = 1600
    audited: int = 4000
    game: str = GAME
    draws: int = 1000
    folds: int = 5


@dataclass(frozen=True)
class Bank:
    """Tables of a bank: whom its model was trained on, others, a sample of the population, and people who ask."""

    train: Dataset
    others: Dataset
    reference: Dataset
    asking: Dataset


@dataclass(frozen=True)
class Answered:
    """The accuracy of the model on people who asked, what it released to those it denied, and the guarantee.

    trained_on, candidates: people in the training table, and in it and the one of others.
    """

    trained_on: int
    candidates: int
    accuracy: float
    bare: Release
    protected: Release
    guarantee: str


@dataclass(frozen=True, eq=False)
class Shown:
    """The demonstration as users hold it; `save` writes its page and, in a folder of its own, its audit."""

    results: Demonstration
    audit: Audit

    def save(self, out: str | Path, store: Store | None = None) -> Path:
        """Write report.html and demonstration.json, and the audit into the folder `audit`; return the page's path."""
        from jali.report import demonstration
        from jali.report.words import as_json

        folder = Path(out)
        with together():
            self.audit.save(folder / "audit", store)
            write_text(folder / "demonstration.json", as_json(self.results))
            write_text(folder / "report.html", demonstration.html(self.results))
        return folder / "report.html"

    def __repr__(self) -> str:
        from jali.report import demonstration

        return demonstration.plain(self.results)


def settings(seed: int = 0, sizes: Sizes | None = None) -> Config:
    """The audit in the demonstration, as `jali audit audit.toml` would run it."""
    sizes = sizes or Sizes()
    data = f"sample({DATA}, n={sizes.audited}, seed={seed})"
    return Config(data=data, model=FOREST, game=sizes.game, explain=list(EXPLAIN), seed=seed)


def demonstrate(resources: Resources, seed: int = 0, sizes: Sizes | None = None) -> Shown:
    """Run the demonstration on the data that come with the package.

    Tables are read where there are workers: reading them takes libraries that are large, and are there already.
    """
    began = time.perf_counter()
    sizes = sizes or Sizes()
    config = settings(seed, sizes)
    tasks: list[Callable[[], Any]] = [partial(_answered, sizes, seed), partial(_compared, sizes, seed)]
    tasks += [partial(_verified, name, sizes.draws, seed) for name in CLAIMS]
    tasks += [partial(loaded, config)]
    watch = resources.watch("the model, its released answers, and privacy claims")
    answered, compared, *claims, setup = fan_out(_run, tasks, resources.pool, watch)
    quality = Deployed(
        specification=FOREST, trained_on=answered.trained_on, accuracy=answered.accuracy, compared=compared
    )
    found = from_config(config, resources, setup=setup)
    results = Demonstration(
        jali=__version__,
        date=datetime.now(UTC).date().isoformat(),
        seed=seed,
        data=registry.build("data", "adult").origin,
        licence=registry.build("data", "adult").licence,
        candidates=answered.candidates,
        model=quality,
        bare=answered.bare,
        protected=answered.protected,
        guarantee=answered.guarantee,
        audit=found.results,
        claims=claims,
        seconds=time.perf_counter() - began,
    )
    return Shown(results, found)


def _bank(sizes: Sizes, seed: int) -> Bank:
    """Disjoint tables, drawn at random."""
    data = registry.build("data", DATA).load()
    order = np.random.default_rng(seed).permutation(len(data))
    train, others, reference = (data.rows(order[k * sizes.people : (k + 1) * sizes.people]) for k in range(3))
    return Bank(train, others, reference, data.rows(order[3 * sizes.people :][: 2 * sizes.asking]))


def _run(task: Callable[[], Any]) -> Any:
    return task()


def _answered(sizes: Sizes, seed: int) -> Answered:
    """The model, and what it gives to those whom it denies: the usual answers, and protected ones."""
    bank = _bank(sizes, seed)
    schema = bank.train.schema
    private = made(Protected, registry.build("model", FOREST), bank.train, method_of(DEFAULT, None, {}), seed=seed)
    decided = private.decided(bank.asking.X)
    denied = bank.asking.X[decided != schema.favourable]
    bare = _released("nice", _nearest(private, denied, seed), private, denied, bank, seed)
    answers = private.explanation(denied)
    assert isinstance(answers, Counterfactual)
    kept = kept_immutable(denied, answers.public(), schema)
    protected = _released(private.method.text, kept, private, denied, bank, seed)
    accuracy = float((decided == bank.asking.y).mean())
    candidates = len(bank.train) + len(bank.others)
    return Answered(len(bank.train), candidates, accuracy, bare, protected, str(private.guarantee))


def _compared(sizes: Sizes, seed: int) -> dict[str, float]:
    """The accuracy of the usual kinds of model on the same training rows, cross-validated."""
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score

    from jali.core.encoding import Encoding

    kinds: dict[str, Any] = {
        "logistic regression": LogisticRegression(max_iter=2000),
        "forest": RandomForestClassifier(100, min_samples_leaf=3, random_state=seed),
        "boosted trees": GradientBoostingClassifier(random_state=seed),
    }
    train = _bank(sizes, seed).train
    rows = Encoding(train.schema).encode(train.X)
    return {name: float(cross_val_score(kind, rows, train.y, cv=sizes.folds).mean()) for name, kind in kinds.items()}


def _nearest(private: Protected, denied: Floats, seed: int) -> Counterfactual:
    """The usual counterfactual: the nearest training person who has the outcome."""
    rng = np.random.default_rng(seed)
    return NICE().prepare(private.model, private.schema, private.train, rng).explain(denied, rng)


def _released(name: str, given: Counterfactual, private: Protected, denied: Floats, bank: Bank, seed: int) -> Release:
    """Answers as a table without the people who asked, attacked and linked without the model."""
    schema = private.schema
    table = frames.frame(given.rows[given.found], schema)
    member = np.repeat([1, 0], [len(bank.train), len(bank.others)])
    people = _frame(bank.train, bank.others).assign(outcome=_outcome(bank.train, bank.others), member=member)
    favourable = schema.classes[schema.favourable or 0]
    attacked = attack_released(
        table, people, _frame(bank.reference), member="member", target="outcome", favourable=favourable, seed=seed
    )
    quasi = [column.name for column in schema.columns if column.role == "quasi"]
    linked = link_released(table, _frame(bank.train), quasi=quasi, others=_frame(bank.others))
    got = given.found
    return Release(
        explainer=name,
        asked=len(denied),
        answered=float(got.mean()),
        valid=float(validity(private.model, denied, given, schema)[got].mean()),
        columns=float(sparsity(denied, given, schema)[got].mean()),
        attacked=attacked.results,
        linked=linked.results,
    )


def _frame(*tables: Dataset) -> Any:
    """People as a table that reads like the original one."""
    return frames.frame(np.concatenate([table.X for table in tables]), tables[0].schema)


def _outcome(*tables: Dataset) -> Any:
    labels: Ints = np.concatenate([table.y for table in tables])
    return np.array(tables[0].schema.classes)[labels]


def _verified(name: str, draws: int, seed: int) -> Verification:
    """A test of one privacy claim, as `jali verify` makes it."""
    from jali.verify.mechanisms_under_test import subject
    from jali.verify.run import verify

    found = verify(subject(name), None, draws, seed)
    return found.model_copy(update={"seconds": 0.0})  # which no seed reproduces
