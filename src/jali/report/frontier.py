"""The page of a frontier: what was chosen, leakage against utility, and what fresh targets confirm."""

from __future__ import annotations

from collections.abc import Sequence

from jali.core.metrics import metric as metric_of
from jali.core.values import Channel
from jali.report import frontier_figures, words
from jali.report.frontier_figures import FIRST
from jali.report.sheet import Block, Drawing, Sheet
from jali.results.frontier import Choice, Dominance, Frontier, Leak, Number, Plane, Worth

EVERYBODY = "all"
CHANCE = 0.5
ENOUGH = 0.8  # share of claimed dominances from which on the page does not warn
MEASURES = {
    "accuracy": "accuracy",
    "answered": "answered",
    "valid": "valid",
    "cost": "cost",
    "plausibility": "plausibility",
    "fidelity": "fidelity",
    "agreement": "agreement",
    "deletion": "deletion",
    "insertion": "insertion",
    "imitation": "imitation",
}
PRICED = ("accuracy", "answered", "valid", "cost", "fidelity", "agreement", "imitation")
SAYS = (
    "accuracy: right decisions. answered: people without the favourable outcome who get an explanation. valid: "
    "explanations whose row the model gives the outcome. cost: distance from the record to that row (encoded features; "
    "less is better). fidelity: overlap of the columns that change with those of the unprotected explanation."
)


def sheet(found: Frontier) -> Sheet:
    """The page."""
    blocks = [_overview(found), _by_family(found), _groups(found), _dominances(found), _guarantees(found)]
    return Sheet(
        "Leakage against utility",
        _answer(found),
        _points(found),
        blocks,
        _notes(found),
        found.jali,
        [Drawing(title, figure) for _, title, figure in frontier_figures.figures(found)],
        frontier_figures.LEGEND,
    )


def leak_of(found: Frontier, name: str, family: tuple[str, Channel | None, str]) -> Leak | None:
    """What the attacks of a family reached on a configuration."""
    return next((k for k in found.leaks if (k.configuration, k.learns, k.channel, k.metric) == (name, *family)), None)


def worth_of(found: Frontier, name: str, measure: str, group: str = EVERYBODY) -> Worth | None:
    """A measure of a configuration."""
    key = (name, measure, group)
    return next((w for w in found.worth if (w.configuration, w.measure, w.group) == key), None)


def held(claimed: Sequence[Dominance]) -> tuple[int, int]:
    """How many of the dominances that can be checked hold on fresh targets, and how many can be checked."""
    known = [d.holds for d in claimed if d.holds is not None]
    return sum(known), len(known)


def _answer(found: Frontier) -> str:
    plain = found.configurations[0].name
    chosen = found.choice.configuration
    before = _with_interval(_fresh(leak_of(found, plain, FIRST)))
    many = len(found.configurations)
    if chosen:
        after = _with_interval(_fresh(leak_of(found, chosen, FIRST)))
        return (
            f"{chosen} was chosen of {many} configurations. On {found.fresh_targets} fresh target models the attacks "
            f"tried reach an AUC of {after} from decision and explanation; unprotected ({plain}), {before}."
        )
    if other := found.choice.instead:
        after = _with_interval(_fresh(leak_of(found, other, FIRST)))
        return (
            f"None of {many} configurations surely leaks less at so small a loss. Of those that do, {other} loses "
            f"least: on {found.fresh_targets} fresh target models an AUC of {after} from decision and explanation; "
            f"unprotected ({plain}), {before}."
        )
    return f"None of {many} configurations surely leaks less than {plain} (AUC {before} from decision and explanation)."


def _points(found: Frontier) -> list[str]:
    out = []
    plain = found.configurations[0].name
    if chosen := found.choice.configuration or found.choice.instead:
        kept = [m for m in PRICED if worth_of(found, chosen, m) and worth_of(found, plain, m)]
        said = [_beside(found, chosen, plain, m) for m in kept]
        out.append(f"Its price on fresh targets, unprotected in brackets: {'; '.join(said)}.")
        out.append(_confirmed(found.choice))
    out.append(f"The rule, applied on {found.validation_targets} other target models: {found.choice.rule}.")
    return [*out, _checked(found)]


