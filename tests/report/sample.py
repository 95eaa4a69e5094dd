"""Made-up results of every shape a report must be able to show; the numbers mean nothing."""

from __future__ import annotations

import base64
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from jali.results import Check, Curve, Exposed, Heat, Picture, PositiveControl, Results, Row, Threat

Maker = Callable[[], Results]
RATES = ("tpr@0.01", "tpr@0.001", "tnr@0.01", "tnr@0.001")
METRICS = ("auc", "balanced_accuracy", *RATES)
EXPLAINERS = ("linear_recourse", "gradient_times_input", "nice(k=5)")
REASON = "1,204 non-members, 2,995 needed"
HOSTILE = "<script>window.hacked=1</script>\"'>{{ 7*7 }} $x_1$ [bold]b[/bold]\n\x1b[31mred\x1b[0m\u202e naïve 日本"
PLANTED = (0.0, 0.005, 0.01, 0.02, 0.05)
DETECTABLE = {  # by explainer and baseline; the AUC row and the positive control have it
    ("linear_recourse", "score"): 0.0061,
    ("linear_recourse", "decision"): 0.0093,
    ("gradient_times_input", "score"): 0.0062,
    ("gradient_times_input", "decision"): 0.0095,
    ("nice(k=5)", "score"): 0.031,
    ("nice(k=5)", "decision"): None,
}
TWO_SIDED = "t-interval over 16 target models, 95 %"


def full() -> Results:
    """A complete audit with three explainers."""
    return Results(
        title="Adult income, three explanations",
        jali="0.1.0",
        config=_config(),
        facts=_facts(),
        rows=[*_attacks(), *_contrasts(), *_groups(), *_measures()],
        sanity=_sanity(),
        controls=[control(*key, found) for key, found in DETECTABLE.items()],
        curves=_curves(),
        exposed=[Exposed(record=r, recognised=c, member_of=8, rate=c / 8) for r, c in ((4711, 8), (12, 7), (30099, 7))],
        threats=_threats(),
        not_tested=["Attribute inference", "Attackers who may repeat a query", "Images and text"],
        warnings=["38 % of the scored records received no counterfactual and are left out of its attacks."],
        timings={"train": 12.4, "explain": 48.21, "attack": 3.0},
    )


def hostile() -> Results:
    """Names that try to be markup in every place that takes text."""
    base = full()
    rename = {"explainer": HOSTILE, "signal": HOSTILE, "attack": f"joint({HOSTILE})", "reason": HOSTILE}
    rows = [r.model_copy(update=rename | {"group": r.group and HOSTILE, "interval": HOSTILE}) for r in base.rows]
    update = {
        "title": HOSTILE,
        "rows": rows,
        "config": {HOSTILE: {HOSTILE: [HOSTILE, {HOSTILE: HOSTILE}]}},
        "facts": {HOSTILE: HOSTILE, "data": {HOSTILE: [HOSTILE]}},
        "sanity": [Check(name=HOSTILE, passed=True, detail=HOSTILE)],
        "controls": [
            base.controls[0].model_copy(update={"explainer": HOSTILE}),
            PositiveControl(explainer=HOSTILE, against="decision", reason=HOSTILE),
        ],
        "curves": [c.model_copy(update={"label": HOSTILE, "explainer": c.explainer and HOSTILE}) for c in base.curves],
        "exposed": [Exposed(record=1, recognised=1, member_of=2, rate=0.5, values={HOSTILE: HOSTILE})],
        "threats": [Threat(channel=HOSTILE, sees=HOSTILE, knows=HOSTILE, has=HOSTILE, asks=HOSTILE)],
        "not_tested": [HOSTILE],
        "warnings": [HOSTILE],
        "timings": {HOSTILE: 1.0},
    }
    return base.model_copy(update=update)


def pictured() -> Results:
    """Records that are pictures of 4 by 4 pixels in colour, with maps by an explainer with a sign and one without."""
    base = full()
    records = [e.model_copy(update=_looks("naïve <b>", e.record)) for e in base.exposed]
    return base.model_copy(update={"exposed": records, "image": (3, 4, 4)})


