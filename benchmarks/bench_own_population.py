"""A user's own population on real data: what weights make of a shift, and what `quantile` finds without shadow models.

`python benchmarks/bench_own_population.py shift [--seeds 3]`: a forest on Adult whose training people are drawn towards
older and more educated ones, beside a population that is not. For a null target (fitted on other people of the same
kind) and for the forest itself: AUC as it is, with weights, and without any shift.
`... quantile [--seeds 20]`: 2,000 members, 2,000 others and 2,000 people set aside, of Adult and HELOC: TPR at 1 % of a
network that saw none of them, and AUC and TPR at 1 % of one that memorised the members, beside the plain signal.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import t
from sklearn.ensemble import RandomForestClassifier
from sklearn.neural_network import MLPClassifier

import jali
from jali.attacks.quantile import Quantile
from jali.audit.signal_attacks import attack_evidence
from jali.core import registry
from jali.core.guesses import Records, Shadows, Target
from jali.core.values import Bools, Floats
from jali.results import Row
from jali.stats.roc import auc, tpr_at

PEOPLE = 1_500  # members, and as many others
SHADOWS = 8
EACH = 2_000
ATTACKS = ["threshold", "joint"]

Interval = tuple[float, float, float]  # value, low, high
Lines = dict[str, tuple[Interval, Interval]]


def table(name: str) -> tuple[Floats, np.ndarray, list[str]]:
    """Encoded rows, labels and columns of a data set."""
    data = registry.build("data", f"{name}()").load()
    return data.X, data.y, [column.name for column in data.schema.columns]


def drawn(score: Floats, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many rows, more of those with high scores: odds grow by e per deviation."""
    odds = np.exp((score - score.mean()) / score.std())
    return rng.choice(len(score), count, replace=False, p=odds / odds.sum())


def the_auc(rows: Sequence[Row], attack: str) -> Interval:
    """The AUC of an attack on the score: of the plain threshold, on the loss."""
    mine = [r for r in rows if (r.kind, r.metric, r.attack, r.group) == ("attack", "auc", attack, "")]
    row = next(r for r in mine if r.channel == "score" and (attack == "joint" or r.signal == "loss"))
    if row.value is None or row.low is None or row.high is None:
        raise ValueError(f"The AUC of {attack} has no interval: {row.reason}")
    return row.value, row.low, row.high


def text(found: Interval) -> str:
    """In words."""
    value, low, high = found
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def audited(X: Floats, y: np.ndarray, people: np.ndarray, population: np.ndarray, null: bool, seed: int) -> Lines:
    """Half of some people are the training rows, on whom the model was fitted, or (null) on the others.

    The AUC of each attack without weights and with them.
    """
    train, others = people[:PEOPLE], people[PEOPLE:]
    fitted_on = others if null else train
    model = RandomForestClassifier(50, min_samples_leaf=3, random_state=seed).fit(X[fitted_on], y[fitted_on])
    found = jali.audit(
        model,
        train=(X[train], y[train]),
        population=(X[population], y[population]),
        attack=ATTACKS,
        game=f"given_model(members={PEOPLE}, shadows={SHADOWS})",
    )
    chosen = [registry.build("attack", name) for name in ATTACKS]
    raw = attack_evidence(found.evidence, replace(found.game, weight=None), chosen)
    return {name: (the_auc(raw.rows, name), the_auc(found.results.rows, name)) for name in ATTACKS}


def shift(seeds: int) -> None:
    """Print what weights make of a null target and of a leak."""
    X, y, columns = table("adult")
    high = sum(X[:, columns.index(c)] / X[:, columns.index(c)].std() for c in ("age", "education-num"))
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        shifted = drawn(high, 2 * PEOPLE, rng)
        rest = rng.permutation(np.setdiff1d(np.arange(len(y)), shifted))
        plain, population = rest[: 2 * PEOPLE], rest[2 * PEOPLE : 3 * PEOPLE]
        for null in (True, False):
            there = audited(X, y, shifted, population, null, seed)
            without = audited(X, y, plain, population, null, seed)
            for name, (before, after) in there.items():
                _, plain_auc = without[name]
                width = (after[2] - after[1]) / (plain_auc[2] - plain_auc[1])
                # Below one half the shift hides the leak, and nothing could be left of it.
                leak = not null and before[1] > 0.5
                left = f"; {(after[0] - 0.5) / (before[0] - 0.5):.0%} of AUC - 1/2 is left" if leak else ""
                what = "null target" if null else "forest"
                print(
                    f"seed {seed}, {what}, {name}: as it is {text(before)}, with weights {text(after)}, "
                    f"without a shift {text(plain_auc)}; half-width by {width:.2f}{left}",
                    flush=True,
                )


def network_scores(X: Floats, y: np.ndarray, memorised: bool, seed: int) -> tuple[Floats, Floats, Bools]:
    """Scores of `quantile` and the plain signal of members and others, and who is a member."""
    rows = np.random.default_rng(seed).permutation(len(y))[: 4 * EACH]
    judged = rows[: 3 * EACH]
    role = np.arange(3 * EACH) // EACH
    fitted_on = judged[role == 0] if memorised else rows[3 * EACH :]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is meant to overfit, not to converge
        network = MLPClassifier((64,), max_iter=200, alpha=0, random_state=seed).fit(X[fitted_on], y[fitted_on])
    signal = log_odds(network.predict_proba(X[judged]), y[judged])
    scored = role < 2
    return quantile_scores(X[judged], y[judged], signal, role == 2, seed)[scored], signal[scored], role[scored] == 0


def quantile(seeds: int) -> None:
    """Print what `quantile` says of networks that saw nobody, and of those that memorised their people."""
    for name in ("adult", "heloc"):
        X, y, _ = table(name)
        X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        null = []
        reached = []
        for seed in range(seeds):
            score, _, truth = network_scores(X, y, False, seed)
            null.append(tpr_at(score, truth, 0.01))
            score, signal, truth = network_scores(X, y, True, seed)
            reached.append(
                [auc(score, truth), auc(signal, truth), tpr_at(score, truth, 0.01), tpr_at(signal, truth, 0.01)]
            )
        half = float(t.ppf(0.975, seeds - 1)) * np.std(null, ddof=1) / np.sqrt(seeds)
        values = np.mean(reached, axis=0)
        print(
            f"{name}, {seeds} networks: saw nobody, TPR at 1 % {np.mean(null):.4f} (± {half:.4f}); memorised, AUC "
            f"{values[0]:.4f} (plain {values[1]:.4f}), TPR at 1 % {values[2]:.4f} (plain {values[3]:.4f})",
            flush=True,
        )


def log_odds(p: Floats, y: np.ndarray) -> Floats:
    """Log-odds of the true class."""
    own = np.clip(p[np.arange(len(y)), y], 1e-12, 1 - 1e-12)
    return np.asarray(np.log(own) - np.log1p(-own))


def quantile_scores(X: Floats, y: np.ndarray, signal: Floats, reference: Bools, seed: int) -> Floats:
    """What the attack says of everybody."""
    n = len(y)
    lot = np.random.default_rng(seed).permutation(n) / n
    records = Records(X, y, np.arange(n), lot, reference)
    nobody = Shadows(np.empty((1, n, 0)), np.empty((1, n, 0), dtype=bool), np.empty((n, 0), dtype=bool))
    return Quantile().score(Target(signal[None], np.ones((1, n), dtype=bool), records), nobody)


def main() -> None:
    """Run one of the two."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("shift", "quantile"))
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    (shift if given.what == "shift" else quantile)(given.seeds)


if __name__ == "__main__":
    main()
