"""Three cells of each paper computed a second time, from the raw files, without importing jali.

Run `JALI_DATA=… python benchmarks/recompute.py`; it needs numpy, scikit-learn and scipy, and prints for each cell what
is printed in the paper, what this script finds (mean and standard error over repetitions) and what the committed page
has, with its interval. A cell agrees where the mean lies within two standard errors of the page's interval; "page due"
stands where it does not and the page is of a run with another set-up than the paper's file now has. The code is
written from the papers' descriptions alone; where a set-up had to be chosen, it is that of the paper's file.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

PAGES = Path(__file__).parents[1] / "docs" / "reproduction"
DATA = Path(os.environ.get("JALI_DATA", "."))
Page = dict[str, Any]
Cell = tuple[str, float, np.ndarray, str]  # its name, what is printed, what is found, the place on the page


# --- huang2024: the released norms -----------------------------------------------------------------------------------


def huang2024() -> Iterator[Cell]:
    """L1-LRT of Table 3 from the score matrices: likelihood ratios with one spread for everybody, read both ways."""
    with np.load(DATA / "cifar10-vit-ixg-scores" / "norms.npz") as file:
        member, score = file["member"].astype(bool), file["l1"]
    auc, rate, released = [], [], []
    for target in range(member.shape[1]):
        others = np.arange(member.shape[1]) != target
        inside, values = member[:, others], score[:, others]
        mean_in = np.where(inside, values, 0).sum(axis=1) / inside.sum(axis=1)
        mean_out = np.where(inside, 0, values).sum(axis=1) / (~inside).sum(axis=1)
        own = score[:, target]
        ratio = (own - mean_out) ** 2 - (own - mean_in) ** 2
        truth = member[:, target]
        false, true = curve(ratio, truth)
        auc.append(float(np.trapezoid(true, false)))
        rate.append(true[false <= 0.01].max())
        released.append(mirrored(ratio, truth))
    place = "released-norms / L1-LRT on scores, as published: "
    yield "Table 3, L1-LRT, AUC", 0.639, np.array(auc), f"{place}auc"
    yield "Table 3, L1-LRT, TPR at 1 % as named", math.nan, np.array(rate), f"{place}tpr@0.01"
    yield "Table 3, L1-LRT, TPR at .1 % as released", 0.093, np.array(released), f"{place}released tpr@0.001"


def curve(score: np.ndarray, truth: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """False and true positive rates at every distinct threshold, from nobody to everybody."""
    order = np.argsort(-score, kind="stable")
    last = np.append(np.diff(score[order]) != 0, True)
    true = np.cumsum(truth[order])[last] / truth.sum()
    false = np.cumsum(~truth[order])[last] / (~truth).sum()
    return np.append(0.0, false), np.append(0.0, true)


def mirrored(ratio: np.ndarray, truth: np.ndarray) -> float:
    """The authors' reading at .001: axes exchanged, and the index of a vertex used on a grid of 10,000 points."""
    from sklearn.metrics import roc_curve

    false, true, _ = roc_curve(truth, -ratio)
    grid = np.interp(np.linspace(0, 1, 10_000), true, false)
    return float(grid[np.flatnonzero(true <= 0.001)[-1]])


# --- huang2023: members of a committee -------------------------------------------------------------------------------


def huang2023() -> Iterator[Cell]:
    """Table 2 without a defence: logistic regression on 62 rows of a sparse linear rule."""
    for d, printed in ((100, 0.6799), (1000, 0.5619)):
        train, test = members(d)
        yield f"Table 2, d = {d}, test", printed, test, f"d{d}-member / model: test_accuracy"
        if d == 100:
            yield "Table 2, d = 100, train", 1.0, train, "d100-member / model: train_accuracy"


