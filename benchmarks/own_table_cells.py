"""The cells of bench_own_table.py: what a user writes for each model and each explainer, as lines of code.

Names that the lines may use: T, P (training people, and the population) are tables with texts and missing values,
Tf, Pf the same without missing values, Tn, Pn tables of numbers alone, Ta, Pa arrays of these, Ts, Ps arrays scaled by
their spread; y and q are the labels; FILL and NUMBERS are values and names of columns; SMALL is the size of an audit.
"""

from __future__ import annotations

from dataclasses import dataclass

NUMBERS = ["age", "education-num", "capital-gain", "hours-per-week"]
TEXTS = ["marital-status", "occupation", "workclass"]
FOREST = "RandomForestClassifier(10, random_state=seed)"


@dataclass(frozen=True)
class Kind:
    """A kind of model: the lines that fit it, its rows (train and population), and further arguments of the audit."""

    lines: str
    rows: tuple[str, str]
    more: str = ""


MODELS = {
    "pipeline, missing, texts": Kind(
        """
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2)
        columns = make_column_transformer((SimpleImputer(), NUMBERS), (codes, TEXTS))
        model = make_pipeline(columns, RandomForestClassifier(10, random_state=0)).fit(T, y)
        """,
        ("T", "P"),
    ),
    "forest": Kind("model = RandomForestClassifier(10, random_state=0).fit(Tn, y)", ("Tn", "Pn")),
    "HistGradientBoosting": Kind(
        "model = HistGradientBoostingClassifier(min_samples_leaf=2, random_state=0).fit(Tn, y)", ("Tn", "Pn")
    ),
    "XGBoost": Kind("model = xgboost.XGBClassifier(n_estimators=40, max_depth=8, n_jobs=1).fit(Tn, y)", ("Tn", "Pn")),
    "LightGBM": Kind(
        "model = lightgbm.LGBMClassifier(min_child_samples=2, num_leaves=63, n_jobs=1, verbose=-1).fit(Tn, y)",
        ("Tn", "Pn"),
    ),
    "CatBoost, categories": Kind(
        """
        settings = {"depth": 6, "learning_rate": 0.3, "thread_count": 1, "verbose": False, "cat_features": TEXTS}
        model = catboost.CatBoostClassifier(80, **settings).fit(Tf, y)
        """,
        ("Tf", "Pf"),
    ),
    "EBM": Kind(
        """
        settings = {"outer_bags": 1, "validation_size": 0, "max_rounds": 300, "learning_rate": 0.2, "n_jobs": 1}
        model = ExplainableBoostingClassifier(**settings).fit(Tn, y)
        """,
        ("Tn", "Pn"),
    ),
    "torch, fit=": Kind("model = train_network(Ts, y, 0)", ("Ts", "Ps"), "fit=train_network, "),
    "function, fit=": Kind(
        f"""
        fit = lambda X, y, seed: {FOREST}.fit(X, y).predict_proba
        model = fit(Ta, y, 0)
        """,
        ("Ta", "Pa"),
        "fit=fit, ",
    ),
    "HTTP": Kind(
        f"""
        fit = lambda X, y, seed: {FOREST}.fit(X, y)
        model = jali.http_model(served(fit(Ta, y, 0)), protocol="mlflow")
        """,
        ("Ta", "Pa"),
        "fit=fit, ",
    ),
    "ONNX": Kind(
        f"""
        fit = lambda X, y, seed: {FOREST}.fit(X, y)
        model = session(fit(Ta, y, 0))
        """,
        ("Ta", "Pa"),
        "fit=fit, ",
    ),
}

