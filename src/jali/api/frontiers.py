"""`jali.frontier`: many defences side by side, leakage against utility."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jali import __version__
from jali.api.answers import Answer
from jali.api.audits import experiment_of
from jali.api.own_model import given_model
from jali.api.parts import part_of, several, text_of
from jali.api.protection import own_tables
from jali.audit.setup import Experiment, Resources
from jali.config import Config
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.protocols import Existing, Trainer
from jali.protect.frontier.choice import LOSS
from jali.protect.frontier.study import compare
from jali.results.frontier import Frontier

if TYPE_CHECKING:
    import pandas as pd

GAME = "rotate(models=16)"


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Answer[Frontier]):
    """A frontier with its page; `to_frame` has one line per configuration and number."""

    def printed(self) -> Any:
        """The page for a terminal, with its first table; the others are in the report."""
        from jali.report import sheet

        page = self.page(self.results)
        return sheet.printed(replace(page, blocks=page.blocks[:1]))

    def to_frame(self) -> pd.DataFrame:
        """Leakage and utility of each configuration on the fresh targets, with 95 % intervals."""
        import pandas as pd

        lines = []
        for leak in self.results.leaks:
            what = " ".join(filter(None, [leak.learns, leak.channel, leak.metric]))
            lines.append(_line(leak.configuration, "leakage", what, "all", leak.fresh.model_dump()))
        for worth in self.results.worth:
            lines.append(_line(worth.configuration, "utility", worth.measure, worth.group, worth.fresh.model_dump()))
        return pd.DataFrame(lines)


def _line(configuration: str, kind: str, what: str, group: str, number: dict[str, Any]) -> dict[str, Any]:
    kept = {name: number[name] for name in ("value", "low", "high", "reason")}
    return {"configuration": configuration, "kind": kind, "what": what, "group": group} | kept


def frontier(
    model: Any = "logistic",
    train: tuple[Any, Any] | None = None,
    *,
    defend: Sequence[Any],
    explain: Sequence[Any] = ('nice("sparsity")',),
    data: Any = None,
    game: Any = GAME,
    loss: float = LOSS,
    favourable: Any = None,
    quasi: Sequence[str] = (),
    immutable: Sequence[str] = (),
    bounds: Mapping[str, Any] | None = None,
    sensitive: str = "",
    groups: str = "",
    schema: str | Mapping[str, Any] = "",
    seed: int = 0,
    resources: Resources | None = None,
) -> Compared:
    """Compare defences: what attacks reach on each of them, and what each is worth to people who ask.

    model: your fitted model, of which clones are trained on halves of `train`, or a trainer by name with `data`, a data
    set by name. defend: defences by specification, with alternatives such as "k_groups(k=5|10|20)". explain: what you
    show today; the first is what fidelity compares with. game: drawn twice, with no model in common: attacks and
    configurations are chosen on the targets of the first draw and reported on those of the second. loss: how much of
    accuracy, answers and validity the configuration that is chosen may lose. The rest is as for `jali.protect`.
    """
    named = several("defend", defend)
    parts = tuple(part_of("explain", part) for part in several("explain", explain))
    trainer: Trainer
    if train is None:
        if data is None:
            raise JaliError('Give train=(X, y), or a data set by name, such as data="german".')
        source, trainer = part_of("data", data), part_of("model", model)
    else:
        own = own_tables(train, None, favourable, quasi, immutable, bounds, groups, sensitive, schema)
        source = own.tables()
        trainer = part_of("model", model) if isinstance(model, str) else _cloned(given_model(model, own, source))
    experiment = Experiment(source, trainer, part_of("game", game), explain=parts, seed=seed)
    settings = {"defend": [text_of(d) for d in named], "explain": [text_of(e) for e in parts], "game": text_of(game)}
    chosen = (resources or Resources()) if train is None else (resources or Resources()).unstored()
    about = {"data": "tables of your own"} if train is not None else {"data": text_of(source)}
    called = "" if isinstance(model, str) else type(model).__name__
    about |= {"title": f"{about['data']}, {called or model}", "called": called}
    return _answered(experiment, settings["defend"], chosen, loss, settings | about | {"seed": seed})


def frontier_of(
    config: Config, resources: Resources, loss: float = LOSS, trust: bool | Collection[str] = False
) -> Compared:
    """The frontier that a configuration describes; modules are imported only from settings that are trusted."""
    config.vet(trust)
    if config.evidence:
        raise JaliError("A frontier trains models: give a configuration with data and a model, not with evidence.")
    if not config.defend:
        raise JaliError(
            'There is nothing to compare: name defences in the file, such as defend = ["k_groups(k=5|10|20)", '
            '"dp_logistic(epsilon=1|4, bound=2)"], or with --defend.'
        )
    experiment = experiment_of(config)
    about = {"title": config.title(), "called": ""}
    return _answered(experiment, config.defend, resources, loss, config.model_dump() | about)


def _answered(
    experiment: Experiment, defend: Sequence[str], resources: Resources, loss: float, config: dict[str, Any]
) -> Compared:
    if not 0 <= loss <= 1:
        raise JaliError(f"loss is a share from 0 to 1, not {loss}.")
    resources.begin()
    found = compare(experiment, defend, resources, loss, config["called"])
    found.title = config["title"]
    found.jali = __version__
    found.date = datetime.now(UTC).date().isoformat()
    found.config = config
    return _shown(found)


def _shown(found: Frontier) -> Compared:
    """Results with their page and figures."""
    from jali.report import frontier as page
    from jali.report import frontier_figures

    return Compared(found, page.sheet, frontier_figures.files(found))


def _cloned(given: Any) -> Trainer:
    """How models like the user's are trained on other rows."""
    if not isinstance(given, Existing):
        raise JaliError(f"{registry.name_of(given)} cannot be trained again: give a trainer by name.")
    return given.unfitted()


def read_frontier(folder: str | Path) -> Compared:
    """A frontier that was saved."""
    from jali.results.frontier import read

    path = Path(folder)
    return _shown(read(path / "results.json" if path.is_dir() else path))
