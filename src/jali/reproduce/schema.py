"""A paper's experiments and its claims about them, as TOML: one file per paper, read here and nowhere else."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, FiniteFloat, NonNegativeInt, ValidationError

from jali.core import files
from jali.core.errors import JaliError
from jali.core.untrusted import vet
from jali.reproduce.as_released import with_released
from jali.reproduce.grids import expanded
from jali.reproduce.schema_figures import Bars, Comparison, CriticalDifference, Figure, Strict, TradeOff
from jali.results.reproduction import Item
from jali.text import toml

Scale = Literal["smoke", "standard", "paper"]
SCALES: tuple[Scale, ...] = get_args(Scale)
# Whose the cause of a deviation is, then which: a set-up that nobody knows, an error of the authors, or our own doing.
CAUSES = ("set-up unknown", "their error", "ours")
Differs = Annotated[str, Field(pattern=rf"^$|^({'|'.join(CAUSES)}): \S")]
CHANCE = "chance"
NOTHING = "nothing"
MODEL = "model"
OF_SEVERAL = ("count", "mean")  # kinds of sentences about several places at once
RANKED = ("rank", "alike")  # kinds of sentences about the methods of a diagram, not about places


class Method(Strict):
    """One attack on one signal or several, of an explanation or of the prediction; or a query attack.

    `among` names an explainer: only records that it answered under the target are scored. A query attack queries the
    explainer, or without one the model, with some `knowledge`. With an explainer alone, its answers are measured and
    nothing is attacked. `against` names another method of the study: metrics that begin with Δ are differences from
    it.
    """

    signal: str | list[str] = ""
    attack: str = ""
    explain: str = ""
    among: str = ""
    query_attack: str = ""
    knowledge: str = ""
    against: str = ""

    def model_post_init(self, _: Any) -> None:
        """Refuse an incomplete attack."""
        if bool(self.signal) != bool(self.attack) or bool(self.query_attack) != bool(self.knowledge):
            raise JaliError("A method has a signal and an attack, or a query attack and its knowledge.")
        if self.query_attack and self.attack:
            raise JaliError("A method is an attack on a signal or a query attack, not both.")
        if not (self.attack or self.query_attack or self.explain):
            raise JaliError("A method needs an attack, a query attack or an explainer to measure.")

    @property
    def signals(self) -> list[str]:
        """The signals it reads; none for a query attack or a measurement."""
        return self.signal if isinstance(self.signal, list) else [self.signal] if self.signal else []


class Setup(Strict):
    """One experiment: the parts, the methods by name, and what other scales change.

    smaller: what even --scale paper has less of than the paper, and why; empty where it has the paper's sizes.

    Or `scores`, a file of evidence among the data that other people's models produced: its methods then name the
    file's signals, and `raw` keeps these on their own scale. faithful: of how many records the faithfulness of
    attributions is measured, under each of six models; 0: of none.
    """

    about: str = ""
    data: str = ""
    model: str = ""
    game: str = ""
    scores: str = ""
    raw: bool = False
    methods: list[str]
    seed: NonNegativeInt = 0
    faithful: NonNegativeInt = 0
    scales: list[Scale] = Field(default_factory=lambda: list(SCALES))
    smaller: str = ""
    smoke: dict[str, str] = Field(default_factory=dict)
    paper: dict[str, str] = Field(default_factory=dict)

    def parts(self) -> dict[str, str]:
        """What it is made of, by kind, as a page tells it."""
        told = {"about": self.about, "data": self.data, "model": self.model, "game": self.game, "scores": self.scores}
        return {kind: text for kind, text in told.items() if text}

    def at(self, scale: Scale) -> Setup:
        """The setup with what a scale changes; `standard` is the file as it stands."""
        return Setup(**self.model_dump() | {"smoke": self.smoke, "paper": self.paper}.get(scale, {}))

    def model_post_init(self, _: Any) -> None:
        """Refuse a study without its parts, and a change to what scales cannot change."""
        named = [bool(part) for part in (self.data, self.model, self.game)]
        if any(named) if self.scores else not all(named):
            raise JaliError("A study names data, model and game, or the file of scores it reads instead of them.")
        for key in (*self.smoke, *self.paper):
            if key not in ("data", "model", "game"):
                raise JaliError(f"A scale changes data, model or game of a study, not {key!r}.")


class Table(Strict):
    """Published numbers: study -> method (or `model`) -> metric -> number, judged from `scale` upwards.

    bound: metrics for which the number is an upper ("most") or lower ("least") bound. same: they were computed from the
    same models as ours, so there is no sampling error and only the values are compared. rows, columns: what the paper
    calls a study, method or metric in the rows and columns of the table. released: ours are made as released by the
    authors, and stand beside those of another table with the same rows and columns. differs: why a
    deviation is expected; causes: the same for a metric, for the metric of a study (`study: metric`) or for one number
    (`study / method: metric`), where the nearest counts.
    """

    source: str
    published: dict[str, dict[str, dict[str, FiniteFloat]]]
    tolerance: dict[str, Annotated[FiniteFloat, Field(ge=0)]]
    bound: dict[str, Literal["most", "least"]] = Field(default_factory=dict)
    same: bool = False
    scale: Scale = "standard"
    note: str = ""
    rows: dict[str, str] = Field(default_factory=dict)
    columns: dict[str, str] = Field(default_factory=dict)
    released: bool = False
    differs: Differs = ""
    causes: dict[str, Differs] = Field(default_factory=dict)

    def model_post_init(self, _: Any) -> None:
        """Refuse a published number without a tolerance, and a cause of nothing that was published."""
        known: set[str] = set()
        for study, methods in self.published.items():
            for method, numbers in methods.items():
                if missing := set(numbers) - set(self.tolerance):
                    raise JaliError(f"{self.source}: {min(missing)} needs a tolerance.")
                known.update(name for metric in numbers for name in _names(f"{study} / {method}", metric))
        if unknown := set(self.causes) - known:
            raise JaliError(f"{self.source} has a cause for {min(unknown)!r}, of which it has no number.")

    def cause(self, text: str, metric: str) -> str:
        """Why the number of a metric at a place may deviate: the cause that is nearest to it."""
        return next((self.causes[name] for name in _names(text, metric) if name in self.causes), self.differs)


def _names(text: str, metric: str) -> tuple[str, str, str]:
    """What a number can be called where its cause is given, nearest first."""
    return f"{text}: {metric}", f"{place(text)[0]}: {metric}", metric


class Sentence(Strict):
    """A sentence about numbers. A place is `study / method`, `study / method @ group`, `chance`, or `nothing`: 0.

    order: `metric` is higher at `more` than at `less` (either may be chance).
    test: the same by a two-sample t test over target models, as papers report it; it ignores that targets are paired.
    same: it differs by at most `tolerance` between the two.
    count: at least `published` of the places `among` lie above chance.
    mean: over the places `among`, `metric` differs from `published` by at most `tolerance` on average.
    growth: the difference of more and less is larger than that of `more_before` and `less_before`.
    rank: of the methods of the critical-difference diagram `diagram`, `more` has the better average rank than `less`.
    alike: no two methods of that diagram differ significantly, by Nemenyi's test.
    by: the query attack, by name, whose metric is compared, where it is not the method's own.
    weak: why the sentence could not fail here, whatever is true; it is then marked, and counted apart.
    """

    says: str
    source: str
    kind: Literal["order", "test", "same", "count", "mean", "growth", "rank", "alike"] = "order"
    metric: str
    by: str = ""
    more: str = ""
    less: str = CHANCE
    more_before: str = ""
    less_before: str = ""
    diagram: str = ""
    among: list[str] = Field(default_factory=list)
    published: FiniteFloat | None = None
    tolerance: Annotated[FiniteFloat, Field(ge=0)] = 0.0
    scale: Scale = "standard"
    note: str = ""
    differs: Differs = ""
    weak: str = ""

    def model_post_init(self, _: Any) -> None:
        """Refuse a sentence without the places that it compares."""
        if self.kind in OF_SEVERAL and (not self.among or self.published is None):
            raise JaliError(
                f"{self.says!r} is about several places: it needs `among`, a list of them, and `published`, a number."
            )
        if self.kind not in (*OF_SEVERAL, "alike") and not (self.more and self.less):
            raise JaliError(f"{self.says!r} compares: it needs `more` and `less`, each a place or chance.")
        if (self.kind == "growth") != bool(self.more_before and self.less_before):
            raise JaliError(
                f"{self.says!r}: growth, and growth alone, needs `more_before` and `less_before`, two places."
            )
        if (self.kind in RANKED) != bool(self.diagram):
            raise JaliError(f"{self.says!r}: sentences about ranks, and these alone, name a `diagram`.")
        if self.kind == "test" and {CHANCE, NOTHING} & {self.more, self.less}:
            raise JaliError(f"{self.says!r} tests two samples: `more` and `less` are both places.")

    def places(self) -> list[str]:
        """The places it compares, without chance and nothing; none for ranks, whose diagram has them."""
        if self.kind in RANKED:
            return []
        both = (self.more, self.less, self.more_before, self.less_before)
        return [p for p in (*self.among, *both) if p not in ("", CHANCE, NOTHING)]


class Paper(Strict):
    """The contents of a paper's file."""

    title: str
    citation: str
    note: str = ""
    contents: list[Item] = Field(default_factory=list)
    methods: dict[str, Method]
    studies: dict[str, Setup]
    tables: list[Table] = Field(default_factory=list)
    sentences: list[Sentence] = Field(default_factory=list)
    figures: list[Figure] = Field(default_factory=list)
    comparisons: list[Comparison] = Field(default_factory=list)
    trade_offs: list[TradeOff] = Field(default_factory=list)
    critical_differences: list[CriticalDifference] = Field(default_factory=list)
    bars: list[Bars] = Field(default_factory=list)

    def model_post_init(self, _: Any) -> None:
        """Refuse a file that names a study, a method or a diagram it does not define."""
        for sentence in (s for s in self.sentences if s.kind in RANKED):
            self.diagram(sentence)
        for study, method in self._mentioned():
            if study not in self.studies:
                raise JaliError(f"There is no study {study!r}; there are {', '.join(self.studies)}.")
            known = [*self.studies[study].methods, MODEL]
            if method not in known:
                raise JaliError(f"Study {study!r} has no method {method!r}; it has {', '.join(known)}.")
            if method != MODEL and method not in self.methods:
                raise JaliError(f"There is no method {method!r}; there are {', '.join(self.methods)}.")

    def diagram(self, sentence: Sentence) -> CriticalDifference:
        """The diagram that a sentence about ranks is about."""
        named = (sentence.diagram, sentence.metric)
        found = next((d for d in self.critical_differences if (d.figure, d.metric) == named), None)
        if found is None:
            raise JaliError(
                f"{sentence.says!r} is about ranks by {named[1]} in {named[0]!r}, and there is no such diagram."
            )
        labels = (sentence.more, sentence.less) if sentence.kind == "rank" else ()
        if unknown := [label for label in labels if label not in found.methods]:
            raise JaliError(f"{named[0]!r} does not rank {unknown[0]!r}; it ranks {', '.join(found.methods)}.")
        return found

    def specifications(self) -> Iterator[tuple[str, str]]:
        """Every specification of a part, at every scale, and its kind."""
        for setup in self.studies.values():
            own = {"data": setup.data, "model": setup.model, "game": setup.game}
            for settings in (own, setup.smoke, setup.paper):
                yield from settings.items()
        for method in self.methods.values():
            yield from (("signal", signal) for signal in method.signals)
            yield from (("explain", text) for text in (method.explain, method.among))
            yield from (
                ("attack", method.attack),
                ("query_attack", method.query_attack),
                ("knowledge", method.knowledge),
            )

    def _mentioned(self) -> Iterator[tuple[str, str]]:
        for name, setup in self.studies.items():
            yield from ((name, method) for method in setup.methods)
            beside = (self.methods[method].against for method in setup.methods if method in self.methods)
            yield from ((name, method) for method in beside if method)
        for table in self.tables:
            yield from ((study, method) for study, numbers in table.published.items() for method in numbers)
        for sentence in self.sentences:
            yield from map(place, sentence.places())
        for figure in self.figures:
            yield from ((study, method) for study in figure.panels for method in figure.methods)
        for comparison in self.comparisons:
            yield from (place(text) for lines in comparison.panels.values() for text in lines.values())
        for diagram in self.critical_differences:
            yield from (place(text) for places in diagram.methods.values() for text in places)
        for lines in (plot.lines for plot in self.trade_offs):
            yield from (place(text) for points in lines.values() for text in points.values())
        for lines in (chart.lines for chart in self.bars):
            yield from (place(text) for points in lines.values() for text in points.values())


