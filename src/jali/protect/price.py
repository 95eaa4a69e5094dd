"""What protection costs the people who ask: measured on a population, beside the unprotected explanation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jali.anonymity.region_search import needed
from jali.audit.faithfulness import faithfulness, rank_correlation
from jali.audit.quality import Neighbourhood, cost, sparsity, validity
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual, Explanation, Surrogate
from jali.core.protocols import Model
from jali.core.values import Bools, Dataset, Floats
from jali.protect.wording import kept_immutable
from jali.stats.intervals import average, clopper_pearson
from jali.text.rules import hits

if TYPE_CHECKING:
    import pandas as pd

    from jali.protect.explainer import ProtectedExplainer

EVERYBODY = "all"
RATES = ("answered", "withheld", "valid", "imitation", "accuracy")
MEANS = {
    "answered": "share of the people without the favourable outcome who get an explanation",
    "withheld": "share of them who get none",
    "valid": "share of the explanations whose row the model gives the outcome",
    "cost": "distance (l2, encoded features) from the record to the explanation's row",
    "columns": "share of the columns that change",
    "plausibility": "distance of the row to the 5 nearest people of the population with that outcome",
    "fidelity": "overlap (Jaccard) of the columns that change with those of the unprotected explanation",
    "agreement": "rank correlation with the unprotected attributions",
    "deletion": "mean probability of the outcome as the columns are replaced, largest attribution first; low is good",
    "insertion": "mean probability of the outcome as they are put into a typical row, largest first; high is good",
    "imitation": "share of the people for whom the surrogate decides like the model",
    "accuracy": "share of the population that the model decides correctly",
    "seconds": "processor time per person",
}


class Line(NamedTuple):
    """One measure of one group; plain: of the unprotected explanation, None where there is none to compare with."""

    measure: str
    group: str
    value: float
    low: float
    high: float
    n: int
    plain: float | None = None


@dataclass(frozen=True)
class Price:
    """The measures as lines, for everybody and for each sensitive group."""

    lines: tuple[Line, ...]

    def find(self, measure: str, group: str = "all") -> Line:
        """One line."""
        found = [line for line in self.lines if (line.measure, line.group) == (measure, group)]
        if not found:
            known = sorted({line.measure for line in self.lines})
            raise JaliError(f"There is no measure {measure!r} of {group!r}; there are {', '.join(known)}.")
        return found[0]

    def to_frame(self) -> pd.DataFrame:
        """One line per measure and group, with a 95 % interval over people."""
        import pandas as pd

        return pd.DataFrame([line._asdict() | {"means": MEANS[line.measure]} for line in self.lines])

    def __str__(self) -> str:
        out = []
        for line in self.lines:
            beside = "" if line.plain is None else f", unprotected {line.plain:.3g}"
            spread = f"{line.value:.3g} ({line.low:.3g} to {line.high:.3g}{beside}; n = {line.n})"
            out.append(f"{line.measure:<13}{line.group:<18}{spread}")
        return "\n".join(out)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


class Measured(NamedTuple):
    """A measure of people: values (n,), where it is defined (n,), and the same without protection where it is known."""

    value: Floats
    defined: Bools
    plain: Floats | None = None
    plain_defined: Bools | None = None


def priced(explainer: ProtectedExplainer, people: Dataset) -> Price:
    """The price of protection for a population that the model was not trained on."""
    if explainer.claim is not None:
        raise JaliError(
            "Every answer of this method is paid for from the budget, also those that would only be measured: make "
            "another explainer with a budget of its own for that, and use `audit`."
        )
    began = time.process_time()
    found = explainer.explanation(people.X)
    spent = (time.process_time() - began) / len(people)
    measured = measures(explainer.model, people, found, _unprotected(explainer, people), explainer.original)
    lines = [line for group, who in groups_of(people) for line in _lines(measured, group, who)]
    lines.append(Line("seconds", "all", spent, spent, spent, len(people)))
    return Price(tuple(lines))


def measures(
    model: Model, people: Dataset, found: Explanation, plain: Explanation | None = None, original: Model | None = None
) -> dict[str, Measured]:
    """All measures of the explanations of people, by name, beside those of the unprotected ones.

    plain: the unprotected explanations, None where there are none to compare with. original: the model that they are
    about, where it is another.
    """
    before = original or model
    if isinstance(found, Attribution):
        out = _of_attributions(model, people, found, plain if isinstance(plain, Attribution) else None)
    elif isinstance(found, Counterfactual):
        kept = kept_immutable(people.X, found.public(), people.schema)
        out = _of_recourse(model, people, kept, plain if isinstance(plain, Counterfactual) else None, before)
    else:
        out = _of_surrogate(model, people, found, plain if isinstance(plain, Surrogate) else None)
    return out | {"accuracy": _accuracy(model, people, original)}


def _of_recourse(
    model: Model, people: Dataset, given: Counterfactual, plain: Counterfactual | None, before: Model
) -> dict[str, Measured]:
    hoped = people.schema.favourable
    asks = model.logits(people.X).argmax(axis=1) != (-1 if hoped is None else hoped)
    mine = _recourse(model, people, given)
    if plain is None:
        theirs: dict[str, Floats] = {}
        both = np.zeros(len(people), dtype=bool)
    else:
        theirs = _recourse(before, people, plain)
        both = given.found & plain.found
    got = given.found
    told = None if plain is None else plain.found
    out = {
        "answered": Measured(got.astype(np.float64), asks, *_beside(told, asks)),
        "withheld": Measured((~got).astype(np.float64), asks, *_beside(None if told is None else ~told, asks)),
    }
    for name, value in mine.items():
        out[name] = Measured(value, got, theirs.get(name), told)
    if plain is not None:
        ours = needed(people.X, given.shown(people.schema))
        other = needed(people.X, plain.shown(people.schema))
        union = (ours | other).sum(axis=1)
        out["fidelity"] = Measured((ours & other).sum(axis=1) / np.maximum(union, 1), both)
    return out


def _beside(value: Bools | None, defined: Bools) -> tuple[Floats | None, Bools | None]:
    return (None, None) if value is None else (value.astype(np.float64), defined)


def _recourse(model: Model, people: Dataset, given: Counterfactual) -> dict[str, Floats]:
    """Validity, cost, share of columns and plausibility (n,); meaningful where an explanation was found."""
    schema = people.schema
    after = model.logits(given.rows).argmax(axis=1)
    # Plausible is what resembles the population with that outcome: training rows are not needed to measure it.
    near = Neighbourhood(Dataset(people.X, model.logits(people.X).argmax(axis=1), schema))
    close = np.zeros(len(people))
    at = np.flatnonzero(given.found & np.isin(after, list(near.rows)))
    close[at] = near.distance(given.rows[at], after[at])
    return {
        "valid": validity(model, people.X, given, schema),
        "cost": cost(people.X, given, schema, "l2"),
        "columns": sparsity(people.X, given, schema),
        "plausibility": close,
    }


def _unprotected(explainer: ProtectedExplainer, people: Dataset) -> Explanation | None:
    """The unprotected explanation of the model that the user has, where the training rows are at hand."""
    if explainer.train is None:
        return None
    part = explainer.method.unprotected()
    model = explainer.original or explainer.model
    rng = np.random.default_rng(0)
    train = explainer.train if part.reads_training_data else None
    return part.prepare(model, people.schema, train, rng).explain(people.X, rng)


def _of_attributions(
    model: Model, people: Dataset, given: Attribution, plain: Attribution | None
) -> dict[str, Measured]:
    everybody = np.ones(len(people), dtype=bool)
    mine = faithfulness(model, people, given)
    theirs: dict[str, Floats] = {}
    out: dict[str, Measured] = {}
    if plain is not None:
        theirs = faithfulness(model, people, plain)
        out["agreement"] = Measured(rank_correlation(given.value, plain.value), everybody)
    for name, value in mine.items():
        out[name] = Measured(value, everybody, theirs.get(name), everybody if theirs else None)
    return out


def _of_surrogate(model: Model, people: Dataset, given: Surrogate, plain: Surrogate | None) -> dict[str, Measured]:
    """How often the surrogate decides like the model, beside the one that is not protected."""
    everybody = np.ones(len(people), dtype=bool)
    right = hits(given, model, people.X).astype(np.float64)
    if plain is None:
        return {"imitation": Measured(right, everybody)}
    before = hits(plain, model, people.X).astype(np.float64)
    return {"imitation": Measured(right, everybody, before, everybody)}


def _accuracy(model: Model, people: Dataset, original: Model | None) -> Measured:
    right = (model.logits(people.X).argmax(axis=1) == people.y) * 1.0
    everybody = np.ones(len(people), dtype=bool)
    if original is None:
        return Measured(right, everybody)
    before = (original.logits(people.X).argmax(axis=1) == people.y) * 1.0
    return Measured(right, everybody, before, everybody)


def groups_of(people: Dataset) -> Iterator[tuple[str, Bools]]:
    """Everybody, and the people of each category of the sensitive column."""
    yield EVERYBODY, np.ones(len(people), dtype=bool)
    name = people.schema.sensitive
    if name is not None:
        column = people.schema.columns[people.schema.index(name)]
        for code, category in enumerate(column.categories):
            yield f"{name}={category}", people.X[:, people.schema.index(name)] == code


def _lines(measured: dict[str, Any], group: str, who: Bools) -> Iterator[Line]:
    for name, found in measured.items():
        some = found.value[found.defined & who]
        if not len(some):
            continue
        plain = None
        if found.plain is not None and (found.plain_defined & who).any():
            plain = float(found.plain[found.plain_defined & who].mean())
        if name in RATES:
            low, high = clopper_pearson(float(some.sum()), len(some))
        else:
            each = average(some, np.zeros(len(some), dtype=np.int64), np.arange(len(some)))
            low, high = float(each.low or 0.0), float(each.high or 0.0)
        yield Line(name, group, float(some.mean()), float(low), float(high), len(some), plain)
