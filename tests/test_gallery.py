"""The script that makes the gallery, at a small scale: one audit, the command that it suggests, and the page."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "gallery.py"


def test_an_exhibit_runs_its_suggestion_as_it_stands_on_the_page(tmp_path, monkeypatch):
    gallery = runpy.run_path(str(SCRIPT))
    words = ["--scale", "small", "--only", "lending-attributions", "--workers", "1", "--no-pictures"]
    monkeypatch.setattr(sys, "argv", ["gallery.py", *words, "--runs", str(tmp_path / "runs"), "--out", str(tmp_path)])
    gallery["main"]()
    page = (tmp_path / "gallery.md").read_text(encoding="utf-8")
    command = "jali audit audit.toml --explain input_x_gradient --explain 'reason_codes(input_x_gradient(), top=4)'"
    assert command in page
    assert "AUC beside the decision" in page
    assert (tmp_path / "runs" / "lending-attributions" / "suggested" / "results.json").is_file()


def test_there_are_six_audits_in_the_gallery_and_on_its_page():
    gallery = runpy.run_path(str(SCRIPT))["GALLERY"]
    assert len(gallery) == 6
    text = (SCRIPT.parents[1] / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert [name for name, exhibit in gallery.items() if f"## {exhibit.title}" not in text] == []
