"""Reproductions as files: compact, the same again when read, and older ones still read."""

from __future__ import annotations

import gzip
import json

import pytest

from jali.core.errors import JaliError
from jali.reproduce import files
from jali.results import Check, Curve, Row
from jali.results.reproduction import Capped, Drawing, Finding, Reproduction, Study
from tests.report.reproductions import bare, full

THIRD = 1 / 3
FIRST = {
    "schema_version": "jali.reproduction/1",
    "paper": "mine",
    "title": "T",
    "citation": "C",
    "note": "",
    "scale": "smoke",
    "command": "jali reproduce mine",
    "findings": [
        {
            "quantity": "AUC, CFD",
            "section": "Table 1: s",
            "source": "Table 1",
            "kind": "value",
            "bound": "",
            "published": 0.5,
            "tolerance": 0.1,
            "value": 0.1234567890123,
            "low": None,
            "high": None,
            "units": 3,
            "verdict": "not resolvable",
            "reason": "",
            "place": "s / CFD: auc",
        }
    ],
    "drawings": [{"figure": "Figure 1", "title": "s", "kind": "roc", "curves": [], "series": [], "axes": ["", ""]}],
    "studies": [
        {
            "name": "s",
            "parts": {"data": "sample"},
            "facts": {"rows": 10},
            "measures": [{"kind": "measure", "metric": "validity", "value": 0.98, "low": None, "high": None, "n": 0}],
        }
    ],
}


def study() -> Study:
    rows = [
        Row(kind="measure", metric="train_accuracy", value=None, reason="There is no record to measure it on."),
        Row(kind="measure", metric="validity", value=THIRD, low=0.1, high=0.5, units=4, explainer="nice"),
        Row(kind="measure", metric="validity", value=0.25, units=4, explainer="nice", group="sex = Female", n=17),
        Row(kind="measure", metric="ncp", value=0.0, low=0.0, high=0.0, units=4, explainer="nice"),
    ]
    cap = Capped(what="CFD", metric="auc", value=0.6, low=0.55, high=0.65, cap=0.62, looser=0.7, guarantee="ε = 1")
    check = Check(name="blind baseline", passed=True, detail="", value=0.5)
    return Study(name="s", parts={"data": "sample"}, sanity=[check], measures=rows, capped=[cap], seconds=12.0)


def finding(**more: object) -> Finding:
    told = {"section": "Table 1: s", "source": "Table 1", "kind": "value", "published": 0.5, "tolerance": 0.1}
    return Finding.model_validate({**told, "quantity": "AUC", "value": THIRD, "verdict": "deviates", **more})


def made(**more: object) -> Reproduction:
    return bare().model_copy(update=more)


def reread(found: Reproduction, folder) -> Reproduction:
    files.save(found, folder)
    return files.read(folder / f"{found.paper}.json")


def test_findings_keep_every_bit_and_other_numbers_six_digits(tmp_path):
    again = reread(made(findings=[finding(place="s / CFD: auc")], studies=[study()]), tmp_path)
    assert again.findings[0].value == THIRD
    assert [row.value for row in again.studies[0].measures if row.metric == "validity"] == [0.333333, 0.25]


def test_nothing_but_digits_is_lost(tmp_path):
    kept = reread(full(), tmp_path)
    assert kept.findings == full().findings
    assert reread(kept, tmp_path / "again") == kept
    whole = made(studies=[study()])
    rounded = study().measures[1].model_copy(update={"value": 0.333333})
    got = reread(whole, tmp_path).studies[0]
    assert sorted(map(repr, got.measures)) == sorted(
        map(repr, [rounded, *(m for m in study().measures if m.value != THIRD)])
    )
    assert (got.capped, got.sanity, got.parts) == (study().capped, study().sanity, study().parts)


def test_a_finding_is_a_line_without_what_its_section_says(tmp_path):
    both = [finding(place="s / CFD: auc"), finding(place="s / LRT: auc", verdict="matches")]
    text = files.text(made(findings=[*both, finding(section="Table 2: s", source="Table 2")]))
    line = next(line for line in text.splitlines() if "s / LRT: auc" in line)
    assert json.loads(line.strip().removesuffix(",")) == {
        "quantity": "AUC", "published": 0.5, "value": THIRD, "verdict": "matches", "place": "s / LRT: auc"
    }  # fmt: skip
    assert text.count('"Table 1: s"') == 1


def test_findings_of_a_section_that_stands_twice_keep_their_order(tmp_path):
    some = [finding(quantity="a"), finding(quantity="b", section="Sentences"), finding(quantity="c")]
    assert reread(made(findings=some), tmp_path).findings == some


def test_a_file_of_the_first_schema_is_read(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(FIRST))
    found = files.read(file)
    assert found.schema_version == files.SCHEMA
    assert found.findings[0].value == 0.1234567890123
    assert found.studies[0].measures[0].value == 0.98
    assert found.drawings[0].figure == "Figure 1"
    assert reread(found, tmp_path / "now") == found


def test_drawings_lie_compressed_beside_and_the_same_bytes_each_time(tmp_path):
    curve = Curve(label="CFD", fpr=[0.1, 1.0], tpr=[THIRD, 1.0], low=[0.1, 1.0], high=[0.2, 1.0], floor=0.01)
    found = made(drawings=[Drawing(figure="Figure 1", title="s", kind="roc", curves=[curve])])
    for folder in ("a", "b"):
        files.save(found, tmp_path / folder)
    first, second = ((tmp_path / folder / "p.drawings.json.gz").read_bytes() for folder in ("a", "b"))
    assert first == second
    assert json.loads(gzip.decompress(first))[0]["curves"][0]["tpr"] == [0.333333, 1.0]
    assert files.read(tmp_path / "a" / "p.json").drawings[0].curves[0].tpr == [0.333333, 1.0]


def test_missing_drawings_are_named(tmp_path):
    files.save(made(drawings=[Drawing(figure="Figure 1", title="s", kind="roc")]), tmp_path)
    (tmp_path / "p.drawings.json.gz").unlink()
    with pytest.raises(JaliError, match=r"p\.drawings\.json\.gz: put the file beside"):
        files.read(tmp_path / "p.json")


def test_drawings_of_an_earlier_run_do_not_outlive_it(tmp_path):
    files.save(made(drawings=[Drawing(figure="Figure 1", title="s", kind="roc")]), tmp_path)
    assert reread(made(), tmp_path).drawings == []
    assert not (tmp_path / "p.drawings.json.gz").exists()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema_version": "jali.results/2"}',
        '{"schema_version": "jali.reproduction/2", "findings": 1}',
    ],
)
def test_what_is_no_reproduction_is_refused_in_words(text, tmp_path):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(JaliError, match="is not the file of a reproduction"):
        files.read(tmp_path / "x.json")
