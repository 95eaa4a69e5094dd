"""Reports of every kind in a real browser: `make pages`, or report_pages.py [--axe axe.min.js] [--runs FOLDER].

Makes the audits that are not in the folder yet, then opens each page and prints: violations that axe-core finds (wide
and narrow, light and dark), size of the file, printed pages, and whether the five answers end within 1280 x 800. With
--pictures, first screens are drawn too: wide, narrow, dark and the first printed page. Exits with 1 if a page is over
budget. Needs Playwright (extra `dev`) and a Chromium on the path; axe-core comes with benchmarks/peers/axe.txt.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
FOREST = 'sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=50, min_samples_leaf=3")'
GAME = "halves(targets=2, shadows=4)"
WIDE, NARROW = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
KB = 400
PAPER = {"default": 8}  # printed pages
MUCH_PAPER = 12  # of the others
REPORTS = {
    "default": (),
    "linkage before and after": (
        *("--data", "german", "--model", FOREST, "--game", GAME),
        *("--explain", "nice", "--explain", "k_anonymous(nice(), k=10)"),
    ),
    "false claim": (
        *("--data", "lending(n=800)", "--model", "logistic(C=10.0)", "--game", GAME),
        *("--explain", "laplace_recourse(epsilon=1.0)"),
    ),
    "four explainers": (
        *("--data", "lending(n=800)", "--model", "logistic(C=10.0)", "--game", GAME),
        *("--explain", "input_x_gradient", "--explain", "linear_recourse", "--explain", "nice", "--explain", "lime"),
    ),
    "images": (
        *("--data", "digits", "--model", "mlp(hidden=[32])", "--game", GAME),
        *("--explain", "saliency", "--show-values"),
    ),
    "300 rows": (
        *("--data", "sample(german, n=300)", "--model", "logistic"),
        *("--explain", "linear_recourse", "--explain", "input_x_gradient"),
    ),
    "query attacks alone": (
        *("--data", "lending(n=600)", "--model", FOREST, "--explain", "none"),
        *("--attack", "shokri_mia", "--attack", "label_only(perturbations=50)"),
    ),
}


@dataclass(frozen=True)
class Looked:
    """What was seen of one page."""

    violations: list[str]
    kilobytes: float
    pages: int
    answers: int
    ends: float
    paper: int

    def good(self) -> bool:
        """Whether the page keeps to what is promised of every page."""
        small = self.kilobytes <= KB and self.pages <= self.paper
        return not self.violations and small and self.answers == 5 and self.ends <= WIDE["height"]


def made(name: str, runs: Path, workers: int) -> Path:
    """The page of one audit, made now if it is not there."""
    folder = runs / name.replace(" ", "-")
    if not (folder / "report.html").is_file():
        words = ["audit", *REPORTS[name], "--workers", str(workers), "--out", str(folder)]
        done = subprocess.run([sys.executable, "-m", "jali", *words], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr or done.stdout}")
    return folder / "report.html"


def violations(browser: Any, file: Path, axe: str) -> list[str]:
    """What axe-core finds, on two widths and in two colour schemes, with where."""
    out = []
    for size in (WIDE, NARROW) if axe else ():
        for scheme in ("light", "dark"):
            surroundings = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
            page = surroundings.new_page()
            page.goto(file.absolute().as_uri())
            page.evaluate(axe)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            out += [f"{v['id']} at {v['nodes'][0]['target']} ({size['width']}, {scheme})" for v in found["violations"]]
            surroundings.close()
    return out


def looked(browser: Any, file: Path, axe: str, paper: int) -> Looked:
    """Open a page as a reader does, and print it."""
    page = browser.new_page(viewport=WIDE)
    page.goto(file.absolute().as_uri())
    box = page.locator("dl.five").bounding_box()
    printed = page.pdf(format="A4")
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", printed))
    answers = sum(bool(text.strip()) for text in page.locator("dl.five dd").all_inner_texts())
    page.close()
    ends = box["y"] + box["height"]
    return Looked(violations(browser, file, axe), file.stat().st_size / 1000, pages, answers, ends, paper)


def drawn(browser: Any, file: Path, out: Path, name: str) -> None:
    """First screens, and the whole page as it is printed."""
    out.mkdir(parents=True, exist_ok=True)
    for kind, size, scheme in (("wide", WIDE, "light"), ("narrow", NARROW, "light"), ("dark", WIDE, "dark")):
        page = browser.new_page(viewport=size, color_scheme=scheme)
        page.goto(file.absolute().as_uri())
        page.screenshot(path=str(out / f"{name}-{kind}.png"))
        if kind == "wide":
            page.pdf(format="A4", path=str(out / f"{name}.pdf"))
        page.close()


def main() -> int:
    """Make, open, print; 1 if a page is over budget."""
    from playwright.sync_api import sync_playwright

    options = argparse.ArgumentParser()
    options.add_argument("--axe", type=Path)
    options.add_argument("--runs", type=Path, default=Path("report-runs"))
    options.add_argument("--pictures", type=Path)
    options.add_argument("--only", nargs="+", choices=list(REPORTS), default=list(REPORTS))
    options.add_argument("--workers", type=int, default=0)
    chosen = options.parse_args()
    axe = chosen.axe.read_text(encoding="utf-8") if chosen.axe else ""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    files = {name: made(name, chosen.runs, chosen.workers) for name in chosen.only}
    over = 0
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=program, args=list(FLAGS))
        for name, file in files.items():
            seen = looked(browser, file, axe, PAPER.get(name, MUCH_PAPER))
            over += not seen.good()
            found = "; ".join(seen.violations) or ("0 violations" if axe else "axe-core was not given")
            print(
                f"{name}: {found}, {seen.kilobytes:.0f} kB, {seen.pages} printed pages, {seen.answers} answers, the "
                f"last ends at {seen.ends:.0f} px" + ("" if seen.good() else "  OVER BUDGET"),
                flush=True,
            )
            if chosen.pictures:
                drawn(browser, file, chosen.pictures, name.replace(" ", "-"))
        browser.close()
    return min(over, 1)


if __name__ == "__main__":
    sys.exit(main())