def withheld() -> Results:
    """Records that are pictures, which nobody asked to see."""
    return full().model_copy(update={"image": (1, 8, 8)})


def hostile_pictures() -> Results:
    """Names of classes and explainers that try to be markup, beside pictures."""
    record = Exposed(record=1, recognised=1, member_of=2, rate=0.5, **_looks(HOSTILE, 3, (HOSTILE, HOSTILE + "2")))
    return hostile().model_copy(update={"exposed": [record], "image": (3, 4, 4)})


def _looks(label: str, seed: int, explainers: tuple[str, str] = ("input_x_gradient", "saliency")) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    maps = [
        Heat(explainer=name, model=2 + k, member=k == 0, prediction=label, chance=0.97, reach=0.0312,
             drawn=_grid(rng.integers(low, 256, (1, 4, 4))))
        for name, low in zip(explainers, (1, 128), strict=True) for k in (0, 1)
    ]  # fmt: skip
    return {"label": label, "picture": _grid(rng.integers(0, 256, (3, 4, 4))), "maps": maps}


def _grid(pixels: Any) -> Picture:
    return Picture(size=pixels.shape, pixels=base64.b64encode(pixels.astype(np.uint8).tobytes()).decode())


def answered() -> Results:
    """People's records and the answer of each of two explainers."""
    return _answered(("age", "city"), ("21", "Lier"), ("nice", "mondrian(k=5)"), "accept")


def hostile_answers() -> Results:
    """Names of columns, categories, classes and explainers that try to be markup, in what people are shown."""
    return _answered((HOSTILE, HOSTILE + "2"), (HOSTILE, HOSTILE), (HOSTILE, HOSTILE), HOSTILE)


def _answered(columns: tuple[str, str], cells: tuple[str, str], explainers: tuple[str, str], hoped: str) -> Results:
    plain = f"If {columns[1]} were {cells[1] * 9} (not {cells[1]}), the outcome would be {hoped}."
    said = ([plain, plain[:-1] + " (in about 94 % of the cases this covers)."], [plain, "withheld"], ["no answer"] * 2)
    shown = dict(zip(columns, cells, strict=True))
    records = [{"record": 4711 + k, "member": k == 0, "now": "reject", "cells": shown, "more": k, "said": lines}
               for k, lines in enumerate(said)]  # fmt: skip
    shown_answers = {"model": 2, "hoped": hoped, "explainers": list(explainers), "records": records}
    return full().model_copy(update={"examples": shown_answers})


def invalid() -> Results:
    """An audit whose members differ from its non-members even without a model."""
    failed = Check(name="blind baseline", passed=False, detail="AUC without the model 0.71, must cover 0.5", value=0.71)
    return full().model_copy(update={"sanity": [failed, *_sanity()[1:]]})


def prediction_only() -> Results:
    """No explanation was attacked."""
    base = full()
    rows = [r for r in base.rows if not r.explainer]
    update = {"rows": rows, "controls": [], "curves": base.curves[:2], "exposed": [], "threats": []}
    return base.model_copy(update=update)


def single_target() -> Results:
    """A user's own model: one target, intervals conditional on it, no rate below one per cent, too few shadows."""
    update = {"units": 1, "interval": "DeLong, conditional on this model", "detectable": None}
    rows = [r.model_copy(update=update) for r in full().rows if r.explainer in ("", EXPLAINERS[0])]
    why = "it needs 4 shadow models, and there are 2"
    gone = [PositiveControl(explainer=EXPLAINERS[0], against=a, reason=why) for a in ("score", "decision")]
    return full().model_copy(update={"rows": [_gated(r) for r in rows], "controls": gone})


def control(explainer: str, against: str, detectable: float | None) -> PositiveControl:
    """A positive control in which most of what was planted is recovered."""
    power = [min(1.0, 0.8 * (size / (detectable or 0.1)) ** 2) for size in PLANTED]
    recovered = [0.9 * size - 0.0012 for size in PLANTED]
    about = {"sizes": list(PLANTED), "recovered": recovered, "power": power, "detectable": detectable}
    return PositiveControl(explainer=explainer, against=against, **about)


