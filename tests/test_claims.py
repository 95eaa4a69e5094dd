from __future__ import annotations

import pytest

from jali import claims, parts
from jali.core import JaliError

SMALL = """
title = "A title"
citation = "Somebody, somewhere"
[trials]
"CFD" = { explain = "linear_recourse", signal = "counterfactual_distance", attack = "threshold" }
[studies.s]
data = "linear_gaussian(n=90, d=2)"
model = "logistic"
game = "thirds(targets=2, shadows=2)"
trials = ["CFD"]
[studies.s.smoke]
data = "linear_gaussian(n=30, d=2)"
"""


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", claims.papers())
def test_every_paper_builds_its_parts_at_every_scale(name):
    paper = claims.read(name)
    for setup in paper.studies.values():
        for scale in setup.scales:
            there = setup.at(scale)
            for kind in ("data", "model", "game"):
                if not there.scores:
                    parts.build(kind, getattr(there, kind))
    read = {trial for setup in paper.studies.values() if not setup.scores for trial in setup.trials}
    for trial, attempt in paper.trials.items():
        for kind in ("attack", "inquiry", "knowledge"):
            if text := getattr(attempt, kind):
                parts.build(kind, text)
        for signal in attempt.signals if trial in read else ():
            parts.build("signal", signal)
        for explainer in filter(None, (attempt.explain, attempt.among)):
            parts.build("explain", explainer)


@pytest.mark.parametrize("name", claims.papers())
def test_every_published_metric_has_a_tolerance(name):
    for table in claims.read(name).tables:
        for attempts in table.published.values():
            for numbers in attempts.values():
                assert set(numbers) <= set(table.tolerance), table.source


def test_a_scale_changes_what_it_names(tmp_path):
    setup = claims.read(written(tmp_path, SMALL)).studies["s"]
    assert setup.at("smoke").data == "linear_gaussian(n=30, d=2)"
    assert setup.at("standard") == setup
    assert setup.at("smoke").model == "logistic"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("trials = [", 'trials = ["LRT", '), "no attempt 'LRT'"),
        (("[studies.s]", "[studies.s]\nmodle = 'x'"), "modle"),
        (("[studies.s.smoke]\ndata", "[studies.s.smoke]\ndata ="), "not valid TOML"),
        (('model = "logistic"\n', ""), "model"),
    ],
)
def test_a_file_with_a_slip_is_one_sentence(tmp_path, change, words):
    with pytest.raises(JaliError, match=words):
        claims.read(written(tmp_path, SMALL.replace(*change)))


def test_a_study_takes_over_what_it_does_not_change(tmp_path):
    paper = claims.read(written(tmp_path, SMALL + '\n[studies.t]\nlike = "s"\nmodel = "logistic(C=2.0)"\n'))
    assert paper.studies["t"].data == paper.studies["s"].data
    assert paper.studies["t"].smoke == paper.studies["s"].smoke
    assert paper.studies["t"].model == "logistic(C=2.0)"
    with pytest.raises(JaliError, match="does not stand above"):
        claims.read(written(tmp_path, SMALL + '\n[studies.t]\nlike = "u"\n'))


def test_a_sentence_must_speak_of_what_is_there(tmp_path):
    text = SMALL + '\n[[sentences]]\nsays = "x"\nsource = "y"\nmetric = "auc"\nmore = "t / CFD"\n'
    with pytest.raises(JaliError, match="no study 't'"):
        claims.read(written(tmp_path, text))


ORDER = '[[sentences]]\nsays = "x"\nsource = "y"\nmetric = "auc"\n'


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (ORDER, "needs `more` and `less`"),
        (ORDER + 'kind = "count"\n', "needs `among`"),
        (ORDER + 'more = "s / CFD"\ntolerance = -1\n', "greater than or equal to 0"),
        ('[[tables]]\nsource = "T"\ntolerance = {}\n[tables.published.s.CFD]\nauc = 0.5\n', "needs a tolerance"),
        ('[[tables]]\nsource = "T"\ntolerance = { auc = 0.1 }\n[tables.published.s.CFD]\nauc = inf\n', "finite"),
        ('[studies.t]\nlike = "s"\nseed = -1\n', "greater than or equal to 0"),
        ('[studies.t]\nlike = ["s"]\n', "does not stand above"),
        ('[studies.t]\nlike = "s"\n[studies.t.smoke]\nmodle = "x"\n', "not 'modle'"),
        ('[studies.t]\nlike = "s"\nsmoke = "x"\n', "smoke"),
        ('[[figures]]\nfigure = "F"\nkind = "pie"\ntrials = []\npanels = {}\n', "kind"),
    ],
)
def test_every_slip_is_found_before_anything_runs(tmp_path, more, words):
    with pytest.raises(JaliError, match=words):
        claims.read(written(tmp_path, SMALL + more))


def test_studies_must_be_tables(tmp_path):
    with pytest.raises(JaliError, match="must be tables"):
        claims.read(written(tmp_path, 'studies = "x"\n' + SMALL.split("[studies.s]")[0]))


def test_an_unknown_paper_is_named_with_the_nearest():
    with pytest.raises(JaliError, match="did you mean pawelczyk2022"):
        claims.read("pawelczyk2023")


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(JaliError, match="Cannot read"):
        claims.read(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("attempt", "says"),
    [
        ('{ signal = "loss" }', "a signal and an attack"),
        ('{ explain = "nice", inquiry = "linkage" }', "an inquiry and its knowledge"),
        ('{ signal = "loss", attack = "threshold", inquiry = "linkage", knowledge = "register" }', "not both"),
        ("{ }", "needs an attack, an inquiry or an explainer"),
    ],
)
def test_half_an_attack_is_refused(tmp_path, attempt, says):
    line = next(line for line in SMALL.splitlines() if line.startswith('"CFD"'))
    with pytest.raises(JaliError, match=says):
        claims.read(written(tmp_path, SMALL.replace(line, f'"CFD" = {attempt}')))
