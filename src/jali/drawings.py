"""From guesses to what a paper's figures show: ROC curves, distances, accuracy by threshold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from jali.claims import Figure
from jali.core import Floats, Guesses
from jali.findings import Ran
from jali.judge import curve
from jali.results import Drawing, Series

BINS, GRID = 40, np.linspace(0, 1, 101)


def drawings(figures: Iterable[Figure], ran: dict[str, Ran]) -> Iterator[Drawing]:
    """One drawing per panel that the studies at hand can fill."""
    for figure in figures:
        for study, title in figure.panels.items():
            some = ran[study].guesses if study in ran else {}
            shown = {t: some[t] for t in figure.trials if t in some}
            if shown:
                yield _panel(figure, title, shown)


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
    """Balanced accuracy, averaged over targets, of calling members all above each quantile of a target's scores."""
    units = [guesses.pick(guesses.unit == u) for u in np.unique(guesses.unit)]
    mean = np.mean([_accuracies(u) for u in units if 0 < u.truth.sum() < len(u.truth)], axis=0)
    return Series(label=name, x=GRID.tolist(), y=np.atleast_1d(mean).tolist())


def _accuracies(unit: Guesses) -> Floats:
    cuts = np.quantile(unit.score, GRID)
    inside, outside = np.sort(unit.score[unit.truth]), np.sort(unit.score[~unit.truth])
    missed, cleared = (np.searchsorted(side, cuts) / len(side) for side in (inside, outside))
    return np.asarray((1 - missed + cleared) / 2)