def _checked(found: Frontier) -> str:
    """How many of the dominances that were claimed hold on fresh targets."""
    claimed = found.claimed()
    if not claimed:
        return "On the validation targets no configuration surely beats another, for any kind of leakage or measure."
    hold, known = held(claimed)
    share = hold / len(claimed)
    return (
        f"On the validation targets one configuration surely beats another {len(claimed)} times, over all kinds of "
        f"leakage and measures. On the fresh targets {hold} of these hold ({words.whole_percent(share)}), "
        f"{known - hold} do not, and {len(claimed) - known} cannot be checked."
    ) + ("" if share >= ENOUGH else " Do not rely on these dominances: too few hold.")


def _confirmed(choice: Choice) -> str:
    """Whether the fresh targets confirm that the choice leaks less."""
    saved = choice.saved
    if saved is None or saved.low is None:
        return "Whether it leaks less could not be measured on the fresh targets."
    told = f"{_with_interval(saved)} of AUC, for the same targets and people"
    if saved.low > 0:
        return f"On the fresh targets it leaks less by {told}."
    return f"The fresh targets do not confirm that it leaks less: the difference is {told}."


def _beside(found: Frontier, chosen: str, plain: str, measure: str) -> str:
    mine = worth_of(found, chosen, measure)
    other = worth_of(found, plain, measure)
    return f"{MEASURES[measure]} {_short(_fresh(mine))} ({_short(_fresh(other))})"


def _notes(found: Frontier) -> list[str]:
    out = []
    first = leak_of(found, found.configurations[0].name, FIRST)
    low = None if first is None else first.fresh.low
    if low is None:
        out.append(
            f"What attacks reach on {found.configurations[0].name} could not be measured here (too few people get an "
            "explanation, or too few models), so nothing can be said to leak less than it."
        )
    elif low <= CHANCE:
        out.append(
            "Even without protection the attacks tried cannot be told from guessing here, so leakage cannot rank these "
            "configurations: use more people or target models, or a model that remembers more."
        )
    spent = found.selection
    out.append(
        f"What choosing costs: {spent.models:,} models were trained on these people before the choice, and all numbers "
        "are computed from their rows without noise. No epsilon covers this page or the choice. The name of the chosen "
        f"configuration alone can say {spent.bits:.1f} bits about them."
    )
    if spent.private:
        delta = f", delta = {spent.delta:.2g}" if spent.delta else ""
        out.append(
            f"The models of the {spent.private} configurations whose claim of differential privacy holds add up to "
            f"epsilon = {spent.epsilon:g}{delta} by basic composition, if they are released; delete them. Choosing on "
            "people who will not be trained on costs the others nothing."
        )
    out.append(
        "Numbers are about the attacks tried, on these people and models like these. Intervals (95 %) are over target "
        "models and people; leakage is compared by their upper end. The attack of each kind was chosen on the "
        "validation targets, and the fresh targets share no model with them."
    )
    return [*out, *found.notes]


def _overview(found: Frontier) -> Block:
    """One line per configuration: leakage first, then what it is worth."""
    measures = [m for m in PRICED if any(w.measure == m for w in found.worth)]
    mine = [p for p in found.planes if (p.learns, p.channel, p.metric) == FIRST]
    rows = []
    for number, c in enumerate(found.configurations, 1):
        leak = leak_of(found, c.name, FIRST)
        cells = [_with_interval(_fresh(worth_of(found, c.name, m))) for m in measures]
        rows.append([f"{number}  {c.name}", _with_interval(_fresh(leak)), *cells, _status(c.name, mine)])
    heads = ["configuration", "AUC, decision + explanation", *(MEASURES[m] for m in measures), "on the front of"]
    return Block("Configurations", heads, rows, SAYS)


