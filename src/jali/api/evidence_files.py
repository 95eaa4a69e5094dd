"""Attacks on evidence without any model, and the files of a run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jali.api.finishing import finished
from jali.api.own_model import NO_MODEL
from jali.api.result import Audit
from jali.audit import evidence
from jali.audit.one_model import digest
from jali.audit.outcome import Outcome, stamped
from jali.audit.plan import usual
from jali.audit.setup import Resources
from jali.audit.signal_attacks import attack_evidence
from jali.audit.summary import sizes
from jali.config import checked
from jali.core import registry
from jali.core.errors import JaliError
from jali.results import Results
from jali.store import MOST, Guarded, Store, state_of, together, user_secret, write_text

if TYPE_CHECKING:
    from jali.results.reproduction import Reproduction


def attack_file(
    path: Path,
    attack: Sequence[str] = (),
    seed: int = 0,
    resources: Resources = Resources(),  # noqa: B008 (frozen)
    raw: bool = False,
    low: Sequence[str] = (),
    most: float = MOST,
) -> Audit:
    """Attack evidence without any model; `most`: bytes of arrays that are read at most."""
    began = time.perf_counter()
    state = state_of(path)
    if resources.store is not None:
        resources = replace(resources, store=Guarded.by(resources.store, [path]))
    found, game, warnings = evidence.read(path, raw, low, most)
    checked({"seed": seed})
    # On raw scales a common variance is what published recipes use; elsewhere `pooled` is stronger.
    default = usual(game, ('lira(spread="common")',)) if raw else ()
    attacks = [registry.build("attack", a) for a in attack] or default
    attacked = attack_evidence(found, game, attacks, seed, resources.for_cells(found.value.size))
    key = registry.key("evidence", digest(found.value, found.observed, game.member), seed)
    if state_of(path) != state:
        raise JaliError(f"{path} was changed while it was attacked, so the numbers are of no file: run it again.")
    results = Results(
        rows=stamped(attacked.rows, key),
        controls=attacked.controls,
        curves=attacked.curves,
        exposed=attacked.exposed,
        sanity=attacked.checks,
        warnings=warnings,
        facts=sizes(game),
        timings={"attacks and statistics": time.perf_counter() - began},
    )
    return finished(Outcome(results, found, game), checked(NO_MODEL | {"attack": list(attack), "seed": seed}))


def as_released(path: Path, paper: str) -> Audit:
    """Attack evidence with the conventions released by a paper's authors, target by target."""
    from jali.reproduce import released

    outcome = released.attack(path, paper)
    return finished(outcome, checked(NO_MODEL | {"as_released": paper}))


def save_reproduction(found: Reproduction, out: Path) -> Path:
    """Write the page, its Markdown with figures, and all numbers into a folder; return the page's path.

    README.md in that folder compares all papers whose numbers lie there.
    """
    from jali.report.reproduction import index
    from jali.report.reproduction import page as reproduction
    from jali.reproduce import files as reproductions

    page = reproduction.page(found)
    files = reproduction.markdown(found)
    others = [kept for kept in reproductions.all_in(out) if kept.paper != found.paper]
    files["README.md"] = index.index([found, *others])
    with together():
        reproductions.save(found, out)
        for name, text in files.items():
            write_text(out / name, text)
        write_text(out / f"{found.paper}.html", page)
    return out / f"{found.paper}.html"


def store_in(out: Path, at: str = "") -> Store:
    """The store of a run: beside its results, or at a URL; a path is made absolute, because workers run elsewhere."""
    return Store(at if "://" in at else Path(at or out / "store").absolute(), user_secret())