def many_attacks() -> Results:
    """Many attacks on single signals beside the combined ones, as a real audit has them."""
    base = full()
    names = [f"{attack}{k}" for attack in ("threshold", "calibrated", "ratio") for k in (1, 2)]
    lines = [(e, "explanation" if e else "score", "loss", a) for e in ("", EXPLAINERS[0]) for a in names]
    more = [_attack(20 + k, line, metric) for (k, line), metric in product(enumerate(lines), METRICS)]
    return base.model_copy(update={"rows": [*base.rows, *more]})


def released() -> Results:
    """Numbers of a published convention: no channel of an audit, one more row per target model."""
    means = {"variance": 0.614, "loss": 0.570}
    common = {"kind": "attack", "convention": "as released by somebody", "attack": "lira", "metric": "auc"}
    rows = [Row(signal=s, value=v, low=v - 0.003, high=v + 0.003, units=8, **common) for s, v in means.items()]
    rows += [Row(signal=s, value=v + k / 1000, units=1, target=k, **common)
             for (s, v), k in product(means.items(), range(8))]  # fmt: skip
    return Results(title="evidence", rows=rows, warnings=["Shown only to match published numbers."])


def _gated(row: Row) -> Row:
    gone = {"value": None, "low": None, "high": None, "reason": REASON}
    return row.model_copy(update=gone) if row.metric.endswith("@0.001") else row


def _estimate(metric: str, k: int) -> dict[str, float]:
    """A value and an interval that differ from cell to cell, so that a test can look for each."""
    middle = {"auc": 0.541, "balanced_accuracy": 0.527, "tpr@0.01": 0.0183, "tnr@0.01": 0.0142}.get(metric, 0.0031)
    value = middle * (1 + 0.037 * k)
    return {"value": value, "low": value * 0.9, "high": value * 1.12}


def _attacks() -> list[Row]:
    lines = [("", "score", "confidence", "lira"), ("", "score", "confidence", "threshold")]
    lines.append(("", "decision", "decision", "joint"))
    for e in EXPLAINERS:
        s = "attribution_l1 + attribution_l2" if "gradient" in e else "recourse_distance"
        lines += [
            (e, "explanation", s, 'lira(spread="shrunken")'),
            (e, "score+explanation", f"confidence + {s}", "joint"),
        ]
        lines.append((e, "decision+explanation", f"decision + {s}", "joint"))
    return [_attack(k, line, metric) for (k, line), metric in product(enumerate(lines), METRICS)]


def _attack(k: int, line: tuple[str, str, str, str], metric: str) -> Row:
    explainer, channel, signal, attack = line
    row = Row(kind="attack", explainer=explainer, channel=channel, signal=signal, attack=attack, metric=metric,
              combined=attack == "joint", learns="membership", units=16, n=19264, base_rate=0.5, interval=TWO_SIDED,
              coverage={"": None, EXPLAINERS[0]: 0.62}.get(explainer, 1.0), **_estimate(metric, k))  # fmt: skip
    unresolved = metric.endswith("0.001") and "nice" in explainer
    return _gated(row) if unresolved else row


def _contrasts() -> list[Row]:
    values = {
        "linear_recourse": {"score": (0.0121, 0.0052, 0.0190), "decision": (0.0364, 0.0291, 0.0437)},
        "gradient_times_input": {"score": (0.0011, -0.0033, 0.0055), "decision": (0.0240, 0.0150, 0.0330)},
        "nice(k=5)": {"score": (-0.0068, -0.0125, -0.0011), "decision": (0.0040, -0.0060, 0.0140)},
    }
    rows = []
    for explainer, against, metric in product(values, ("score", "decision"), ("auc", "tpr@0.01", "tpr@0.001")):
        scale = {"auc": 1.0, "tpr@0.01": 0.7, "tpr@0.001": 0.2}[metric]
        value, low, high = (scale * v for v in values[explainer][against])
        row = Row(kind="contrast", explainer=explainer, channel=f"{against}+explanation", against=against,
                  attack="joint", combined=True, metric=metric, value=value, low=low, high=high, units=16, n=19264,
                  base_rate=0.5, interval=TWO_SIDED)  # fmt: skip
        if metric == "auc":
            row = row.model_copy(update={"detectable": DETECTABLE[explainer, against]})
        rows.append(_gated(row) if "nice" in explainer else row)
    return rows


