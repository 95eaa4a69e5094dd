"""What was run for a reproduction, in words: sizes, checks, time, memory, quality of models and explanations."""

from __future__ import annotations

from collections.abc import Iterable

from jali.report import views, words
from jali.results import Results, Row
from jali.results.reproduction import Capped, Reproduction, Study

DETAILS = (views.AFTER, views.MEANS)


def checked(study: Study) -> str:
    """Whether the checks of a study passed.

    >>> checked(Study(name="heloc", parts={}))
    'none recorded'
    """
    failed = [f"{c.name} ({c.detail})" if c.detail else c.name for c in study.sanity if not c.passed]
    if failed:
        return f"{len(failed)} of {len(study.sanity)} checks FAILED: " + "; ".join(failed)
    return f"{len(study.sanity)} passed" if study.sanity else "none recorded"


def sized(study: Study) -> list[tuple[str, str]]:
    """The sizes of a study: its facts without lists."""
    return views.pairs({k: v for k, v in study.facts.items() if not isinstance(v, list)})


def measured(studies: Iterable[Study], short: bool = False) -> list[views.Block]:
    """Quality of models and explanations, one line per study (and explainer), then query attacks, a line per run.

    short: without groups of people, and of query attacks whom or what they found alone.
    """
    rows = [
        row.model_copy(update={"group": " · ".join(filter(None, [study.name, row.group]))})
        for study in studies
        for row in study.measures
        if not (short and row.group)
    ]
    results = Results(rows=rows)
    blocks = views.measures(results) + views.queries(results)
    return [block for block in blocks if not (short and block.title in DETAILS)]


def about(row: Row) -> list[str]:
    """What a line of a study is about: the explainer, the query attack, and what that knew.

    >>> about(Row(kind="query attack", metric="auc", value=0.5, attack="label_only", knowledge="noise"))
    ['label_only', 'noise']
    """
    return [text for text in (row.explainer, row.attack, row.knowledge) if text]


def due(studies: Iterable[Study]) -> list[tuple[str, str]]:
    """Why new runs are due, each reason once, with the studies it is about."""
    return _once((study.name, study.due) for study in studies)


def more(studies: Iterable[Study]) -> list[tuple[str, str]]:
    """What was run with more target models than its scale has, or at a larger scale than the rest, each once."""
    larger = ((study.name, f"Run at --scale {study.scale}.") for study in studies if study.scale)
    return [*_once(larger), *_once((study.name, study.more) for study in studies)]


def smaller(studies: Iterable[Study]) -> list[tuple[str, str]]:
    """What is smaller than in the paper, each text once, with the studies it is about.

    >>> smaller(Study(name=n, parts={}, smaller=text) for n, text in (("a", "Half."), ("b", ""), ("c", "Half.")))
    [('a, c', 'Half.')]
    """
    return _once((study.name, study.smaller) for study in studies)


def _once(said: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names and text, each text that is not empty once."""
    out: dict[str, list[str]] = {}
    for name, text in said:
        if text:
            out.setdefault(text, []).append(name)
    return [(", ".join(names), text) for text, names in out.items()]


def detailed(studies: Iterable[Study]) -> bool:
    """Whether query attacks were run, of which a short page does not tell everything."""
    return any(row.kind == "query attack" for study in studies for row in study.measures)


def grouped(studies: Iterable[Study]) -> bool:
    """Whether anything was measured of groups of people."""
    return any(row.group for study in studies for row in study.measures)


def measure(row: Row | None) -> str:
    """A measure with its interval, in one cell.

    >>> measure(Row(kind="measure", metric="validity", value=0.98, low=0.97, high=0.99))
    '0.980 (0.970–0.990)'
    """
    if row is None:
        return words.DASH
    interval = words.span_of(row)
    return words.value_of(row) + (f" ({interval})" if interval else f" ({row.reason})" if row.reason else "")


def cautions(found: Reproduction) -> list[str]:
    """What a reader must know before the numbers: failed checks and studies that were not run."""
    failed = [f"Study {s.name}: {checked(s)}. Its numbers are no evidence." for s in found.studies if _failed(s)]
    above = [f"Study {s.name}: {c.what} exceeds its cap." for s in found.studies for c in s.capped if _alarming(c)]
    skipped = [f"Study {s.name} was not run: {s.skipped.rstrip('.')}." for s in found.studies if s.skipped]
    due = [s.name for s in found.studies if s.due]
    changed = [f"Run before their set-up was changed, so that a new run is due: {', '.join(due)}."] if due else []
    return failed + above + _together(skipped) + changed


def _together(skipped: list[str]) -> list[str]:
    """Many sentences about studies that were not run as one list."""
    return skipped if len(skipped) < 4 else [" ".join(skipped)]


def caps(found: Reproduction) -> tuple[str, list[tuple[str, Capped]]]:
    """How results compare with what their guarantees allow, in words, and those that lie wholly above."""
    every = [(s.name, c) for s in found.studies for c in s.capped]
    if not every:
        return "", []
    above = [(name, c) for name, c in every if c.exceeds]
    standing = [c for _, c in every if _stands(c)]
    refuted = [c for _, c in every if c.refuted]
    void = [c for _, c in every if not c.refuted and c.void]
    surprising = sum(_alarming(c) for c in standing)
    expected = sum(c.exceeds for c in refuted)
    said = (
        f"{len(standing)} results of attacks on claims that stand were compared with the most that their guarantee "
        f"allows: {surprising or 'none'} of them {'lies' if surprising == 1 else 'lie'} wholly above it. Of "
        f"{len(refuted)} on claims that are refuted, {expected or 'none'} {'does' if expected == 1 else 'do'}."
    )
    return " ".join(filter(None, [said, _without_claim(void)])), above


def _without_claim(void: list[Capped]) -> str:
    """What results say beside claims that are void: nothing about a promise, because there is none."""
    if not void:
        return ""
    count = sum(c.exceeds for c in void)
    return (
        f"{len(void)} more are about claims that are void here: a condition is visibly not met, and each study says "
        f"which. Their cap is what the claim would allow if it were met: {count or 'none'} of them "
        f"{'lies' if count == 1 else 'lie'} wholly above it, and that neither supports nor contradicts a promise."
    )


def _stands(beside: Capped) -> bool:
    """Whether a claim is made, and not known to be false."""
    return not beside.refuted and not beside.void


def _alarming(beside: Capped) -> bool:
    """Whether a result contradicts a claim that was thought to stand."""
    return beside.exceeds and _stands(beside)


def duration(seconds: float) -> str:
    """A time as people say it.

    >>> duration(4.21), duration(53.6), duration(187), duration(4380)
    ('4.2 s', '54 s', '3 min', '1 h 13 min')
    """
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60} min"


def memory(megabytes: float) -> str:
    """An amount of memory.

    >>> memory(640.2), memory(1843)
    ('640 MB', '1.8 GB')
    """
    return f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:,.1f} GB"


def _failed(study: Study) -> bool:
    return not all(c.passed for c in study.sanity)
