"""Where training rows lie, as a short page: numbers and places, never values."""

from __future__ import annotations

from jali.report import words
from jali.report.sheet import Block, Sheet
from jali.results.scan import Place, Scan

SHOWN = 40  # places in the table


def sheet(found: Scan) -> Sheet:
    """The page of a scan."""
    return Sheet("Scan for training rows", answer(found), points(found), blocks(found), notes(found), found.jali)


def answer(found: Scan) -> str:
    """The answer in one sentence."""
    looked = f"{found.tables:,} tables in " + (f"{found.files:,} files" if found.files else found.what)
    leaks = found.leaks
    if not leaks:
        if not found.tables:
            return f"There was no table to compare in {found.what}: nothing can be said about training rows in it."
        if doubt := sum(place.rows for place in found.places if place.open):
            return (
                f"{doubt:,} rows equal training rows, too few to tell from chance: give rows of other people (others)."
            )
        return f"No more training rows than chance explains were found ({looked})."
    where = f"at {len(leaks)} places" if len(leaks) > 1 else f"in {leaks[0].where}"
    return f"{found.people:,} of {found.train:,} training rows were found {where}."


def points(found: Scan) -> list[str]:
    """One sentence for each of the first places, with the fix."""
    out = []
    for place in found.leaks[:3]:
        what = f" ({place.what})" if place.what else ""
        out.append(f"{place.where}{what}: {_rows(place)}. {place.fix}")
    few = [c for c in found.counts if c.small]
    if few:
        total = sum(c.small for c in few)
        fix = next((c.fix for c in few if c.fix), "")
        out.append(f"{total:,} counts of one to four people, most of them in {few[0].where}. {fix}".rstrip())
    return out


def blocks(found: Scan) -> list[Block]:
    """Places, small counts, and what was not read."""
    heads = ["place", "rows there", "training rows", "all columns but one", "by chance", "columns", "form", "verdict"]
    rows = [
        [
            _named(p.where, p.library),
            f"{p.of:,}",
            f"{p.rows:,}",
            f"{p.nearly:,}",
            words.number(p.chance),
            f"{p.columns}",
            p.form,
            _verdict(p),
        ]
        for p in found.places[:SHOWN]
    ]
    caption = f"Expected by chance: from {found.null} that equal a training row in the same columns."
    if len(found.places) > SHOWN:
        caption += f" {len(found.places) - SHOWN} more places are in results.json."
    small = [[_named(c.where, c.library), f"{c.counts:,}", f"{c.small:,}"] for c in found.counts if c.small][:SHOWN]
    skipped = [[name, why] for name, why in found.skipped.items()][:SHOWN]
    return [
        Block("Rows that equal training rows", heads, rows, caption),
        Block("Counts of people", ["place", "counts", "of one to four people"], small),
        Block("What was not read", ["file", "why"], skipped),
    ]


def notes(found: Scan) -> list[str]:
    """Limits of the search."""
    return [
        *found.notes,
        "Rows are found as they are, rounded, standardised, scaled to 0-1, coded or one-hot, columns in any order; "
        "other transformations, weights of networks and pictures are not searched.",
    ]


def _verdict(place: Place) -> str:
    if place.leak:
        return "training rows"
    return "cannot be told from chance" if place.open else "chance"


def _rows(place: Place) -> str:
    exact = f"{place.rows:,} of {place.of:,} rows are training rows"
    if place.nearly:
        exact += f", and {place.nearly:,} are but for one column"
    return f"{exact} (by chance {words.number(place.chance)})"


def _named(where: str, library: str) -> str:
    return f"{where} [{library}]" if library and library not in where else where