def older() -> Results:
    """Results of the same schema from before there were positive controls."""
    base = full()
    rows = [r.model_copy(update={"detectable": None}) for r in base.rows]
    return base.model_copy(update={"rows": rows, "controls": []})


def compared() -> Results:
    """An explanation for 15 % of the people with both sides of its differences, and one that no attack made use of.

    As older results have it, the latter has no interval; `forced` has that of the combination made to use it.
    """
    base = full()
    head = {
        "kind": "contrast",
        "attack": "joint",
        "combined": True,
        "units": 16,
        "interval": TWO_SIDED,
        "base_rate": 0.5,
    }
    partly = {"explainer": "partly", "n": 913, "coverage": 0.152, "unchanged": 3}
    unused = {"explainer": "unused", "n": 19264, "coverage": 1.0, "unchanged": 16}
    forced = unused | {"explainer": "forced"}
    rows = []
    for against, metric in product(("score", "decision"), ("auc", "tpr@0.01")):
        more = {"against": against, "channel": f"{against}+explanation", "metric": metric}
        ends = {"value": 0.0057, "low": -0.0011, "high": 0.0125} if against == "score" else _ends(-0.0144, 0.008)
        without = 0.6784 if metric == "auc" else 0.0487
        with_ = without + ends["value"]
        found = {"detectable": 0.021} if metric == "auc" else {}
        rows.append(Row(**head, **partly, **more, **ends, **found))
        rows.append(Row(**head, **unused, **more, **_ends(0.0, 0.0)))
        rows.append(Row(**head, **forced, **more, **_ends(0.0, 0.003) | found))
        both = head | partly | more | {"kind": "paired", "unchanged": None}
        rows.append(Row(**both | {"channel": against} | _ends(without, 0.011)))
        rows.append(Row(**both | _ends(with_, 0.012)))
    own = [_curve(label, lift, "partly") for label, lift in (("score", 2.4), ("score + explanation", 2.5))]
    controls = [control(e, a, 0.021) for e, a in product(("partly", "forced"), ("score", "decision"))]
    update = {"rows": [*_attacks(), *rows], "controls": controls, "curves": [*base.curves, *own]}
    return base.model_copy(update=update)


def _ends(value: float, half: float) -> dict[str, float]:
    return {"value": value, "low": value - half, "high": value + half}


def _groups() -> list[Row]:
    seen = {"sex=female": 0.0351, "sex=male": 0.0212, "race=Amer-Indian-Eskimo": None, "age=60 and over": 0.0487}
    common = {"kind": "attack", "explainer": "linear_recourse", "channel": "score+explanation", "units": 16,
              "signal": "confidence + recourse_distance", "attack": "joint", "combined": True,
              "metric": "tpr@0.01"}  # fmt: skip
    rows = []
    for group, value in seen.items():
        span = {"low": value * 0.7, "high": value * 1.4} if value else {"reason": "88 non-members, 299 needed"}
        rows.append(Row(group=group, value=value, **common, **span))
    return rows


def _measures() -> list[Row]:
    model = [("train_accuracy", 0.871), ("test_accuracy", 0.852)]
    rows = [Row(kind="measure", metric=m, value=v, low=v - 0.004, high=v + 0.004, units=16) for m, v in model]
    for k, explainer in enumerate(EXPLAINERS):
        quality = [("validity", 0.987 - 0.01 * k), ("cost_l2", 1.324 + k), ("answered", 0.621 + 0.1 * k)]
        rows += [Row(kind="measure", explainer=explainer, metric=m, value=v, units=16) for m, v in quality]
    return rows


def queried() -> Results:
    """An audit in which query attacks looked people up, and one of them could not be run."""
    base = full()
    return base.model_copy(update={"rows": [*base.rows, *_query_rows()], "threats": [*base.threats, _linkage()]})


