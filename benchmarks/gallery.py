"""Six audits with their pictures, and what the commands that their reports suggest achieve: writes docs/gallery.md.

python benchmarks/gallery.py [--scale small] [--only NAME] [--runs FOLDER] [--out docs]. Everything is offline: Adult
and German come with the package, lending is generated. Each suggested command is run as it stands on the page, in the
folder of the audit, and both runs are compared (`jali compare`).
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import jali
from jali.report.audit.first_screen import screen
from jali.results import Results, read
from jali.results.comparison import Change

FOREST = 'sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=100, min_samples_leaf=3")'
ADULT = 'sample(without(adult, ["fnlwgt"]), n={n})'


@dataclass(frozen=True)
class Exhibit:
    """One audit of the gallery: its title, what it asks, and its options; {n} is the number of people."""

    title: str
    asks: str
    options: tuple[str, ...]
    people: int
    small: int = 200


GALLERY = {
    "adult-attributions": Exhibit(
        "A forest on Adult, explained by attributions",
        "An applicant is told the decision, and how much each column counted. Does that tell who was trained on?",
        ("--data", ADULT, "--model", FOREST, "--explain", "tree_paths"),
        1600,
    ),
    "german-attributions": Exhibit(
        "The same on German credit, with 1,000 people",
        "A small table: what does an attribution add?",
        ("--data", "german", "--model", FOREST, "--explain", "tree_paths"),
        1000,
    ),
    "lending-attributions": Exhibit(
        "A logistic model of a generated table with many categories",
        "The simplest model that banks deploy, explained by gradient times input.",
        ("--data", "lending(n={n})", "--model", "logistic(C=10.0)", "--explain", "input_x_gradient"),
        1600,
        small=300,
    ),
    "german-neighbours": Exhibit(
        "Counterfactuals on German credit that are real people",
        "The answer is the nearest training person with the outcome. Who is it?",
        ("--data", "german", "--model", FOREST, "--explain", "nice"),
        1000,
    ),
    "adult-neighbours": Exhibit(
        "Counterfactuals on Adult that are real people",
        "More people, fewer columns: are the people who are shown still found?",
        ("--data", ADULT, "--model", FOREST, "--explain", "nice"),
        1600,
    ),
    "false-claim": Exhibit(
        "A privacy claim that is false",
        "Recourse with Laplace noise on the score, as published, with a claim of differential privacy.",
        ("--data", "lending(n={n})", "--model", "logistic(C=10.0)", "--explain", "laplace_recourse(epsilon=1.0)"),
        1600,
    ),
}
GAME = "halves(targets=3, shadows=6)"
SMALL_GAME = "halves(targets=2, shadows=4)"
SUGGESTED = re.compile(r"^jali audit audit\.toml ")


@dataclass(frozen=True)
class Shown:
    """What one exhibit showed: its results, and the change that the suggested command made, if there was one.

    after: the results of the suggested command.
    """

    name: str
    results: Results
    command: str = ""
    change: Change | None = None
    after: Results | None = None


def run(words: list[str], folder: Path) -> None:
    """Run jali in a folder; an audit that is invalid is no exhibit."""
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "jali", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"jali {shlex.join(words)}: {done.stderr or done.stdout}")


def exhibited(name: str, runs: Path, small: bool, workers: int) -> Shown:
    """Run one audit, and the command that its report suggests against its worst harm."""
    exhibit = GALLERY[name]
    people = exhibit.small if small else exhibit.people
    options = [option.replace("{n}", str(people)) for option in exhibit.options]
    folder = runs / name
    common = ["--workers", str(workers)]
    if not (folder / "results.json").is_file():
        run(["audit", *options, "--game", SMALL_GAME if small else GAME, *common, "--out", "."], folder)
    results = read(folder / "results.json")
    commands = [o.command for o in screen(results).options if SUGGESTED.match(o.command)]
    if not commands:
        return Shown(name, results)
    after = folder / "suggested"
    if not (after / "results.json").is_file():
        run([*shlex.split(commands[0])[1:], *common, "--out", "suggested"], folder)
    changes = jali.compare(folder, after).results.changes
    return Shown(name, results, commands[0], harm(changes), read(after / "results.json"))


def harm(changes: list[Change]) -> Change | None:
    """The change that a suggestion is about: people named, or else membership beside the decision."""
    new = [c for c in changes if c.before_of and c.before_of != c.after_of and c.change is not None]
    named = [c for c in new if c.metric == "reidentified"]
    told = [c for c in new if c.metric == "auc" and c.channel is not None and c.channel.value == "decision+explanation"]
    return next(iter(named or told), None)


def effect(shown: Shown) -> str:
    """What the suggested command achieved, in words."""
    change = shown.change
    if change is None and shown.command:
        return "What it achieves was not measured."
    if change is None:
        return "The report suggests no command that changes the explanation."
    what = (
        "right person named, of everybody who had an answer,"
        if change.metric == "reidentified"
        else "AUC beside the decision"
    )
    how = "the same people on both sides" if change.paired else "as independent numbers"
    lowers = change.high is not None and change.high < 0
    said = "lowers the harm" if lowers else "does not lower the harm beyond chance"
    return (
        f"It {said}: {what} {change.before:.3f} before, {change.after:.3f} after (change {change.low:.3f} to "
        f"{change.high:.3f}, {how}).{price(shown)}"
    )


def price(shown: Shown) -> str:
    """What the report of the suggested audit says that it costs."""
    first = screen(shown.after).options if shown.after is not None else ()
    return next((f" {option.price}" for option in first if option.price), "")


def picture(name: str, runs: Path, out: Path) -> bool:
    """Draw the first screen of an exhibit's report, where there is a browser."""
    sys.path.insert(0, str(Path(__file__).parent))
    try:
        from report_picture import main as draw
    except ImportError:
        return False
    out.mkdir(parents=True, exist_ok=True)
    draw(runs / name, out / f"{name}.png", width=1280, height=800)
    return True