def members(d: int, times: int = 20) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.linear_model import LogisticRegression

    found = []
    for seed in range(times):
        rng = np.random.default_rng(1000 + seed)
        rule = rng.uniform(-1, 1, d)
        few = np.sort(np.abs(rule))[-max(1, d // 10)]
        rule = np.where(np.abs(rule) >= few, rule, 0.0)
        rule /= np.linalg.norm(rule)
        x = rng.standard_normal((2062, d))
        y = x @ rule + rng.normal(0, 0.1, len(x)) > 0
        model = LogisticRegression(C=1000.0, max_iter=5000).fit(x[:62], y[:62])
        found.append((model.score(x[:62], y[:62]), model.score(x[62:], y[62:])))
    train, test = np.array(found).T
    return train, test


# --- pawelczyk2022: linear models ------------------------------------------------------------------------------------


def pawelczyk2022() -> Iterator[Cell]:
    """Table 3 and Figure 2 at d = 100: accuracy, and the attack by the distance to the boundary."""
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    found = []
    x, y = make_classification(15_000, 100, n_informative=100, n_redundant=0, n_clusters_per_class=1, random_state=0)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(len(x))
        own, out = order[:5000], order[5000:10_000]
        model = LogisticRegression(C=1.0, max_iter=5000).fit(x[own], y[own])
        far = np.abs(model.decision_function(x)) / np.linalg.norm(model.coef_)
        both = np.concatenate([own, out])
        auc = roc_auc_score(np.arange(len(both)) < len(own), far[both])
        found.append((model.score(x[own], y[own]), model.score(x[out], y[out]), auc))
    train, test, auc = np.array(found).T
    yield "Table 3, d = 100, train", 0.957, train, "linear-100 / model: train_accuracy"
    yield "Table 3, d = 100, test", 0.951, test, "linear-100 / model: test_accuracy"
    yield "Figure 2, d = 100, CFD, AUC", math.nan, auc, "linear-100 / CFD, closed form: auc"


# --- naretto2024: the forest of Table 1 ------------------------------------------------------------------------------


def naretto2024() -> Iterator[Cell]:
    """Table 1, Adult, RF: recall of both classes and precision of the larger one, on rows that trained nothing."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.preprocessing import OneHotEncoder

    rows = []
    for name in ("adult.data.gz", "adult.test.gz"):
        with gzip.open(DATA / "adult" / name, "rt") as file:
            rows += [line.strip().rstrip(".").split(", ") for line in file if line.count(",") == 14]
    table = np.array([row for row in rows if "?" not in row])
    numbers = [0, 2, 4, 10, 11, 12]
    names = [j for j in range(14) if j not in numbers]
    encoded = OneHotEncoder().fit_transform(table[:, names]).toarray()
    x, y = np.hstack([table[:, numbers].astype(float), encoded]), (table[:, 14] == ">50K").astype(int)
    found = []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(x))
        cut = round(0.63 * len(x))  # nine of ten folds of seven tenths
        train, test = order[:cut], order[cut:]
        forest = RandomForestClassifier(100, max_depth=14, class_weight="balanced", random_state=seed)
        said, true = forest.fit(x[train], y[train]).predict(x[test]), y[test]
        found.append([(said[true == 1] == 1).mean(), (true[said == 0] == 0).mean(), (said[true == 0] == 0).mean()])
    place = "adult-rf-models / fit: class_"
    for name, printed, values, metric in zip(
        ("R 1", "P 0", "R 0"),
        (0.87, 0.95, 0.80),
        np.array(found).T,
        ("recall@1", "precision@0", "recall@0"),
        strict=True,
    ):
        yield f"Table 1, Adult, RF, {name}", printed, values, place + metric


# --- goethals2022: CF-K and Mondrian on two small tables -------------------------------------------------------------


def goethals2022() -> Iterator[Cell]:
    """Table 6 and Figure 4 for tables whose quasi-identifiers are an age and one more column."""
    with open(DATA / "cmc" / "cmc.data", encoding="ascii") as file:
        cmc = np.array([line.strip().split(",") for line in file if line.strip()], dtype=float)
    with open(DATA / "heart" / "processed.cleveland.data", encoding="ascii") as file:
        heart = np.array(
            [row for row in (line.strip().split(",") for line in file) if "?" not in row and len(row) == 14]
        )
    heart = heart.astype(float)
    widened, halved = linked(cmc[:, :9], cmc[:, 9] == 1, [0, 3], [1, 2, 4, 5, 6, 7, 8], times=12)
    yield "Table 6, CMC, NCP", 0.0385, widened, "cmc / CF-K as released: ncp"
    yield "Figure 4, CMC, Mondrian, NCP", 0.0592, halved, "cmc-mondrian / Mondrian as released, cmc: ncp"
    names = [1, 2, 5, 6, 8, 10, 11, 12]
    widened, _ = linked(heart[:, :13], heart[:, 13] == 0, [0, 1], names, times=24)
    yield "Table 6, Heart, NCP", 0.0264, widened, "heart / CF-K as released: ncp"


def linked(
    x: np.ndarray, wanted: np.ndarray, quasi: list[int], names: list[int], times: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean NCP of CF-K (k = 10, α = 20) and of Mondrian over splits; names: the columns that are categories."""
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    named = [j in names for j in quasi]
    part = mondrian(x[:, quasi], 10, named)
    out = []
    for seed in range(times):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(x))
        cut = round(0.6 * len(x))
        train, test = order[:cut], order[cut:]
        coded = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), names), remainder="passthrough")
        forest = make_pipeline(coded, RandomForestClassifier(100, random_state=seed))
        leaves = {"randomforestclassifier__max_leaf_nodes": [10, 100, 500, None]}
        model = GridSearchCV(forest, leaves, cv=5).fit(x[train], wanted[train]).best_estimator_
        yes = model.predict(x[train])
        asking = test[~model.predict(x[test])][:150]
        span = np.ptp(x[train], axis=0)
        shown = [nearest(x[i], x[train], yes, names, span) for i in asking]
        search = Widened(x[train], wanted[train], quasi, names, model.predict, rng)
        ours = x[train][:, quasi]
        sets = [x[part == part[train[i]]][:, quasi] for i in shown]
        out.append((np.mean([search.loss(i) for i in shown]), np.mean([penalty(s, ours, named) for s in sets])))
    widened, halved = np.array(out).T
    return widened, halved


