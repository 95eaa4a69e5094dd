"""The data of a paper's figures: ROC curves, distances, accuracy by threshold, sorted curves, trade-offs, ranks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jali.audit.quality import Measured
from jali.audit.summary import cells_of
from jali.audit.thresholds import curve
from jali.core.errors import JaliError
from jali.core.guesses import Estimate, Guesses
from jali.core.values import Floats
from jali.reproduce.numbers import Ran, explainer_of, number, word
from jali.reproduce.ranking import ranked
from jali.reproduce.schema import Paper, group, place
from jali.reproduce.schema_figures import Bars, Comparison, CriticalDifference, Figure, TradeOff
from jali.results.reproduction import Drawing, Ranked, Series

BINS = 40
GRID = np.linspace(0, 1, 101)


def drawings(paper: Paper, ran: dict[str, Ran]) -> Iterator[Drawing]:
    """One drawing per panel whose studies ran."""
    yield from summaries(paper, ran)
    yield from _figures(paper, ran)
    for comparison in paper.comparisons:
        yield from _compared(comparison, ran)


def summaries(paper: Paper, ran: dict[str, Ran]) -> Iterator[Drawing]:
    """The panels that put numbers of several studies side by side."""
    for plot in paper.trade_offs:
        for metric in plot.upwards:
            yield _trade_off(plot, metric, ran, paper)
    for diagram in paper.critical_differences:
        yield from _critical_difference(diagram, ran, paper)
    for chart in paper.bars:
        yield _bars(chart, ran, paper)


def _trade_off(plot: TradeOff, metric: str, ran: dict[str, Ran], paper: Paper) -> Drawing:
    """One metric against another, a line of points per defence; points without a number are left out."""
    series = []
    for label, points in plot.lines.items():
        found = [(note, *_both(text, plot, metric, ran, paper)) for note, text in points.items()]
        known = [(note, x, y) for note, x, y in found if x.value is not None and y.value is not None]
        series.append(
            Series(
                label=label,
                x=[float(x.value or 0.0) for _, x, _ in known],
                y=[float(y.value or 0.0) for _, _, y in known],
                spread=[(*_halves(x), *_halves(y)) for _, x, y in known],
                notes=[note for note, _, _ in known],
            )
        )
    axes = (word(plot.across), word(metric, plot.by))
    title = f"{axes[1][:1].upper()}{axes[1][1:]} against {axes[0]}"
    return Drawing(figure=plot.figure, title=title, kind="trade-off", series=series, axes=axes)


def _critical_difference(diagram: CriticalDifference, ran: dict[str, Ran], paper: Paper) -> Iterator[Drawing]:
    """Ranks over the settings in which every method has a number; nothing where there are fewer than two."""
    try:
        found = ranked(diagram, ran, paper)
    except JaliError:
        return
    told = Ranked(
        names=found.names,
        rank=tuple(found.rank.tolist()),
        distance=found.distance,
        statistic=found.statistic,
        p=found.p,
        settings=found.settings,
    )
    title = f"Ranks by {word(diagram.metric)}"
    yield Drawing(figure=diagram.figure, title=title, kind="ranks", ranked=told)


def _both(text: str, plot: TradeOff, up: str, ran: dict[str, Ran], paper: Paper) -> tuple[Estimate, Estimate]:
    study, method = place(text)
    if study not in ran:
        return Estimate(None), Estimate(None)
    across = number(ran[study], method, plot.across, paper, group(text))
    return across, number(ran[study], method, up, paper, group(text), plot.by)


def _halves(e: Estimate) -> tuple[float, float]:
    """How far an interval reaches below and above its value."""
    value = float(e.value or 0.0)
    return value - float(value if e.low is None else e.low), float(value if e.high is None else e.high) - value


def _bars(chart: Bars, ran: dict[str, Ran], paper: Paper) -> Drawing:
    """A metric of each series in each setting; settings without a number are left out."""
    series = []
    for label, places in chart.lines.items():
        found = {setting: _at(text, chart.metric, ran, paper) for setting, text in places.items()}
        known = {setting: e for setting, e in found.items() if e.value is not None}
        series.append(
            Series(
                label=label,
                x=[float(list(places).index(setting)) for setting in known],
                y=[float(e.value or 0.0) for e in known.values()],
                spread=[(0.0, 0.0, *_halves(e)) for e in known.values()],
                notes=list(known),
            )
        )
    name = word(chart.metric)
    return Drawing(figure=chart.figure, title=name, kind="bars", series=series, axes=("", name))


def _at(text: str, metric: str, ran: dict[str, Ran], paper: Paper) -> Estimate:
    study, method = place(text)
    return number(ran[study], method, metric, paper, group(text)) if study in ran else Estimate(None)


def _figures(paper: Paper, ran: dict[str, Ran]) -> Iterator[Drawing]:
    for figure in paper.figures:
        for study, title in figure.panels.items():
            if study not in ran:
                continue
            if figure.kind == "sorted":
                yield _sorted(figure, title, ran[study], paper)
                continue
            shown = {t: ran[study].guesses[t] for t in figure.methods if t in ran[study].guesses}
            if shown:
                yield _panel(figure, title, shown)


def _sorted(figure: Figure, title: str, ran: Ran, paper: Paper) -> Drawing:
    """A measure of every record that was explained, all targets together, largest first, by the share of records."""
    series = []
    for method in figure.methods:
        values = _each(ran, Measured(figure.metric, explainer_of(paper.methods[method])))
        if len(values):
            y = np.quantile(values, 1 - GRID, method="inverted_cdf")
            series.append(Series(label=method, x=GRID.tolist(), y=y.tolist()))
    axes = ("share of the records, largest first", word(figure.metric))
    return Drawing(figure=figure.figure, title=title, kind="sorted", series=series, axes=axes)


def _each(ran: Ran, name: Measured) -> Floats:
    """A measure of every record that was explained, of all targets."""
    if ran.found is None or ran.setup is None:
        return np.zeros(0)
    cells = cells_of(ran.found.quality, name, None, ran.setup.game)
    return np.zeros(0) if cells is None else cells.value[cells.defined]


def _compared(comparison: Comparison, ran: dict[str, Ran]) -> Iterator[Drawing]:
    for title, lines in comparison.panels.items():
        found = {label: ran[s].guesses.get(t) for label, (s, t) in _places(lines) if s in ran}
        curves = [curve(label, "", g) for label, g in found.items() if g is not None]
        if curves:
            yield Drawing(figure=comparison.figure, title=title, kind="roc", curves=curves)


def _places(lines: dict[str, str]) -> Iterator[tuple[str, tuple[str, str]]]:
    return ((label, place(text)) for label, text in lines.items())


def _panel(figure: Figure, title: str, shown: dict[str, Guesses]) -> Drawing:
    if figure.kind == "roc":
        curves = [curve(t, "", g) for t, g in shown.items()]
        return Drawing(figure=figure.figure, title=title, kind="roc", curves=curves)
    if figure.kind == "distances":
        series = [s for t, g in shown.items() for s in _densities(t, g)]
    else:
        series = [_by_threshold(t, g) for t, g in shown.items()]
    return Drawing(figure=figure.figure, title=title, kind=figure.kind, series=series)


def _densities(name: str, guesses: Guesses) -> list[Series]:
    """Histograms of the score of members and of the others, all targets together, without the outermost 0.1 %."""
    ends = np.quantile(guesses.score, [0.001, 0.999])
    edges = np.linspace(ends[0], max(ends[1], ends[0] + 1e-9), BINS + 1)
    out = []
    for label, side in (("members", guesses.truth), ("non-members", ~guesses.truth)):
        density = np.histogram(guesses.score[side], bins=edges, density=True)[0]
        out.append(Series(label=f"{name}: {label}", x=edges.tolist(), y=np.nan_to_num(density).tolist()))
    return out


def _by_threshold(name: str, guesses: Guesses) -> Series:
    """Balanced accuracy, averaged over targets, of flagging all records above each quantile of a target's scores."""
    units = [guesses.pick(guesses.unit == u) for u in np.unique(guesses.unit)]
    mean = np.mean([_accuracies(u) for u in units if 0 < u.truth.sum() < len(u.truth)], axis=0)
    return Series(label=name, x=GRID.tolist(), y=np.atleast_1d(mean).tolist())


def _accuracies(unit: Guesses) -> Floats:
    cuts = np.quantile(unit.score, GRID)
    inside, outside = np.sort(unit.score[unit.truth]), np.sort(unit.score[~unit.truth])
    missed = np.searchsorted(inside, cuts) / len(inside)
    rejected = np.searchsorted(outside, cuts) / len(outside)
    return np.asarray((1 - missed + rejected) / 2)
