"""What you can do: options that follow from the results, each with its command and, where it was run, its effect."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Channel
from jali.report import words
from jali.report.audit.findings import Harm
from jali.report.audit.membership import contrast
from jali.report.audit.verdicts import Verdict, best, explainers, of_100
from jali.results import Results, Row

MOST = 4
GAP = 0.05  # accuracy on training people minus accuracy on others from which on a model is said to remember them
GROUPING = ("k_anonymous", "mondrian", "k_groups")
REASONS = "reason_codes"
MODELS = re.compile(r"models=(\d+)")


@runtime_checkable
class Grouping(Protocol):
    """A defence whose answers fit k people."""

    inner: Any
    k: int


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
            found += _grouped(results, verdict)
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


def _part(text: str) -> Any:
    """The explainer that a specification names; None where it is none of ours."""
    try:
        return registry.build("explain", text, modules=())
    except JaliError:
        return None


def _grouped(results: Results, verdict: Verdict) -> list[Option]:
    """Answers that fit at least k people; their effect where one was audited beside the bare explanation."""
    inner = results.specification(verdict.explainer)
    part = _part(inner) if inner else None
    if part is None:
        return [Option(f"Replace {verdict.explainer}: its answers lead to people. `jali.protect` gives others.")]
    if registry.name_of(part) in GROUPING:
        return [Option(f"Let each answer of {verdict.explainer} fit more people: raise its k.")]
    for name in explainers(results):
        outer = _part(results.specification(name))
        if isinstance(outer, Grouping) and registry.spec(outer.inner) == registry.spec(part):
            what = f"Replace {verdict.explainer} by {name}: the quasi-identifiers of each answer fit {outer.k} people."
            return [Option(what, _effect(results, verdict.explainer, name))]
    what = f"Replace {verdict.explainer} by answers whose quasi-identifiers fit at least 10 people each."
    return [_tried(results, what, [inner, f"k_anonymous({_called(inner)}, k=10)"])]


def _tried(results: Results, what: str, explain: list[str]) -> Option:
    """An option with the command that tries it; a model of one's own has no command."""
    if results.config.get("evidence"):
        listed = ", ".join(f'"{text}"' if '"' not in text else f"'{text}'" for text in explain)
        return Option(f"{what} To try it, call jali.audit again with explain=[{listed}].")
    return Option(what, command=_again("explain", explain))


def _called(inner: str) -> str:
    """A specification as it stands inside another one."""
    return inner if "(" in inner else f"{inner}()"


def _effect(results: Results, bare: str, defended: str) -> str:
    """What a defence achieved in this audit by the same attack, and its price."""
    before = best(results, bare, "reidentified")
    about = {"kind": "query attack", "metric": "reidentified", "explainer": defended, "group": "", "target": None}
    parts = []
    if before is not None:
        same = results.find(attack=before.attack, knowledge=before.knowledge, **about)
        if same and same[0].value is not None:
            parts.append(f"{of_100(same[0])} of 100 answers lead to the right person, not {of_100(before)}")
    prices = (("withheld", "withheld"), ("validity", "valid"))
    for metric, word in prices:
        row = _measure(results, defended, metric)
        if row is not None and row.value is not None:
            parts.append(f"{_percent(row)} of its answers are {word}")
    return f"Measured here: {'; '.join(parts)}." if parts else ""


def _fewer_details(results: Results, verdicts: list[Verdict]) -> list[Option]:
    """Attributions add up to the score, so that somebody who is told the decision alone learns the score from them."""
    for verdict in verdicts:
        inner = results.specification(verdict.explainer)
        part = _part(inner) if inner else None
        plain = part is not None and part.gives == "attribution" and registry.name_of(part) != REASONS
        over = contrast(results, verdict.explainer, Channel.DECISION, "auc")
        if verdict.harm == Harm.MEMBERSHIP and plain and _surely(over):
            what = (
                f"Numbers such as those of {verdict.explainer} reveal much of the score. If people are told the "
                "decision without the score, name the main reasons instead of their sizes."
            )
            return [_tried(results, what, [inner, f"{REASONS}({_called(inner)}, top=4)"])]
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
    if many is None or results.config.get("evidence"):
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
