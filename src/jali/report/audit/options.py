"""What you can do: options that follow from the results, each with its guarantee, its command, and where it was run,
its effect and its price.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jali.audit.wrapped import part_of
from jali.core import registry
from jali.core.values import Channel
from jali.report import words
from jali.report.audit import before_after
from jali.report.audit.findings import Harm
from jali.report.audit.membership import contrast
from jali.report.audit.verdicts import Verdict, best, shows_rows
from jali.results import Results, Row

MOST = 4
GAP = 0.05  # accuracy on training people minus accuracy on others from which on a model is said to remember them
GROUPING = ("k_anonymous", "mondrian", "k_groups")
REASONS = "reason_codes"
NO_GUARANTEE = "It shows less and has no guarantee."
MODELS = re.compile(r"models=(\d+)")


@dataclass(frozen=True)
class Option:
    """Something to do, what holds then whatever the attack, and the command that tries it.

    effect, price: what this audit measured of it; empty where it was not tried.
    """

    what: str
    guarantee: str = ""
    effect: str = ""
    price: str = ""
    command: str = ""

    @property
    def said(self) -> str:
        """Everything but the command, in sentences."""
        return " ".join(filter(None, [self.what, self.guarantee, self.effect, self.price]))


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
    found += _not_named(results, verdicts)
    found += _fewer_details(results, verdicts)
    found += _less_memory(results)
    if any(verdict.harm == Harm.OPEN for verdict in verdicts):
        found += _larger(results)
    return found[:MOST]


def _claim(verdict: Verdict) -> Option:
    what = f"Do not state the privacy claim of {verdict.explainer}: it is false, as jali verify shows."
    price = "Dropping the claim changes no answer."
    return Option(what, price=price, command=f"jali verify {verdict.explainer.partition('(')[0]}")


def _grouped(results: Results, verdict: Verdict) -> list[Option]:
    """Answers that fit at least k people; their effect where one was audited beside the bare explanation."""
    inner = results.specification(verdict.explainer)
    part = part_of(results, verdict.explainer)
    if part is None:
        return [Option(f"Replace {verdict.explainer}: its answers lead to people. jali.protect gives others.")]
    if registry.name_of(part) in GROUPING:
        return [Option(f"Let each answer of {verdict.explainer} fit more people: raise its k.")]
    for name, outer in before_after.defended_by(results, verdict.explainer):
        if registry.name_of(outer) in GROUPING:
            return [_done(results, verdict.explainer, name, _fits(outer.k))]
    what = f"Replace {verdict.explainer} by answers that fit at least 10 people each."
    return [_tried(results, Option(what, _fits(10)), [inner, f"k_anonymous({_called(inner)}, k=10)"])]


def _fits(k: int) -> str:
    return (
        f"Guarantee: {k} or more training people share the quasi-identifiers of each answer; "
        "its other columns are not covered."
    )


def _done(results: Results, bare: str, defended: str, guarantee: str) -> Option:
    """An option that this audit has tried: what it achieved, and its price; advised only where it lowers the harm."""
    pair = before_after.pair(results, bare, defended)
    effect = _told("Measured here", [c for c in pair.changes if c.harm][:1])
    if not pair.lowers:
        return Option(f"{defended} was tried beside {bare} and does not clearly lower what leaks.", effect=effect)
    price = _told("Price", [c for c in pair.changes if not c.harm])
    return Option(f"Replace {bare} by {defended}.", guarantee, effect, price)


def _told(what: str, changes: Sequence[before_after.Change]) -> str:
    said = "; ".join(change.told for change in changes)
    return f"{what}: {said}." if said else ""


def _tried(results: Results, option: Option, explain: list[str]) -> Option:
    """An option with the command that tries it; a model of one's own has no command."""
    if results.config.get("evidence"):
        listed = ", ".join(f'"{text}"' if '"' not in text else f"'{text}'" for text in explain)
        return replace(option, what=f"{option.what} To try it, call jali.audit again with explain=[{listed}].")
    return replace(option, command=_again("explain", explain))


def _called(inner: str) -> str:
    """A specification as it stands inside another one."""
    return inner if "(" in inner else f"{inner}()"


def _not_named(results: Results, verdicts: list[Verdict]) -> list[Option]:
    """Rows of people are shown, and no column says by what people could be found."""
    shown = [v.explainer for v in verdicts if shows_rows(results, v.explainer)]
    if not shown or any(best(results, name, "reidentified") is not None for name in shown):
        return []
    show = "shows" if len(shown) == 1 else "show"
    what = (
        f"{words.listed(shown)} {show} rows of real people, and no attack tried to name them. Mark "
        "the columns that others know too (--quasi), such as age or postcode, and audit again."
    )
    return [Option(what)]


def _fewer_details(results: Results, verdicts: list[Verdict]) -> list[Option]:
    """Attributions add up to the score, so that somebody who is told the decision alone learns the score from them."""
    for verdict in verdicts:
        inner = results.specification(verdict.explainer)
        part = part_of(results, verdict.explainer)
        plain = part is not None and part.gives == "attribution" and registry.name_of(part) != REASONS
        over = contrast(results, verdict.explainer, Channel.DECISION, "auc")
        if verdict.harm != Harm.MEMBERSHIP or not plain or not _surely(over):
            continue
        for name, outer in before_after.defended_by(results, verdict.explainer):
            if registry.name_of(outer) == REASONS:
                return [_done(results, verdict.explainer, name, f"It names the main reasons. {NO_GUARANTEE}")]
        what = f"Name the main reasons instead of the numbers of {verdict.explainer}, which reveal much of the score."
        return [_tried(results, Option(what, NO_GUARANTEE), [inner, f"{REASONS}({_called(inner)}, top=4)"])]
    return []


def _surely(row: Row | None) -> bool:
    return row is not None and row.low is not None and row.low > 0


def _less_memory(results: Results) -> list[Option]:
    """A model that knows its training people much better than others gives them away with or without explanations."""
    seen, unseen = (before_after.measured(results, "", name) for name in ("train_accuracy", "test_accuracy"))
    if seen is None or unseen is None or seen.value is None or unseen.value is None or seen.value - unseen.value < GAP:
        return []
    return [
        Option(
            f"The model remembers its training people: it is right for {before_after.amount(seen)} of them and for "
            f"{before_after.amount(unseen)} of others. One that fits less closely (stronger regularisation, larger "
            "leaves, fewer epochs) gives away less, also through its decisions."
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
