"""Explainers that users bring: what the adapter costs, whether it changes a number, and the real libraries once.

    python benchmarks/bench_own_explainers.py overhead | equal | libraries

overhead: CPU seconds that an audit spends on explaining with a user's function, over those inside the function.
equal: largest difference between signals of shap through the adapter and those of tree_shap, and of captum and ours.
libraries: LIME, DiCE, an EBM and the kernel explainer, each in a small audit of a pipeline's or forest's own table.
Models of XGBoost and LightGBM, and the libraries, are used where they are installed.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

import jali
from jali.api.explainers import with_explainers
from jali.api.own_model import Own, own_experiment
from jali.audit.all_models import Gathered, gather
from jali.audit.setup import Experiment, Resources, Setup, load
from jali.core import registry
from jali.models.fitted.estimator import FittedModel


def people(n: int, seed: int = 0, columns: int = 8) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns)).round(3)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)
    return X, y


def ready(model: Any, explain: list[Any], X: Any, y: Any, shadows: int) -> Setup:
    half = len(y) // 2
    tables = Own((X[:half], y[:half]), (X[half:], y[half:]))
    fitted = model.fit(X[:half], y[:half])
    experiment, _ = own_experiment(fitted, tables, f"given_model(members={half}, shadows={shadows})", 0)
    return load(with_explainers(experiment, explain))


def cpu(setup: Setup) -> float:
    began = time.process_time()
    gather(setup, Resources())
    return time.process_time() - began


def overhead() -> None:
    import shap

    X, y = people(2400)
    forest = RandomForestClassifier(30, random_state=0, max_depth=8)
    inside = 0.0

    def by_trees(model: Any, rows: Any) -> Any:
        nonlocal inside
        began = time.process_time()
        out = shap.TreeExplainer(model).shap_values(rows)
        inside += time.process_time() - began
        return out

    def by_removal(model: Any, rows: Any) -> Any:
        nonlocal inside
        began = time.process_time()
        here = model.predict_proba(rows)[:, 1]
        out = np.empty(rows.shape)
        for j in range(rows.shape[1]):
            without = rows.copy()
            without[:, j] = 0.0
            out[:, j] = here - model.predict_proba(without)[:, 1]
        inside += time.process_time() - began
        return out

    cpu(ready(forest, [], X, y, 4))  # libraries are imported
    plain = cpu(ready(forest, [], X, y, 4))
    for function in (by_trees, by_removal):
        given: Any = jali.explainer(function, "attribution")
        setup = ready(forest, [given], X, y, 4)
        inside = 0.0
        total = cpu(setup)
        print(
            f"{function.__name__}: {total - plain:.2f} s for explaining, {inside:.2f} s inside the function: ratio "
            f"{(total - plain) / inside:.3f} (models and predictions alone: {plain:.2f} s)"
        )


def boosted() -> dict[str, Any]:
    out: dict[str, Any] = {
        "forest": RandomForestClassifier(10, random_state=0),
        "HistGradientBoosting": HistGradientBoostingClassifier(max_iter=10),
    }
    if importlib.util.find_spec("xgboost"):
        xgboost = importlib.import_module("xgboost")
        out["XGBoost"] = xgboost.XGBClassifier(n_estimators=10, n_jobs=1)
    if importlib.util.find_spec("lightgbm"):
        lightgbm = importlib.import_module("lightgbm")
        out["LightGBM"] = lightgbm.LGBMClassifier(n_estimators=10, n_jobs=1, verbose=-1)
    return out


def difference(found: Gathered, ours: str, theirs: str) -> float:
    at = {
        (name.explainer, name.signal, name.part): found.evidence.value[k]
        for k, name in enumerate(found.evidence.names)
        if name.explainer
    }
    pairs = [(value, at[theirs, signal, part]) for (who, signal, part), value in at.items() if who == ours]
    return max(float(np.abs(one - other).max()) for one, other in pairs)


def _every(_: Any) -> bool:
    """tree_shap itself reads models of scikit-learn alone; here it is compared on others too."""
    return True


def equal() -> None:
    import shap

    FittedModel.has_trees = property(_every)  # type: ignore[method-assign,assignment]
    X, y = people(300)
    for name, model in boosted().items():
        setup = ready(model, ["tree_shap", shap.TreeExplainer], X, y, 2)
        found = gather(setup, Resources())
        print(f"{name}: largest difference of a signal {difference(found, 'tree_shap', 'TreeExplainer'):.1e}")
    if importlib.util.find_spec("captum"):
        equal_captum()


CAPTUM = {"InputXGradient": "input_x_gradient", "IntegratedGradients": "integrated_gradients"}


def equal_captum() -> None:
    """Captum's attributions of networks through the adapter, beside ours: both signals and attributions."""
    steps = {"integrated_gradients": "integrated_gradients(steps=50)"}  # as many as captum takes by default
    for theirs, name in CAPTUM.items():
        given = [registry.build("explain", text) for text in (f'captum(method="{theirs}")', steps.get(name, name))]
        data = registry.build("data", "lending(n=300)")
        model = registry.build("model", "mlp(epochs=20)")
        setup = load(Experiment(data, model, registry.build("game", "rotate(models=3)"), explain=tuple(given)))
        found = gather(setup, Resources())
        ours, captum = (registry.spec(part) for part in reversed(given))
        print(f"captum {theirs}: largest difference of a signal {difference(found, ours, captum):.1e}")


def libraries() -> None:
    X, y = people(200, columns=4)
    table = pd.DataFrame(X, columns=["age", "income", "debt", "years"])
    forest = RandomForestClassifier(10, random_state=0)
    makers: dict[str, Any] = {}

    def lime(_: Any, background: Any) -> Any:
        from lime.lime_tabular import LimeTabularExplainer

        return LimeTabularExplainer(background.to_numpy(), feature_names=list(background.columns))

    def dice(model: Any, background: Any) -> Any:
        import dice_ml

        rows = background.assign(outcome=model.predict(background))
        data = dice_ml.Data(dataframe=rows, continuous_features=list(background.columns), outcome_name="outcome")
        return dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method="random")

    def kernel(model: Any, background: Any) -> Any:
        import shap

        return shap.KernelExplainer(model.predict_proba, background.iloc[:10])

    if importlib.util.find_spec("lime"):
        makers["LIME"] = lime
    if importlib.util.find_spec("dice_ml"):
        makers["DiCE"] = dice
    makers["kernel"] = kernel
    for name, make in makers.items():
        began = time.process_time()
        setup = ready(forest, [make], table, y, 1)
        found = gather(setup, Resources())
        part: Any = setup.parts.explain[0]
        at = next(k for k, s in enumerate(found.evidence.names) if s.explainer)
        share = found.evidence.observed[at].mean()
        print(f"{name}: gives {part.gives}, answered {share:.2f}, {time.process_time() - began:.0f} CPU s")
        print(f"  {part.caution}", *found.failures)


if __name__ == "__main__":
    {"overhead": overhead, "equal": equal, "libraries": libraries}[sys.argv[1]]()
