"""Tables of the documents that are plain audits, printed as they stand there.

python benchmarks/bench_expected.py [perturbations] [attributions] [queries] [by_heart]; each takes a minute or less.

perturbations: docs/decisions.md, "Perturbations along the attribution". attributions: docs/attributions.md, "What to
expect". queries, by_heart: docs/query-attacks.md, "What to expect". HELOC needs JALI_DATA.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jali.api import from_config
from jali.audit.setup import Resources
from jali.config import checked
from jali.core import registry
from jali.core.query import Oracle
from jali.core.values import Column, Dataset, Schema
from jali.models.sklearn import Sklearn
from jali.results import Results, Row
from jali.stats.roc import auc

FOREST = 'sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=50")'
TABLES = {"HELOC": "sample(heloc, n=4000)", "Adult": "sample(adult, n=4000)", "made-up loans": "lending(n=4000)"}
MOVES = {
    "log-odds": "confidence",
    "`attribution_removal`": "attribution_removal",
    "`attribution_perturbation`": "attribution_perturbation",
    "`confidence_perturbation` (random directions)": "confidence_perturbation",
}
SEEN = {
    "confidence": ("", "confidence"),
    "input × gradient, variance": ("input_x_gradient", "attribution_variance"),
    "input × gradient, l1": ("input_x_gradient", "attribution_l1"),
    "input × gradient, total": ("input_x_gradient", "attribution_total"),
    "saliency, variance": ("saliency", "attribution_variance"),
}
QUERIES = (
    "shokri_mia",
    "label_only(perturbations=100)",
    'label_only(reference="true", perturbations=100)',
    "aloa(perturbations=100)",
    'boundary_distance(reference="true")',
)


def audited(**settings: Any) -> Results:
    """The results of one audit."""
    return from_config(checked(settings), Resources(workers=1)).results


def span(row: Row) -> str:
    """A number with its interval, as documents write it."""
    value, low, high = (f"{x:.3f}".lstrip("0") for x in (row.value or 0.0, row.low or 0.0, row.high or 0.0))
    return f"{value} ({low}–{high})"


def line(cells: Sequence[str]) -> None:
    """One row of a table in Markdown."""
    print(f"| {' | '.join(cells)} |", flush=True)


def perturbations() -> None:
    """What steps along an attribution find, and steps in random directions."""
    found = {}
    for name, data in TABLES.items():
        found[name] = audited(
            data=data,
            model="mlp(hidden=[64])",
            explain=["input_x_gradient"],
            signal=["attribution_perturbation", "attribution_removal"],
            attack=["threshold"],
            game="halves(targets=4, shadows=2)",
        )
    line(["signal", *found])
    for words, signal in MOVES.items():
        line([words, *(span(r.find(metric="auc", signal=signal, group="")[0]) for r in found.values())])


def attributions() -> None:
    """What attributions of networks that know their rows by heart show."""
    results = audited(
        data="lending(n=1500)",
        model="mlp(hidden=[200], epochs=100)",
        explain=["input_x_gradient", "saliency"],
        attack=["lira", "threshold", "joint"],
        game="rotate(models=16)",
    )
    for metric in ("train_accuracy", "test_accuracy"):
        print(metric, f"{results.find(kind='measure', metric=metric)[0].value:.3f}")
    for words, (explainer, signal) in SEEN.items():
        rows = [
            results.find(metric="auc", signal=signal, explainer=explainer, attack=attack, group="")[0]
            for attack in ("threshold", "lira")
        ]
        line([words, *map(span, rows)])
    for row in results.find(kind="contrast", metric="auc", group=""):
        print(row.explainer, "adds to", row.against, span(row), f"left out in {row.unchanged} of {row.units} models")


def queries() -> None:
    """Attacks that query a forest, with noisy rows of other people and with random ones."""
    common = {"data": "sample(adult, n=4500)", "model": FOREST, "game": "thirds(targets=1)", "attack": list(QUERIES)}
    found = [audited(**common, knowledge=knowledge) for knowledge in ("noise", "random")]
    for metric in ("train_accuracy", "test_accuracy"):
        print(metric, f"{found[0].find(kind='measure', metric=metric)[0].value:.3f}")
    for attack in QUERIES:
        rows = [r.find(kind="query attack", metric="auc", attack=attack)[0] for r in found]
        own = [found[0].find(kind="query attack", metric=m, attack=attack)[0].value for m in ("precision", "recall")]
        line([f"`{attack}`", *map(span, rows), ", ".join(f"{x or 0.0:.2f}".lstrip("0") for x in own)])


def _noisy(n: int, d: int, wrong: float, seed: int) -> Dataset:
    """Gaussian rows; the label is the sign of the sum of two columns, and wrong for a share of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, :2].sum(axis=1) > 0) ^ (rng.random(n) < wrong)
    return Dataset(X, y.astype(int), Schema(tuple(Column(f"x{j}") for j in range(d))))


def by_heart() -> None:
    """Models that know wrong labels by heart: mean AUC of five draws; 400 members, 400 others, 400 known rows."""
    tree, nearest = "sklearn.tree:DecisionTreeClassifier", "sklearn.neighbors:KNeighborsClassifier"
    cases = [
        ("full tree, 2 columns, 20 % wrong", Sklearn(tree), 2, 0.2, ("label_only",)),
        ("full tree, 2 columns, 20 % wrong", Sklearn(tree), 2, 0.2, ('label_only("true")',)),
        (
            "1-nearest neighbour, 10 columns, 30 % wrong",
            Sklearn(nearest, "n_neighbors=1"),
            10,
            0.3,
            ('label_only("true")', 'aloa("true")', 'boundary_distance("true")'),
        ),
    ]
    for words, trainer, d, wrong, attacks in cases:
        for name in attacks:
            attack = registry.build("query_attack", name)
            found = []
            for seed in range(5):
                data, at = _noisy(1200, d, wrong, seed), np.arange(1200)
                rng = np.random.default_rng(seed)
                model = trainer.fit(data, (at < 400)[:, None], [rng])[0]
                known = data.rows(at >= 800)
                claim = attack.run(Oracle(data.schema, model.logits), known, data.rows(at < 800), rng)
                found.append(auc(claim.score, at[:800] < 400))
            print(f"{words}, {name}: {np.mean(found):.2f} ({min(found):.2f} to {max(found):.2f})", flush=True)


TASKS: dict[str, Callable[[], None]] = {
    "perturbations": perturbations,
    "attributions": attributions,
    "queries": queries,
    "by_heart": by_heart,
}


def main() -> None:
    """Print the tables that were asked for, or all."""
    for name in sys.argv[1:] or TASKS:
        print(f"{name}:")
        TASKS[name]()


if __name__ == "__main__":
    main()