def place(text: str) -> tuple[str, str]:
    """Study and method of a place.

    >>> place("heloc / CFD on scfe"), place("adult / CF-K @ sex = Female")
    (('heloc', 'CFD on scfe'), ('adult', 'CF-K'))
    """
    study, _, method = text.partition(" @ ")[0].partition(" / ")
    return study.strip(), method.strip()


def group(text: str) -> str:
    """The subgroup that a place is restricted to, empty for everybody.

    >>> group("adult / CF-K @ sex = Female")
    'sex = Female'
    """
    return text.partition(" @ ")[2].strip()


def papers() -> tuple[str, ...]:
    """The papers that can be reproduced.

    >>> "pawelczyk2022" in papers()
    True
    """
    folder = resources.files("jali.reproduce.papers")
    return tuple(sorted(f.name.removesuffix(".toml") for f in folder.iterdir() if f.name.endswith(".toml")))


def read(name: str, trust: bool = False) -> Paper:
    """A paper by name, or a file that ends in .toml; such a file names modules to import only where it is trusted."""
    if name.endswith(".toml"):
        paper = _parsed(name, Path(name))
        for setting, text in () if trust else paper.specifications():
            vet(name, setting, text)
        return paper
    if name not in papers():
        near = difflib.get_close_matches(name, papers(), n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise JaliError(f"There is no paper {name!r}{hint} There are {', '.join(papers())}, or give a .toml file.")
    return _parsed(name, resources.files("jali.reproduce.papers") / f"{name}.toml")


def _inherited(studies: dict[str, Any]) -> dict[str, Any]:
    """Studies with the settings inherited from the one they are `like`, which must come before them.

    >>> _inherited({"a": {"data": "x", "seed": 1}, "b": {"like": "a", "seed": 2}})["b"]
    {'data': 'x', 'seed': 2}
    """
    out: dict[str, Any] = {}
    if not isinstance(studies, dict) or not all(isinstance(own, dict) for own in studies.values()):
        raise JaliError("studies must be tables: write [studies.name] and its settings below.")
    for name, own in studies.items():
        like = own.get("like")
        if like is not None and (not isinstance(like, str) or like not in out):
            raise JaliError(f"Study {name!r} is like {like!r}, which does not stand above it: define that one first.")
        base = out[like] if like is not None else {}
        both = {**base, **own}
        for scale in ("smoke", "paper"):
            if isinstance(base.get(scale), dict) and isinstance(own.get(scale), dict):
                both[scale] = {**base[scale], **own[scale]}
        out[name] = {k: v for k, v in both.items() if k != "like"}
    return out


def _parsed(name: str, file: Any) -> Paper:
    try:
        text = files.content(file).decode("utf-8") if isinstance(file, Path) else file.read_text(encoding="utf-8")
        tables = expanded(toml.parsed(text))
        twice = {"tables": with_released(tables["tables"])} if "tables" in tables else {}
        return Paper(**tables | twice | {"studies": _inherited(tables.get("studies", {}))})
    except OSError as error:
        raise JaliError(f"Cannot read {name}: {error.strerror}.") from None
    except JaliError as error:
        raise JaliError(f"{name}: {error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        raise JaliError(f"{name}: {f'{where}: ' if where else ''}{first['msg'].rstrip('.')}.") from None
    except (ValueError, RecursionError) as error:  # not UTF-8, not TOML, or nested too deeply
        raise JaliError(f"{name} is not valid TOML: {error}.") from None