def queried_alone() -> Results:
    """The same without any attack on signals."""
    update = {"rows": [*_measures(), *_query_rows()], "curves": [], "exposed": [], "threats": [_linkage()]}
    return full().model_copy(update=update)


def _query_rows() -> list[Row]:
    head = {"kind": "query attack", "learns": "identity", "explainer": EXPLAINERS[2], "knowledge": "register"}
    head |= {"units": 5, "n": 500}
    values = {
        "candidates": 1.287,
        "singled_out": 0.76,
        "reidentified": 0.873,
        "disclosed": 0.612,
        "disclosed_baseline": 0.334,
        "coverage@10": 0.082,
        "coverage@60": 0.311,
    }
    rows = [
        Row(**head, attack="linkage", queries=500, metric=m, value=v, low=0.9 * v, high=min(1.1 * v, v + 0.1))
        for m, v in values.items()
    ]
    reason = "This attack makes answers again, and this explainer cannot be run like that."
    return rows + [
        Row(**head, attack="minimality", metric=m, value=None, reason=reason) for m in ("candidates", "singled_out")
    ]


def _linkage() -> Threat:
    return Threat(
        channel=f"linkage, querying {EXPLAINERS[2]}",
        sees="the explanation",
        knows="the columns of the training people that others know too",
        has="no shadow models",
        asks="one query per record",
    )


def _sanity() -> list[Check]:
    blind = {"detail": "a classifier without the model", "value": 0.502, "low": 0.49, "high": 0.515}
    null = {"detail": "another target's membership", "value": 0.499, "low": 0.488, "high": 0.511}
    return [
        Check(name="blind baseline", passed=True, **blind),
        Check(name="null target", passed=True, **null),
        Check(name="orientation", passed=True, detail="larger scores go with members"),
    ]


def _curves() -> list[Curve]:
    lifts = {"explanation": 1.2, "score + explanation": 3.2, "decision + explanation": 2.6}
    own = [_curve(label, lift, e) for e, (label, lift) in product(EXPLAINERS[:2], lifts.items())]
    return [_curve("score", 1.8), _curve("decision", 1.0), *own]


def _curve(label: str, lift: float, explainer: str = "") -> Curve:
    fpr = [10 ** (-4 + 4 * k / 60) for k in range(61)]
    tpr = [min(1.0, x ** (1 / (1 + 0.12 * lift))) for x in fpr]
    band = [0.5 * t * (1 - t) * x**-0.12 for x, t in zip(fpr, tpr, strict=True)]
    low = [max(0.0, t - b) for t, b in zip(tpr, band, strict=True)]
    high = [min(1.0, t + b) for t, b in zip(tpr, band, strict=True)]
    return Curve(label=label, explainer=explainer, fpr=fpr, tpr=tpr, low=low, high=high, floor=3.1e-4)


def _threats() -> list[Threat]:
    common = {"knows": "the record and its label", "has": "16 shadow models", "asks": "one query per record"}
    return [
        Threat(channel="score", sees="class probabilities", **common),
        Threat(channel="score+explanation", sees="probabilities and the recourse", **common),
    ]


def _config() -> dict[str, object]:
    return {
        "seed": 20261,
        "data": {"source": "adult", "rows": 9632},
        "game": {"design": "halves", "models": 32, "targets": 16},
        "explain": list(EXPLAINERS),
        "attack": ["lira", 'lira(spread="shrunken")', "joint"],
    }


def _facts() -> dict[str, object]:
    return {
        "data": {"name": "adult", "rows": 9632, "columns": 14, "classes": ["<=50K", ">50K"]},
        "members_per_model": 4816,
        "models": 32,
        "targets": 16,
        "shadows": 31,
        "versions": {"python": "3.11.2", "numpy": "2.4.1"},
    }


PICTURES = [pictured, hostile_pictures]
ANSWERS = [answered, hostile_answers]
MAKERS = [full, hostile, invalid, prediction_only, single_target, many_attacks, released, withheld, queried]
MAKERS += [*PICTURES, *ANSWERS, compared, older]