def page(shown: list[Shown], pictures: bool) -> str:
    """The gallery in Markdown."""
    lowered = sum(s.change is not None and s.change.high is not None and s.change.high < 0 for s in shown)
    with_command = sum(bool(s.command) for s in shown)
    parts = [
        "# Gallery\n\nSix audits, each with the first screen of its report. `python benchmarks/gallery.py` makes this "
        "page; everything in it runs offline.\n",
        f"Of {len(shown)} reports, {with_command} suggest a command that changes the explanation. Run as it stands, it "
        f"lowered the harm beyond chance in {lowered} of {with_command} cases. Where a report has tried a defence that "
        "does not lower what leaks, it says so and no longer suggests it. An answer that a defence withholds counts as "
        "one that names nobody ([why, and what another rule would give](decisions.md#what-a-defence-changes)).\n",
    ]
    for each in shown:
        exhibit = GALLERY[each.name]
        first = screen(each.results)
        command = shlex.join(["jali", "audit", *(o.replace("{n}", str(exhibit.people)) for o in exhibit.options)])
        much = " ".join(first.answers[1].sentences)
        parts.append(f"## {exhibit.title}\n\n{exhibit.asks}\n\n**{first.lead}** {much}\n")
        if pictures:
            parts.append(f"![First screen: {first.lead}](gallery/{each.name}.png)\n")
        parts.append(f"```\n{command} --game '{GAME}'\n```\n")
        if each.command:
            parts.append(f"Suggested:\n\n```\n{each.command}\n```\n\n{effect(each)}\n")
        else:
            parts.append(f"{effect(each)} {' '.join(o.what for o in first.options[:1])}\n")
    return "\n".join(parts)


def main() -> None:
    """Run, draw, write."""
    options = argparse.ArgumentParser()
    options.add_argument("--scale", choices=["full", "small"], default="full")
    options.add_argument("--only", nargs="+", choices=list(GALLERY), default=list(GALLERY))
    options.add_argument("--runs", type=Path, default=Path("gallery-runs"))
    options.add_argument("--out", type=Path, default=Path("docs"))
    options.add_argument("--workers", type=int, default=0)
    options.add_argument("--no-pictures", action="store_true")
    chosen = options.parse_args()
    shown = []
    for name in chosen.only:
        shown.append(exhibited(name, chosen.runs.absolute(), chosen.scale == "small", chosen.workers))
        print(f"{name}: {screen(shown[-1].results).lead} {effect(shown[-1])}", flush=True)
    pictures = not chosen.no_pictures and all(picture(s.name, chosen.runs, chosen.out / "gallery") for s in shown)
    (chosen.out / "gallery.md").write_text(page(shown, pictures), encoding="utf-8")


if __name__ == "__main__":
    main()
