"""`jali.compare`: what changed between two audits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jali import __version__
from jali.api.answers import Answer
from jali.api.result import Audit
from jali.audit import comparison, evidence
from jali.core.errors import JaliError
from jali.results import read
from jali.results.comparison import Comparison

SETTINGS = ("data", "model", "game", "explain", "attack", "seed")


def compare(before: Audit | str | Path, after: Audit | str | Path, seed: int = 0) -> Answer[Comparison]:
    """What changed from one audit to another: membership, people named, and what the answers are worth.

    before, after: audits, or the folders in which they were saved. Where both are about the same data, the same people
    and the same training sets, membership is compared person by person and model by model, by attacking both audits'
    evidence again. Otherwise both numbers count as independent, and the page says why.
    """
    from jali.report import comparison as page

    one = _side(before)
    other = _side(after)
    why = comparison.why_not_paired(one, other)
    titles = [side.results.title or "an audit" for side in (one, other)]
    found = Comparison(
        jali=__version__,
        before=titles[0],
        after=titles[1],
        paired=not why,
        why=why,
        settings=_settings(one.results.config, other.results.config),
        changes=comparison.changes(one, other, seed),
    )
    if not any(change.change is not None for change in found.changes):
        raise JaliError("These audits have no number in common: compare audits of the same model or data.")
    return Answer(found, page.sheet)


def _settings(before: dict[str, Any], after: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The settings in which two audits differ, as texts."""
    said = {name: (_text(before.get(name)), _text(after.get(name))) for name in SETTINGS}
    return {name: pair for name, pair in said.items() if pair[0] != pair[1]}


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _side(given: Audit | str | Path) -> comparison.Side:
    """An audit from memory or from its folder."""
    if isinstance(given, Audit):
        return comparison.Side(given.results, given.evidence, given.game)
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise JaliError(f"{folder} is not a folder: give the folder of an audit, which holds results.json.")
    results = read(folder / "results.json")
    found, game, _ = evidence.read(folder / "evidence.npz")
    return comparison.Side(results, found, game)
