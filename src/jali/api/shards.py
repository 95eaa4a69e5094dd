"""An audit in parts that need nothing of each other but a store, for batch systems (SLURM arrays, Kubernetes jobs)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from jali.api.audits import from_config, loaded
from jali.api.result import Audit
from jali.api.running import stages
from jali.audit import all_models
from jali.audit.setup import Resources, Setup
from jali.config import Config, read
from jali.core.errors import JaliError
from jali.store import write_text

CONFIGURATION = "audit.toml"
SHARDS = "shards.toml"  # the settings of all shards; audit.toml is that of the last audit in the folder


@dataclass(frozen=True)
class Shard:
    """One of several equal parts of an audit; they count from 1.

    >>> Shard.parse("2/7")
    Shard(part=2, of=7)
    """

    part: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """The shard that a text names, such as 2/7."""
        found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
        if not found or not 1 <= int(found[1]) <= int(found[2]):
            raise JaliError(f"--shard takes a part and the number of parts, from 1/7 to 7/7, not {text!r}.")
        return cls(int(found[1]), int(found[2]))


@dataclass(frozen=True)
class Done:
    """What a shard has done: models of its part, and how many of them were not in the store before."""

    models: int
    new: int


def run_shard(
    config: Config,
    resources: Resources,
    shard: Shard,
    out: Path,
    trust: bool | Collection[str] = False,
    setup: Setup | None = None,
) -> Done:
    """Train, explain and query the models of one part of an audit; the store keeps the results.

    The configuration goes to the folder, so that `merge` needs nothing else. setup: what `loaded` returned for it,
    where it was loaded before.
    """
    _check_settings(config, out)
    models = 0
    new = 0
    for stage in _setups(config, trust, setup):
        some, made = all_models.shard(stage, resources, shard.part, shard.of)
        models += some
        new += made
    _check_settings(config, out)
    write_text(out / SHARDS, config.toml(out))
    write_text(out / CONFIGURATION, config.toml(out))
    return Done(models, new)


def _check_settings(config: Config, out: Path) -> None:
    """Refuse a folder in which another shard had other settings: `merge` would take those of the last one."""
    there = out / SHARDS
    if there.is_file() and read(there).toml(out) != config.toml(out):
        raise JaliError(
            f"{there} has other settings than this shard: give all shards of an audit the same ones, and another audit "
            "another folder."
        )


def merge(out: Path, resources: Resources, trust: bool | Collection[str] = False) -> Audit:
    """Finish an audit whose shards are all done: attack their evidence and document it."""
    if not (out / CONFIGURATION).is_file():
        raise JaliError(f"There is no {CONFIGURATION} in {out}: give the folder that the shards wrote to.")
    config = read(out / SHARDS if (out / SHARDS).is_file() else out / CONFIGURATION)
    left = [all_models.missing(setup, resources) for setup in _setups(config, trust)]
    if many := sum(map(len, left)):
        first = next(numbers[0] for numbers in left if numbers)
        raise JaliError(
            f"{many} models are not in the store, the first of them model {first}, counted from 0: run the shards that "
            "are missing, or `jali audit` with this folder's audit.toml, which does what is left."
        )
    return from_config(config, resources, trust=trust)


def _setups(config: Config, trust: bool | Collection[str], setup: Setup | None = None) -> list[Setup]:
    """The setups whose models an audit trains."""
    if config.evidence:
        raise JaliError("Evidence that was gathered already has no models to train: attack it without --shard.")
    return stages(setup or loaded(config, trust), named=bool(config.attack))
