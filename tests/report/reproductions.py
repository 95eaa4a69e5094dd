"""Made-up reproductions of every shape a page must be able to show; our numbers mean nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise, product

from jali.results import Check, Curve, Row
from jali.results.reproduction import Drawing, Finding, Reproduction, Series, Study
from tests.report.sample import HOSTILE

Maker = Callable[[], Reproduction]
METHODS = ("scfe", "growing_spheres", "cchvae")
# Published by method: AUC and TPR at FPR 10 % and 1 %, of CFD and of CFD-LRT.
TABLE = {
    "heloc": [
        [(0.5887, 0.1130, 0.0155), (0.5829, 0.1106, 0.0135)],
        [(0.5410, 0.1223, 0.0176), (0.5027, 0.1142, 0.0372)],
        [(0.4874, 0.0863, 0.0016), (0.6789, 0.2635, 0.0513)],
    ],
    "adult": [
        [(0.4971, 0.1039, 0.0121), (0.4988, 0.1010, 0.0158)],
        [(0.5038, 0.1020, 0.0097), (0.5103, 0.1043, 0.0095)],
        [(0.5008, 0.1058, 0.0157), (0.5066, 0.1298, 0.0134)],
    ],
}
METRICS = {"AUC": 0.02, "TPR at FPR 10 %": 0.02, "TPR at FPR 1 %": 0.005}
SHIFTS = (0.004, -0.011, 0.052, -0.003, 0.017, -0.031, 0.001)
CFD = ("CFD", "CFD-LRT", "Loss", "Loss-LRT")


def full() -> Reproduction:
    """A complete reproduction with every kind of finding, drawing and study."""
    return Reproduction(
        paper="pawelczyk2022",
        title="On the Privacy Risks of Algorithmic Recourse",
        citation="Martin Pawelczyk, Himabindu Lakkaraju, Seth Neel. AISTATS 2023. arXiv:2211.05427.",
        note="The released code trains shadow models on the evaluation non-members; here the two are kept apart, and "
        "the released way is shown beside it, for comparison only.",
        scale="standard",
        command="jali reproduce pawelczyk2022 --scale standard",
        made="2026-11-16",
        versions={"jali": "0.1.0", "python": "3.11.2", "numpy": "2.4.1", "scikit-learn": "1.8.0", "torch": "2.9.1"},
        seconds=2583.2,
        memory_mb=1843.0,
        findings=[*_table("heloc"), *_table("adult"), *_accuracies(), *_sentences()],
        drawings=[*_rocs(), *_distances(), *_thresholds()],
        studies=_studies(),
    )


def bare() -> Reproduction:
    """Nothing but what must be there."""
    return Reproduction(paper="p", title="", citation="", scale="smoke", command="")


def hollow() -> Reproduction:
    """Findings without any number, drawings without any line, a study without anything."""
    gone = {"section": "Table 1", "source": "", "verdict": "not resolvable"}
    empty = Curve(label="CFD", fpr=[], tpr=[], low=[], high=[], floor=0.01)
    flat = Curve(label="CFD", fpr=[0.0, 1.0], tpr=[0.0, 1.0], low=[0.0, 1.0], high=[0.0, 1.0], floor=1.0)
    return Reproduction(
        paper="hollow", title="Hollow", citation="Nobody", scale="smoke", command="jali reproduce hollow",
        findings=[
            Finding(quantity="AUC", kind="value", published=0.5, **gone),
            Finding(quantity="AUC without a number", kind="value", **gone),
            Finding(quantity="A is larger than B", kind="order", **gone),
            Finding(quantity="A and B are the same", kind="same", tolerance=0.01, **gone),
            Finding(quantity="Cases above chance", kind="count", published=3.0, value=2.0, **gone),
        ],
        drawings=[
            Drawing(figure="Figure 1", title="empty", kind="roc"),
            Drawing(figure="Figure 1", title="empty", kind="roc", curves=[empty]),
            Drawing(figure="Figure 2", title="all below", kind="roc", curves=[flat]),
            Drawing(figure="Figure 3", title="short", kind="distances", series=[Series(label="a", x=[1.0], y=[1.0])]),
            Drawing(figure="Figure 4", title="one", kind="thresholds", series=[Series(label="a", x=[0.5], y=[0.5])]),
        ],
        studies=[Study(name="empty", parts={})],
    )  # fmt: skip


def hostile() -> Reproduction:
    """Names that try to be markup in every place that takes text."""
    base, more = full(), HOSTILE + " | a|b `x` [y](http://z) ![w](v) *s* ~~t~~ _u_ # v"
    curves = [c.model_copy(update={"label": more}) for d in base.drawings for c in d.curves[:1]]
    update = {
        "paper": "../" + more,
        **dict.fromkeys(("title", "citation", "note", "scale", "command", "made"), more),
        "versions": {more: more},
        "findings": [f.model_copy(update=_renamed(more)) for f in base.findings[:3] + base.findings[-4:]],
        "drawings": [
            Drawing(figure=more, title=more, kind="roc", curves=curves[:1]),
            Drawing(figure=more, title=more, kind="distances", series=[Series(label=more, x=[0.0, 1.0], y=[1.0])]),
            Drawing(
                figure=more, title=more, kind="thresholds", series=[Series(label=more, x=[0.0, 1.0], y=[0.5, 0.6])]
            ),
        ],
        "studies": [_hostile_study(more), Study(name=more, parts={more: more}, skipped=more)],
    }
    return base.model_copy(update=update)


def _renamed(text: str) -> dict[str, str]:
    return dict.fromkeys(("quantity", "section", "source", "reason"), text)


def _hostile_study(text: str) -> Study:
    rows = [Row(kind="measure", metric="sparsity", value=0.5, explainer=e, group=text) for e in ("", text)]
    gone = Row(kind="measure", metric="validity", value=None, reason=text, explainer=text)
    checks = [Check(name=text, passed=False, detail=text)]
    return Study(name=text, parts={text: text}, facts={text: {text: text}, "classes": [text]}, seconds=1.0,
                 sanity=checks, warnings=[text], measures=[*rows, gone])  # fmt: skip


def _judged(low: float, value: float, high: float, least: float, most: float) -> dict[str, object]:
    inside, outside = least <= low and high <= most, high < least or low > most
    verdict = "matches" if inside else "deviates" if outside else "not resolvable"
    return {"low": low, "value": value, "high": high, "verdict": verdict}


def _table(data: str) -> list[Finding]:
    found = []
    for (k, method), (a, attack), (m, metric) in product(
        enumerate(METHODS), enumerate(CFD[:2]), enumerate(METRICS)
    ):  # fmt: skip
        published, tolerance = TABLE[data][k][a][m], METRICS[metric]
        value = max(0.0005, published + SHIFTS[(2 * k + 3 * a + 5 * m) % 7] * (0.15 if m == 2 else 1.0))
        half = (0.007, 0.012, 0.0035)[m]
        same = {"quantity": f"{metric}, {attack} on {method}", "section": f"Table 2: {data}", "source": "Table 2",
                "kind": "value", "published": published, "tolerance": tolerance, "units": 10}  # fmt: skip
        ours = _judged(value - half, value, value + half, published - tolerance, published + tolerance)
        found.append(Finding(**same, **ours))
    gone = {"value": None, "low": None, "high": None, "units": 0, "verdict": "not resolvable"}
    reason = "184 non-members, 299 needed"
    return [*found[:-1], found[-1].model_copy(update={**gone, "reason": reason})]


def _accuracies() -> list[Finding]:
    told = [("train accuracy, heloc", 1.0, 0.998), ("test accuracy, heloc", 0.6701, 0.689)]
    told += [("train accuracy, adult", 0.9755, 0.953), ("test accuracy, adult", 0.8109, 0.8151)]
    same = {"section": "Table 5: models", "source": "Table 5", "kind": "value", "tolerance": 0.02, "units": 10}
    found = [
        Finding(quantity=q, published=p, **same, **_judged(v - 0.004, v, min(v + 0.004, 1.0), p - 0.02, p + 0.02))
        for q, p, v in told
    ]
    note = "the published number is of the released code, which trains for at most 750 steps"
    return [found[0], found[1].model_copy(update={"units": 8, "reason": note}), *found[2:]]


def _sentences() -> list[Finding]:
    same = {"section": "Sentences", "units": 10}
    order = "The likelihood ratio test is stronger than the plain distance on scfe, in all data sets of high dimension"
    least = {"least": 0.0, "most": math.inf}
    return [
        Finding(quantity=order, source="Section 5.2; AUC", kind="order", **same,
                **_judged(-0.061, -0.052, -0.043, **least)),
        Finding(quantity="Attacks grow stronger with the dimension: d = 150 above d = 50", source="Section 5.3; AUC",
                kind="order", **same, **_judged(0.021, 0.034, 0.047, **least)),
        Finding(quantity="Larger networks leak more", source="Section 5.3; AUC", kind="order", **same,
                reason="judged from --scale paper on", **_judged(-0.01, 0.004, 0.018, **least)),
        Finding(quantity="Distances on adult tell nothing", source="Section 5.1; AUC", kind="same", tolerance=0.02,
                **same, **_judged(-0.006, 0.003, 0.012, -0.02, 0.02)),
        Finding(quantity="On heloc all six attacks are above chance", source="Section 5.1; AUC", kind="count",
                published=6.0, **same, **_judged(4.0, 5.0, 5.0, 6.0, 6.0)),
    ]  # fmt: skip


def _rocs() -> list[Drawing]:
    lifts = {"heloc": (1.6, 2.2, 2.0, 2.9), "adult": (0.1, 0.25, 0.2, 0.3), "synthetic, d = 150": (2.6, 4.0, 3.1, 5.2)}
    return [
        Drawing(figure="Figure 1", title=title, kind="roc",
                curves=[_curve(label, lift, 0.0031) for label, lift in zip(CFD, some, strict=True)])
        for title, some in lifts.items()
    ]  # fmt: skip


def _curve(label: str, lift: float, floor: float) -> Curve:
    fpr = [10 ** (-4 + 4 * k / 60) for k in range(61)]
    tpr = [min(1.0, x ** (1 / (1 + 0.12 * lift))) for x in fpr]
    band = [0.35 * t * (1 - t) * x**-0.1 for x, t in zip(fpr, tpr, strict=True)]
    low = [max(0.0, t - b) for t, b in zip(tpr, band, strict=True)]
    high = [min(1.0, t + b) for t, b in zip(tpr, band, strict=True)]
    return Curve(label=label, fpr=fpr, tpr=tpr, low=low, high=high, floor=floor)


def _distances() -> list[Drawing]:
    found = []
    for k, method in enumerate(METHODS):
        edges = [-4 + 6 * i / 40 + 0.7 * k for i in range(41)]
        middle = [(a + b) / 2 for a, b in pairwise(edges)]
        series = [
            Series(label=f"CFD on {method}: {label}", x=edges, y=[_bell(x, at + 0.7 * k) for x in middle])
            for label, at in (("members", -0.4), ("non-members", -0.4 - (0.5, 0.15, -0.3)[k]))
        ]
        found.append(Drawing(figure="Figure 2", title=f"heloc, {method}", kind="distances", series=series))
    return found


def _bell(x: float, at: float) -> float:
    return 0.5 * math.exp(-((x - at) ** 2) / 1.3) * (1.1 + math.sin(7 * x) / 5)


def _thresholds() -> list[Drawing]:
    grid = [k / 100 for k in range(101)]
    found = []
    for title, height in (("heloc, scfe", 0.09), ("adult, scfe", 0.012)):
        series = [
            Series(label=f"{label} on scfe", x=grid, y=[0.5 + height * s * math.sin(math.pi * x**s) for x in grid])
            for label, s in (("CFD", 1.0), ("CFD-LRT", 0.7))
        ]
        found.append(Drawing(figure="Figure 6", title=title, kind="thresholds", series=series))
    return found


def _studies() -> list[Study]:
    checks = [
        Check(name="blind baseline", passed=True, detail="a classifier without the model", value=0.502),
        Check(name="same preprocessing", passed=True, detail="one encoding for all"),
    ]
    return [
        _study("heloc", 9871, "3,290", 1211.0, checks, ["7 non-members are exact copies of members."]),
        _study("adult", 45222, "15,074", 1340.0, [checks[0].model_copy(update={"passed": False}), checks[1]], []),
        Study(name="diabetes", parts={"data": "diabetes130", "model": "mlp(hidden=(1000,))", "game": "disjoint"},
              skipped="The folder of real data has no diabetes130; set JALI_DATA."),
    ]  # fmt: skip


def _study(name: str, rows: int, members: str, seconds: float, checks: list[Check], warnings: list[str]) -> Study:
    model = [("train_accuracy", 0.998), ("test_accuracy", 0.689)]
    measures = [Row(kind="measure", metric=m, value=v, low=v - 0.004, high=v + 0.002, units=10) for m, v in model]
    for k, explainer in enumerate(METHODS):
        quality = [("validity", 0.99 - 0.04 * k), ("cost_l0", 12.4 + k), ("cost_l1", 1.2 + k), ("cost_l2", 0.41 + k),
                   ("plausibility", 1.9 + 0.2 * k), ("seconds", 0.00021 * (k + 1))]  # fmt: skip
        measures += [Row(kind="measure", metric=m, explainer=explainer, value=v, low=0.98 * v, high=1.02 * v, units=10)
                     for m, v in quality]  # fmt: skip
    facts = {"rows": rows, "columns": 23, "classes": ["Bad", "Good"], "members per target": members, "models": 60,
             "targets": 10, "shadows per target": 5}  # fmt: skip
    parts = {"data": name, "model": "mlp(hidden=(1000,), steps=750)", "game": "disjoint(targets=10, shadows=5)"}
    return Study(name=name, parts=parts, facts=facts, seconds=seconds, sanity=checks, warnings=warnings,
                 measures=measures)  # fmt: skip


MAKERS = [full, bare, hollow, hostile]
