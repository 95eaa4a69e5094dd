"""`jali forget`: remove what a run kept about people."""

from __future__ import annotations

import json
from pathlib import Path

from jali import terminal
from jali.api.evidence_files import store_in
from jali.core import files
from jali.core.errors import JaliError
from jali.results import SCHEMA, read
from jali.store import BEGAN, remove, together, write_text

ABOUT_PEOPLE = ("evidence.npz", "ranking.csv")
RESULTS = "results.json"
STORE = "store"


def forget(run: str | Path) -> list[Path]:
    """Remove what a run kept about single people; return what was removed or written again without them.

    Evidence, rankings and the store beside them go. The report stays, without row numbers and without values of
    anybody. A store that was kept elsewhere, and copies, are not found.
    """
    folder = Path(run).expanduser()
    if not folder.is_dir():
        raise JaliError(f"{folder} is not a folder: give the folder that a run wrote to.")
    inside = sorted({file.parent for file in folder.rglob(RESULTS) if _is_ours(file)})
    if not inside:
        raise JaliError(f"{folder} holds no results of jali, so nothing in it was touched.")
    gone: list[Path] = []
    with terminal.locked(folder):
        for place in dict.fromkeys([folder, *inside]):
            gone += _forgotten(place)
    return gone


def _is_ours(file: Path) -> bool:
    """Whether a file is one of the results that jali writes."""
    return _schema(file).startswith("jali.")


def _schema(file: Path) -> str:
    """The schema that a file of results names; empty where it is none."""
    try:
        given = json.loads(files.content(file))
    except (OSError, ValueError, RecursionError):
        return ""
    return str(given.get("schema_version", "")) if isinstance(given, dict) else ""


def _forgotten(place: Path) -> list[Path]:
    gone = []
    for name in ABOUT_PEOPLE:
        path = place / name
        if path.is_file():
            path.unlink()
            gone.append(path)
    store = place / STORE
    if store.is_dir() and not store.is_symlink():
        remove(store_in(place).entries())
        (store / BEGAN).unlink(missing_ok=True)
        _without_empty_folders(store)
        gone.append(store)
    return gone + _reported_again(place)


def _without_empty_folders(folder: Path) -> None:
    """Remove a folder where nothing is left in it; what is not ours stays."""
    for inner in folder.iterdir():
        if inner.is_dir() and not inner.is_symlink():
            _without_empty_folders(inner)
    if not any(folder.iterdir()):
        folder.rmdir()


def _reported_again(place: Path) -> list[Path]:
    """Write results and report of an audit again without exposed records and examples, where it has some."""
    file = place / RESULTS
    if _schema(file) != SCHEMA:
        return []
    results = read(file)
    if not results.exposed and not results.examples:
        return []
    from jali.report.audit import html
    from jali.report.received import drawing
    from jali.report.words import as_json

    bare = results.model_copy(update={"exposed": [], "examples": {}})
    with drawing(file):
        page = html.render(bare)
    with together():
        write_text(file, as_json(bare))
        write_text(place / "report.html", page)
    return [file, place / "report.html"]