def nearest(row: np.ndarray, train: np.ndarray, yes: np.ndarray, names: list[int], span: np.ndarray) -> int:
    """The training row with the wanted prediction that is nearest: differences by range, and 0 or 1 for categories."""
    gap = np.abs(train - row) / np.where(span > 0, span, 1)
    gap[:, names] = train[:, names] != row[names]
    return int(np.where(yes, gap.sum(axis=1), np.inf).argmin())


class Widened:
    """CF-K as the authors' code has it: four attempts, of which the purest, then the smallest is kept.

    An attempt adds one of the 20 nearest rows with the outcome until ten rows match. What matches the p-th
    quasi-identifier goes by the kind of the p-th column of the whole table; distances and widths go by its own kind.
    """

    def __init__(
        self,
        train: np.ndarray,
        label: np.ndarray,
        quasi: list[int],
        names: list[int],
        predict: Callable[[np.ndarray], np.ndarray],
        rng: np.random.Generator,
    ) -> None:
        self.train, self.quasi, self.predict, self.rng = train, quasi, predict, rng
        self.q = train[:, quasi]
        self.able = np.flatnonzero(label)
        self.named = [j in names for j in quasi]
        self.lists = {p for p in range(len(quasi)) if p in names}

    def loss(self, row: int) -> float:
        """NCP of what is shown of a training row."""
        tries = [self.q[self._attempt(self.q[row])] for _ in range(4)]
        pure = self._pureness(row, tries)
        return min((-p, penalty(rows, self.q, self.named)) for p, rows in zip(pure, tries, strict=True))[1]

    def _attempt(self, own: np.ndarray) -> np.ndarray:
        held = own[None]
        while (match := matching(self.q, held, self.lists)).sum() < 10:
            far = sum(self._gap(j, held[:, j]) for j in range(len(self.quasi)))
            near = self.able[np.argsort(np.asarray(far)[self.able], kind="stable")[:20]]
            held = np.vstack([held, self.q[self.rng.choice(near)]])
        return match

    def _gap(self, j: int, held: np.ndarray) -> np.ndarray:
        column = self.q[:, j]
        if self.named[j]:
            return (~np.isin(column, held)).astype(float)
        beyond = np.maximum(np.maximum(held.min() - column, column - held.max()), 0)
        return np.asarray(beyond / np.ptp(column))

    def _pureness(self, row: int, tries: list[np.ndarray]) -> np.ndarray:
        """Share of 100 draws of quasi-identifiers within what each attempt shows that have the outcome."""
        asked = np.repeat(self.train[row][None], 100 * len(tries), axis=0)
        for t, rows in enumerate(tries):
            for j, column in enumerate(self.quasi):
                known = np.unique(self.q[:, j])
                inside = (rows[:, j].min() <= known) & (known <= rows[:, j].max())
                values = np.unique(rows[:, j]) if self.named[j] else known[inside]
                asked[100 * t : 100 * (t + 1), column] = self.rng.choice(values, 100)
        said = np.asarray(self.predict(asked), dtype=np.float64)
        return np.asarray(said.reshape(len(tries), 100).mean(axis=1))


