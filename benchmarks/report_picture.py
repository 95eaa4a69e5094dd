"""The picture of the README, the first screen of a report: `report_picture.py jali-audit docs/report.png`.

Needs Playwright (extra `dev`) and a Chromium on the path.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


def main(run: Path, picture: Path, width: int = 1100, height: int = 775) -> None:
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        sys.exit("There is no Chromium on the path: install one, then run this again.")
    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=program, args=list(FLAGS))
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme="light")
        page.goto((run / "report.html").absolute().as_uri())
        page.screenshot(path=str(picture))
        browser.close()
    print(f"{picture}: {picture.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