TABLES = ("forest", "HistGradientBoosting", "XGBoost", "LightGBM", "EBM")
TREES = (*TABLES[:-1], "CatBoost, categories")
ARRAYS = ("function, fit=", "HTTP", "ONNX")
GRADIENTS = "explain = ['integrated_gradients', 'scfe']"
REMOVED = """
score = lambda model, X: model.predict_proba(X)[:, [1]]
explain = lambda model, X: np.hstack([score(model, X) - score(model, X.assign(**{n: FILL[n]})) for n in X])
"""
REMOVED_NUMBERS = """
def explain(model, X):
    without = [model.predict_proba(X.assign(**{name: 0})) for name in X]
    return np.stack([model.predict_proba(X)[:, 1] - w[:, 1] for w in without], axis=1)
"""
REMOVED_ARRAY = """
def explain(model, X):
    without = [model.predict_proba(np.where(np.arange(X.shape[1]) == j, 0, X))[:, 1] for j in range(X.shape[1])]
    return model.predict_proba(X)[:, [1]] - np.stack(without, axis=1)
"""
REMOVED_TENSOR = """
def explain(model, X):
    score = lambda X: model(torch.tensor(X).float()).softmax(1)[:, [1]].detach().numpy()
    return np.hstack([score(X) - score(np.where(np.arange(7) == j, 0, X)) for j in range(7)])
"""
KERNEL = "explain = lambda model, background: shap.KernelExplainer(model.predict_proba, background[:2])"
# Given a method, shap sets feature_names_in_ of the model, which these do not survive.
KERNEL_CALLED = """
score = lambda model: lambda X: model.predict_proba(X)
explain = lambda model, background: shap.KernelExplainer(score(model), background[:2])
"""
KERNEL_TENSOR = """
score = lambda model, X: model(torch.tensor(X).float()).softmax(1).detach().numpy()
explain = lambda model, background: shap.KernelExplainer(lambda X: score(model, X), background[:2])
"""
KERNEL_TEXTS = """
score = lambda model, like: lambda X: model.predict_proba(pd.DataFrame(X, columns=like.columns).astype(like.dtypes))
explain = lambda model, background: shap.KernelExplainer(score(model, background), background[:2])
"""
LAST_STEP = "explain = lambda model, X: shap.TreeExplainer(model[-1])(model[:-1].transform(X))"
LIME = "explain = lambda model, background: LimeTabularExplainer(background.to_numpy())"
DICE = """
def explain(model, background):
    data = dice_ml.Data(dataframe=background.assign(y=model.predict(background)), outcome_name="y", **CONTINUOUS)
    return dice_ml.Dice(data, dice_ml.Model(model=model, backend="sklearn"), method="random")
"""
ABLATION = """
score = lambda model, X: torch.tensor(model.predict_proba(X.numpy()))
explain = lambda model, background: captum.attr.FeatureAblation(lambda X: score(model, X))
"""
ABLATION_TABLE = """
read = lambda X, like: pd.DataFrame(X.numpy(), columns=like.columns)
score = lambda model, like: lambda X: torch.tensor(model.predict_proba(read(X, like)))
explain = lambda model, background: captum.attr.FeatureAblation(score(model, background))
"""

# The lines of an explainer: for kinds of models by name, and for all others.
EXPLAINERS: dict[str, dict[tuple[str, ...], str]] = {
    "ours": {
        ("torch, fit=",): GRADIENTS,
        ("forest", "HistGradientBoosting"): "explain = ['tree_shap', 'growing_spheres']",
        ("pipeline, missing, texts",): "explain = ['kernel_shap']",
        ("function, fit=",): "explain = ['kernel_shap', 'growing_spheres']",
        (): "explain = ['kernel_shap']",
    },
    "shap tree": {("pipeline, missing, texts",): LAST_STEP, (): "explain = shap.TreeExplainer"},
    "shap kernel": {
        ("pipeline, missing, texts", "CatBoost, categories"): KERNEL_TEXTS,
        ("torch, fit=",): KERNEL_TENSOR,
        ("XGBoost", "LightGBM", "EBM"): KERNEL_CALLED,
        (): KERNEL,
    },
    "LIME": {
        ("LightGBM",): LIME,
        (): "explain = 'lime_tabular(samples=50)'",
    },
    "DiCE": {TABLES: DICE, ("torch, fit=",): "explain = 'dice(sparsity=\"binary\")'", (): "explain = 'dice'"},
    "captum": {
        ("torch, fit=",): "explain = captum.attr.IntegratedGradients",
        ARRAYS: ABLATION,
        TABLES: ABLATION_TABLE,
        (): "explain = 'captum'",
    },
    "function": {
        ARRAYS: REMOVED_ARRAY,
        TABLES: REMOVED_NUMBERS,
        ("torch, fit=",): REMOVED_TENSOR,
        (): REMOVED,
    },
}


def lines_of(model: str, explainer: str) -> str:
    """The lines that make an explainer for a kind of model."""
    ways = EXPLAINERS[explainer]
    return next(code for kinds, code in ways.items() if model in kinds or not kinds)
