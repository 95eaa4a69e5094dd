"""What you can do: options that follow from the results, each with its command and, where it was run, its effect."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from jali.core.values import Channel
from jali.report import words
from jali.report.audit.verdicts import Harm, Verdict, best, contrast, explainers, of_100
from jali.results import Results, Row

MOST = 4
GAP = 0.05  # accuracy on training people minus accuracy on others from which on a model is said to remember them
GROUPING = ("k_anonymous", "mondrian")
MODELS = re.compile(r"models=(\d+)")


@dataclass(frozen=True)
class Option:
    """Something to do, what it achieved and cost where this audit measured it, and the command that tries it."""

    what: str
    measured: str = ""
    command: str = ""


def options(results: Results, verdicts: list[Verdict]) -> list[Option]:
    """At most four options, those against the worst harm first.

    >>> options(Results(), [])
    []
    """
    found: list[Option] = []
    for verdict in verdicts:
        if verdict.harm == Harm.CLAIM:
            found.append(_claim(verdict))
        if verdict.harm in (Harm.IDENTITY, Harm.ATTRIBUTES):
            found.append(_grouped(results, verdict))
    found += _fewer_details(results, verdicts)
    found += _less_memory(results)
    if any(verdict.harm == Harm.OPEN for verdict in verdicts):
        found += _larger(results)
    return found[:MOST]


def _claim(verdict: Verdict) -> Option:
    what = (
        f"Do not state the privacy claim of {verdict.explainer}: it is false. `jali verify` shows which claims stand."
    )
    return Option(what, command=f"jali verify {verdict.explainer.partition('(')[0]}")


def specification(results: Results, explainer: str) -> str:
    """The specification of an explanation, which rows call by its name where that is unique."""
    given = [str(text) for text in results.config.get("explain", [])]
    named = explainers(results)
    if explainer in given or explainer not in named or len(given) != len(named):
        return explainer
    return given[named.index(explainer)]


def _grouped(results: Results, verdict: Verdict) -> Option:
    """Answers that fit at least k people; their effect where one was audited beside the bare explanation."""
    inner = specification(results, verdict.explainer)
    what = f"Replace {verdict.explainer} by answers that each fit at least 10 people"
    for name in explainers(results):
        outer = specification(results, name)
        if outer.partition("(")[0] in GROUPING and f"({inner.removesuffix('()')}" in outer:
            return Option(f"{what}, as {name} does.", _effect(results, verdict.explainer, name))
    defended = f"k_anonymous({_called(inner)}, k=10)"
    return Option(f"{what}.", command=_again("explain", [inner, defended]))


def _called(inner: str) -> str:
    """A specification as it stands inside another one."""
    return inner if "(" in inner else f"{inner}()"


def _effect(results: Results, bare: str, defended: str) -> str:
    """What a defence achieved in this audit, and its price."""
    sides = [best(results, name, "reidentified") for name in (bare, defended)]
    parts = []
    if sides[0] is not None and sides[1] is not None:
        parts.append(f"{of_100(sides[1])} of 100 answers lead to the right person, not {of_100(sides[0])}")
    prices = (("withheld", "withheld"), ("validity", "valid"))
    for metric, word in prices:
        row = _measure(results, defended, metric)
        if row is not None and row.value is not None:
            parts.append(f"{_percent(row)} of its answers are {word}")
    return f"Measured here: {'; '.join(parts)}." if parts else ""


def _fewer_details(results: Results, verdicts: list[Verdict]) -> list[Option]:
    """Attributions add up to the score, so that somebody who is told the decision alone learns the score from them."""
    for verdict in verdicts:
        attribution = _measure(results, verdict.explainer, "validity") is None
        over = contrast(results, verdict.explainer, Channel.DECISION, "auc")
        if verdict.harm == Harm.MEMBERSHIP and attribution and _surely(over):
            inner = specification(results, verdict.explainer)
            return [
                Option(
                    f"Numbers such as those of {verdict.explainer} reveal much of the score. If people are told the "
                    "decision without the score, name the main reasons instead of their sizes.",
                    command=_again("explain", [inner, f"reason_codes({_called(inner)}, top=4)"]),
                )
            ]
    return []


def _surely(row: Row | None) -> bool:
    return row is not None and row.low is not None and row.low > 0


def _less_memory(results: Results) -> list[Option]:
    """A model that knows its training people much better than others gives them away with or without explanations."""
    seen, unseen = (_measure(results, "", name) for name in ("train_accuracy", "test_accuracy"))
    if seen is None or unseen is None or seen.value is None or unseen.value is None or seen.value - unseen.value < GAP:
        return []
    return [
        Option(
            f"The model remembers its training people: it is right for {_percent(seen)} of them and for "
            f"{_percent(unseen)} of others. One that fits less closely (stronger regularisation, larger leaves, fewer "
            "epochs) gives away less, also through its decisions."
        )
    ]


def _larger(results: Results) -> list[Option]:
    """An audit that was too small is repeated with twice as many models where the game says how many."""
    game = str(results.config.get("game", ""))
    many = MODELS.search(game)
    if many is None:
        return [Option("Repeat the audit with more people or more models: parts of it are too small to tell.")]
    larger = MODELS.sub(f"models={2 * int(many[1])}", game)
    return [
        Option(
            "Parts of this audit are too small to tell: repeat it with more models.", command=_again("game", [larger])
        )
    ]


def _again(option: str, values: list[str]) -> str:
    """The command that repeats this audit, in its folder, with other parts."""
    return "jali audit audit.toml " + " ".join(f"--{option} {shlex.quote(value)}" for value in values)


def _measure(results: Results, explainer: str, metric: str) -> Row | None:
    rows = results.find(kind="measure", explainer=explainer, metric=metric, group="")
    return rows[0] if rows else None


def _percent(row: Row) -> str:
    return f"{words.percent(row.value or 0.0, 0)}{words.THIN}%"