def _status(name: str, planes: Sequence[Plane]) -> str:
    on = [MEASURES[p.measure] for p in planes if name in p.front]
    beaten = sum(any(d.worse == name for d in p.dominances) for p in planes)
    if on:
        return words.listed(on)
    return f"none; surely beaten for {beaten} of {len(planes)} measures" if beaten else "none, but never surely beaten"


def _by_family(found: Frontier) -> Block:
    """Leakage by kind of attack, with the upper end of the interval."""
    families = list(dict.fromkeys((k.learns, k.channel, k.metric) for k in found.leaks))
    families = [f for f in families if any(_known(leak_of(found, c.name, f)) for c in found.configurations)]
    rows = []
    for c in found.configurations:
        cells = [_with_interval(_fresh(leak_of(found, c.name, f))) for f in families]
        rows.append([c.name, *cells])
    caption = (
        "Each cell has the attack of its kind that reached most on the validation targets. Persons and private values: "
        "linkage by somebody who knows the quasi-identifiers of the training people and asks as an outsider; share of "
        "the answers from which the right person is named, and share of that person's other values learnt beyond what "
        "can be guessed. – : not measurable with these people."
    )
    return Block("Leakage by kind of attack", ["configuration", *map(_family_name, families)], rows, caption)


def _known(leak: Leak | None) -> bool:
    return leak is not None and leak.fresh.value is not None


def _family_name(family: tuple[str, Channel | None, str]) -> str:
    learns, channel, metric = family
    if channel is None:
        return {"identity": "right person named", "attributes": "private values learnt"}.get(learns, learns)
    return f"{channel.label}, {metric_of(metric).title}"


def _groups(found: Frontier) -> Block:
    """The price by sensitive group."""
    groups = [g for g in dict.fromkeys(w.group for w in found.worth) if g != EVERYBODY]
    measures = [m for m in PRICED if any(w.measure == m for w in found.worth)]
    rows = []
    for c in found.configurations if groups else ():
        for group in groups:
            some = [worth_of(found, c.name, m, group) for m in measures]
            if any(w is not None and w.fresh.value is not None for w in some):
                people = max((w.n for w in some if w is not None), default=0)
                rows.append([c.name, group, f"{people:,}", *(_with_interval(_fresh(w)) for w in some)])
    heads = ["configuration", "group", "people", *(MEASURES[m] for m in measures)]
    return Block("Price by sensitive group", heads, rows, "On the fresh targets.")


def _dominances(found: Frontier) -> Block:
    """Who surely beats whom, for the first kind of leakage, and what the fresh targets say."""
    rows = []
    for plane in found.planes:
        if (plane.learns, plane.channel, plane.metric) != FIRST:
            continue
        for d in plane.dominances:
            holds = "–" if d.holds is None else ("yes" if d.holds else "no")
            cells = [MEASURES[plane.measure], _with_interval(d.fresh_leak), _with_interval(d.fresh_use), holds]
            rows.append([f"{d.better} over {d.worse}", *cells])
    heads = ["surely better on the validation targets", "measure", "AUC saved, fresh", "measure gained, fresh", "holds"]
    return Block(
        "Dominances",
        heads,
        rows,
        "Less leakage from decision and explanation, and worth no less, by the whole of both 95 % intervals. It holds "
        "if both numbers point the same way on the fresh targets. Each is one of many comparisons.",
    )


def _guarantees(found: Frontier) -> Block:
    rows = []
    for c in found.configurations:
        if c.guarantee:
            rows.append([c.name, f"VOID: {c.void}" if c.void else c.guarantee])
    return Block("Stated guarantees", ["configuration", "differential privacy in the training rows"], rows)


def _fresh(row: Leak | Worth | None) -> Number | None:
    return None if row is None else row.fresh


def _with_interval(n: Number | None) -> str:
    if n is None or n.value is None:
        return "–"
    if n.low is None or n.high is None:
        return words.number(n.value)
    return f"{words.number(n.value)} ({words.number(n.low)} to {words.number(n.high)})"


def _short(n: Number | None) -> str:
    return "–" if n is None or n.value is None else words.number(n.value)
