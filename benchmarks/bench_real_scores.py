"""The combined attack on real scores: the released matrices of Huang et al. 2024, and trees on three tables.

`python benchmarks/bench_real_scores.py released [--norms] [--targets 33]`: AUC and rates of the combined attack on loss
and attribution variance, and with --norms on the L1 and L2 norms as well; every model in turn the target. JALI_DATA
says where the data are.
`... trees [--models 33] [--targets 33]`: seven trees; one signal on each scale, and the combined attack without an
explanation, with all shadow models and with four; and how much more that is than on the best scale.
`... vectors [--models 33] [--targets 16]`: tree SHAP of two of them; what two norms and whole vectors add to the score.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.special import expit

from jali.audit import evidence as files
from jali.audit.all_models import gather
from jali.audit.setup import Experiment, Resources, load
from jali.audit.trials import Trial, contrast_rows, guess_by_metric
from jali.core import registry
from jali.core.guesses import Guesses
from jali.core.values import Channel, Evidence, Game, SignalName
from jali.data.tables.files import folders
from jali.stats.intervals import contrast
from jali.stats.roc import METRICS

WANTED = ("auc", "tpr@0.001", "tpr@0.01")
FOREST = "sklearn.ensemble:RandomForestClassifier"
BOOSTED = "sklearn.ensemble:HistGradientBoostingClassifier"
# Data and model of each line; the first three are trees whose log-odds hide what other scales show.
TREES = {
    "Adult, forest": ("sample(adult(), n=4000)", f'sklearn("{FOREST}", "n_estimators=100")'),
    "Adult, boosted trees": ("sample(adult(), n=4000)", f'sklearn("{BOOSTED}")'),
    "Adult, forest with leaves of three": (
        "sample(adult(), n=4000)",
        f'sklearn("{FOREST}", "n_estimators=100, min_samples_leaf=3")',
    ),
    "HELOC, forest": ("sample(heloc(), n=4000)", f'sklearn("{FOREST}", "n_estimators=100")'),
    "HELOC, boosted trees": ("sample(heloc(), n=4000)", f'sklearn("{BOOSTED}")'),
    "German, forest": ("german()", f'sklearn("{FOREST}", "n_estimators=100")'),
    "German, boosted trees": ("german()", f'sklearn("{BOOSTED}")'),
}
SIGNALS = ("loss", "confidence", "entropy", "correctness")  # what a score shows
SINGLE = 'lira(spread="shrunken")'


def fewer(game: Game, targets: int) -> Game:
    """The game with its first targets."""
    some = slice(0, targets)
    return replace(game, targets=game.targets[some], shadows=game.shadows[some], scored=game.scored[:, some])


def each_target(metric: str, guesses: Guesses) -> list[float]:
    """A metric of every target."""
    mine = [guesses.unit == u for u in np.unique(guesses.unit)]
    return [METRICS[metric](guesses.score[rows], guesses.truth[rows]) for rows in mine]


def guessed(found: Evidence, game: Game, attack: str, metrics: tuple[str, ...] = WANTED) -> Mapping[str, Guesses]:
    """What an attack says about each target, with the combination that it chose for each metric."""
    trial = Trial(registry.build("attack", attack), found.names, Channel.SCORE)
    return guess_by_metric(found, game, trial, metrics=metrics).score


def reached(guesses: Mapping[str, Guesses]) -> dict[str, list[float]]:
    """By metric what is reached on each target."""
    return {metric: each_target(metric, mine) for metric, mine in guesses.items()}


def released(norms: bool, targets: int) -> None:
    """Print what the combined attack reaches on the released matrices."""
    folder = folders()[0] / "cifar10-vit-ixg-scores"
    found, game, _ = files.read(folder / "scores.npz")
    if norms:
        more, _, _ = files.read(folder / "norms.npz")
        found = joined(found, more)
    began = time.process_time()
    made = reached(guessed(found, fewer(game, targets), "joint"))
    text = " / ".join(f"{np.mean(values):.4f}" for values in made.values())
    names = ", ".join(str(name) for name in found.names)
    print(f"{names}: {text} ({targets} targets, {time.process_time() - began:.0f} CPU s)", flush=True)


def joined(a: Evidence, b: Evidence) -> Evidence:
    """The signals of both, of the same people and models."""
    value = np.concatenate([a.value, b.value])
    return Evidence(a.names + b.names, value, np.concatenate([a.observed, b.observed]), a.member, a.units + b.units)


def scored_models(data: str, model: str, models: int) -> tuple[Evidence, Game]:
    """The signals of the score of so many models, every one in turn the target."""
    found, game = explained_models(data, model, models)
    return found.pick(tuple(SignalName(name) for name in SIGNALS)), game


def explained_models(data: str, model: str, models: int, explain: tuple[str, ...] = ()) -> tuple[Evidence, Game]:
    """The signals of so many models and of their explanations, every one in turn the target."""
    parts = (registry.build("data", data), registry.build("model", model), registry.build("game", f"rotate({models})"))
    explainers = tuple(registry.build("explain", spec) for spec in explain)
    setup = load(Experiment(*parts, explain=explainers))
    return gather(setup, Resources()).evidence, setup.game


def on_scales(found: Evidence) -> dict[str, Evidence]:
    """The probability of the label on three scales, one signal each."""
    (confidence,) = found.pick((SignalName("confidence"),)).value
    probability = expit(confidence)
    scales = {"log-odds": confidence, "probability": probability, "arcsine": np.arcsin(np.sqrt(probability))}
    names = (SignalName("confidence"),)
    seen = np.ones((1, *confidence.shape), dtype=bool)
    return {scale: Evidence(names, value[None], seen, found.member) for scale, value in scales.items()}


def few_shadows(game: Game, shadows: int) -> Game:
    """The game with the first few shadow models of each target."""
    left = game.shadows & (np.cumsum(game.shadows, axis=1) <= shadows)
    return replace(game, shadows=left)


def trees(models: int, targets: int, words: str) -> None:
    """Print AUC and TPR at 1 % of each tree: three scales, the combined attack, and both with four shadow models."""
    for name, (data, model) in TREES.items():
        if words not in name:
            continue
        began = time.process_time()
        found, game = scored_models(data, model, models)
        trained = time.process_time() - began
        game = fewer(game, targets)
        metrics = ("auc", "tpr@0.01")
        scales = {scale: guessed(one, game, SINGLE, metrics) for scale, one in on_scales(found).items()}
        combined = guessed(found, game, "joint", metrics)
        said = {scale: reached(guesses) for scale, guesses in scales.items()}
        said["combined"] = reached(combined)
        four = few_shadows(game, 4)
        said["combined, 4 shadow models"] = reached(guessed(found, four, "joint", metrics))
        singles = [reached(guessed(one, four, SINGLE, metrics)) for one in on_scales(found).values()]
        said["best single attack, 4"] = max(singles, key=lambda made: float(np.mean(made["auc"])))
        cells = [f"{k} {np.mean(v['auc']):.3f} / {100 * np.mean(v['tpr@0.01']):.1f}" for k, v in said.items()]
        more = [f"{metric} {beyond(metric, combined, scales, said)}" for metric in metrics]
        spent = time.process_time() - began
        print(
            f"{name} ({targets} of {models} models): {'; '.join(cells)}; combined less the better scale: "
            f"{', '.join(more)} ({trained:.0f} of {spent:.0f} CPU s)",
            flush=True,
        )


def beyond(
    metric: str,
    combined: Mapping[str, Guesses],
    scales: Mapping[str, Mapping[str, Guesses]],
    said: Mapping[str, Mapping[str, list[float]]],
) -> str:
    """What the combined attack reaches more than the scale that is best in hindsight, with the interval."""
    best = max(scales, key=lambda scale: float(np.mean(said[scale][metric])))
    found, _ = contrast(metric, combined[metric], scales[best][metric], np.random.default_rng(0))
    return f"{found.value:+.4f} ({found.low:+.4f} to {found.high:+.4f})"


def vectors(models: int, targets: int, words: str) -> None:
    """Print what two norms and whole vectors of tree SHAP add to the score, with intervals over targets."""
    for name in ("Adult, forest with leaves of three", "German, boosted trees"):
        if words not in name:
            continue
        began = time.process_time()
        found, game = explained_models(*TREES[name], models, ("tree_shap",))
        game = fewer(game, targets)
        score = tuple(SignalName(signal) for signal in SIGNALS)
        of_tree_shap = tuple(signal for signal in found.names if signal.explainer)
        norms = tuple(s for s in of_tree_shap if s.signal in ("attribution_l1", "attribution_l2"))
        whole = tuple(s for s in of_tree_shap if s.signal.startswith("attributions"))
        cells = [f"{what} {added(found, game, score, names)}" for what, names in (("norms", norms), ("whole", whole))]
        spent = time.process_time() - began
        print(f"{name} ({targets} of {models} models): {'; '.join(cells)} ({spent:.0f} CPU s)", flush=True)


def added(found: Evidence, game: Game, score: tuple[SignalName, ...], names: tuple[SignalName, ...]) -> str:
    """What signals of an explanation add to the AUC of the score, with the interval."""
    joint = registry.build("attack", "joint")
    (explainer,) = {name.explainer for name in names}
    trial = Trial(joint, (*score, *names), Channel.SCORE_AND_EXPLANATION, explainer, Channel.SCORE, len(score))
    made = guess_by_metric(found, game, trial, metrics=("auc",))
    (row,) = contrast_rows(trial, made, game, np.random.default_rng(0))
    return f"{row.value:+.4f} ({row.low:+.4f} to {row.high:+.4f}; {len(names)} signals)"


def main() -> None:
    """Run one of the three."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("released", "trees", "vectors"))
    parser.add_argument("--norms", action="store_true")
    parser.add_argument("--models", type=int, default=33)
    parser.add_argument("--targets", type=int, default=33)
    parser.add_argument("--only", default="", help="only trees whose name has these words")
    given = parser.parse_args()
    if given.what == "released":
        released(given.norms, given.targets)
    elif given.what == "trees":
        trees(given.models, given.targets, given.only)
    else:
        vectors(given.models, min(given.targets, 16), given.only)


if __name__ == "__main__":
    main()