def matching(q: np.ndarray, held: np.ndarray, lists: set[int]) -> np.ndarray:
    """Rows whose quasi-identifiers are within those held: a range, or one of the values."""
    out = np.ones(len(q), dtype=bool)
    for j in range(q.shape[1]):
        if j in lists:
            out &= np.isin(q[:, j], held[:, j])
        else:
            out &= (q[:, j] >= held[:, j].min()) & (q[:, j] <= held[:, j].max())
    return out


def penalty(some: np.ndarray, every: np.ndarray, named: list[bool]) -> float:
    """Normalised certainty penalty: the share of the range, or of the categories where there is more than one."""
    parts = []
    for j, category in enumerate(named):
        if category:
            kinds = len(np.unique(some[:, j]))
            parts.append(0.0 if kinds == 1 else kinds / len(np.unique(every[:, j])))
        else:
            parts.append(np.ptp(some[:, j]) / np.ptp(every[:, j]))
    return float(np.mean(parts))


def mondrian(table: np.ndarray, k: int, named: list[bool]) -> np.ndarray:
    """The number of each row's set in a whole table made k-anonymous, as the open implementation that the paper names.

    Sets wait in a list. Each is cut by its column with the largest raw span, rows below the median on one side and all
    others on the other, or the first half of the categories from the second; where a side has fewer than k rows the
    next column is tried. LeFevre, DeWitt and Ramakrishnan, 2006.
    """
    number = np.zeros(len(table), dtype=int)
    waiting, finished = [np.arange(len(table))], 0
    while waiting:
        rows = waiting.pop()
        kinds = [np.unique(table[rows, j]) for j in range(table.shape[1])]
        span = [len(v) if name else v[-1] - v[0] for v, name in zip(kinds, named, strict=True)]
        for j in np.argsort(-np.array(span, dtype=float), kind="stable"):
            middle = kinds[j][len(kinds[j]) // 2] if named[j] else np.median(table[rows, j])
            left = table[rows, j] < middle
            if k <= np.count_nonzero(left) <= len(rows) - k:
                waiting += [rows[left], rows[~left]]
                break
        else:
            number[rows] = finished
            finished += 1
    return number


# --- beside the pages ------------------------------------------------------------------------------------------------


def on_page(page: Page, place: str) -> tuple[float, float, float] | None:
    """Our number at a place of a committed page, with its interval."""
    for finding in every(page["findings"]):
        if finding.get("place") == place and finding.get("low") is not None:
            return finding["value"], finding["low"], finding["high"]
    study, _, rest = place.partition(" / ")
    method, _, metric = rest.rpartition(": ")
    for one in page["studies"]:
        if one["name"] == study and metric == "auc" and method in one.get("attacks", {}):
            value, low, high, _ = one["attacks"][method]
            return value, low, high
    return None


def every(node: object) -> Iterator[Page]:
    """All findings in the nested lists of a page."""
    if isinstance(node, dict):
        if "place" in node:
            yield node
        for child in node.values():
            yield from every(child)
    elif isinstance(node, list):
        for child in node:
            yield from every(child)


def due(page: Page, place: str) -> bool:
    """Whether the study at a place was run with another set-up than the paper's file now has."""
    return any(one.get("due") for one in page["studies"] if place.startswith(f"{one['name']} / "))


def line(paper: str, page: Page, cell: Cell) -> str:
    """One cell: printed, found here, on the page, and whether these agree."""
    name, printed, values, place = cell
    error = float(values.std(ddof=1) / math.sqrt(len(values)))
    ours = on_page(page, place)
    if ours is None:
        shown, verdict = "none", "not on the page"
    else:
        shown = f"{ours[0]:.4f} [{ours[1]:.4f}, {ours[2]:.4f}]"
        agrees = ours[1] - 2 * error <= values.mean() <= ours[2] + 2 * error
        verdict = "agrees" if agrees else "page due" if due(page, place) else "DIFFERS"
    return f"{paper} | {name} | printed {printed:g} | here {values.mean():.4f} ± {error:.4f} | page {shown} | {verdict}"


def main() -> None:
    """Print the cells of the papers named, or of all."""
    papers: list[Callable[[], Iterator[Cell]]] = [huang2024, huang2023, pawelczyk2022, naretto2024, goethals2022]
    for paper in papers:
        if sys.argv[1:] and paper.__name__ not in sys.argv[1:]:
            continue
        with open(PAGES / f"{paper.__name__}.json", encoding="utf-8") as file:
            page = json.load(file)
        for cell in paper():
            print(line(paper.__name__, page, cell), flush=True)


if __name__ == "__main__":
    main()
