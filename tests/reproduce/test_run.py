from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from jali import cli
from jali.api import save_reproduction as save
from jali.core.errors import JaliError
from jali.explain._recourse import vae
from jali.reproduce import files, schema
from jali.reproduce.run import reproduce

PAGES = Path(__file__).parents[2] / "docs" / "reproduction"
ROUNDED = {"drawings", "studies", "seconds", "memory_mb"}
PAPER = """
title = "A title"
citation = "Somebody, somewhere"
[methods]
"CFD" = { explain = "linear_recourse", signal = "counterfactual_distance(norm=1)", attack = "threshold" }
"CFD-LRT" = { explain = "linear_recourse", signal = "counterfactual_distance(norm=1)", attack = "offline_lrt" }
"LiRA" = { signal = "loss", attack = "lira" }
"Loss" = { signal = "loss", attack = "threshold", among = "linear_recourse" }
[studies.few]
data = "linear_gaussian(n=600, d=180)"
model = "logistic(C=1000.0)"
game = "thirds(targets=3, shadows=3)"
methods = ["CFD", "CFD-LRT", "Loss", "LiRA"]
[studies.few.smoke]
game = "thirds(targets=2, shadows=2)"
[studies.absent]
like = "few"
data = 'table(path="nowhere.csv", target="y")'
[[tables]]
source = "Table 1"
tolerance = { auc = 0.3, train_accuracy = 0.05, validity = 0.01 }
[tables.published.few]
"CFD" = { auc = 0.7, validity = 1.0 }
"LiRA" = { auc = 0.7 }
model = { train_accuracy = 1.0 }
[tables.published.absent]
"CFD" = { auc = 0.7 }
[[sentences]]
says = "The loss leaks"
source = "Section 1"
metric = "auc"
more = "few / Loss"
[[figures]]
figure = "Figure 1"
kind = "roc"
methods = ["CFD", "Loss"]
panels = { few = "few", absent = "absent" }
"""


@pytest.fixture
def paper(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(PAPER)
    return path


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    path = tmp_path_factory.mktemp("papers") / "mine.toml"
    path.write_text(PAPER)
    return reproduce(schema.read(str(path)), "mine.toml", "standard")


def by(found):
    return {f.quantity: f for f in found.findings if not f.section.endswith("absent")}


def test_every_number_and_sentence_has_a_verdict(found):
    claimed = by(found)
    assert set(claimed) == {"AUC, CFD", "validity, CFD", "AUC, LiRA", "train accuracy, few", "The loss leaks"}
    assert claimed["train accuracy, few"].value == pytest.approx(1.0)
    assert claimed["train accuracy, few"].verdict == "matches"
    assert claimed["validity, CFD"].verdict == "matches"
    assert claimed["The loss leaks"].verdict == "matches"
    assert claimed["AUC, CFD"].units == 3


def test_an_attack_without_its_shadows_is_not_resolvable_and_says_why(found):
    lira = by(found)["AUC, LiRA"]
    assert lira.verdict == "not resolvable"
    assert "needs shadow models" in lira.reason


def test_absent_data_skip_their_study_only(found):
    few, absent = found.studies
    assert not few.skipped
    assert "nowhere.csv" in absent.skipped
    missing = [f for f in found.findings if f.section.endswith("absent")]
    assert [f.verdict for f in missing] == ["not resolvable"]
    assert "nowhere.csv" in missing[0].reason
    assert [d.title for d in found.drawings] == ["few"]


def test_the_record_of_a_run_is_complete(found):
    assert found.command == "jali reproduce mine.toml --scale standard"
    assert found.seconds > 0
    assert {"jali-audit", "numpy", "python"} <= set(found.versions)
    (few, _) = found.studies
    assert few.facts["targets"] == 3
    assert all(check.passed for check in few.sanity)


def test_a_prediction_may_be_judged_among_the_answered_only():
    from types import SimpleNamespace

    from jali.core.guesses import Guesses
    from jali.core.values import Evidence, SignalName
    from jali.reproduce.run import _among

    member, answered = np.zeros((4, 2), dtype=bool), np.array([[[1, 0], [0, 1], [1, 1], [0, 0]]], dtype=bool)
    evidence = Evidence(
        (SignalName("counterfactual_distance", "linear_recourse"),), np.zeros((1, 4, 2)), answered, member
    )
    found, game = SimpleNamespace(evidence=evidence), SimpleNamespace(targets=np.array([1]))
    every = Guesses(np.arange(4.0), np.arange(4) % 2 == 0, np.zeros(4, dtype=int), np.arange(4))
    assert _among(every, "linear_recourse", found, game).record.tolist() == [
        1,
        2,
    ]  # answered under the target, column 1
    assert len(_among(every, "", found, game).record) == 4


def test_paths_of_this_machine_stay_out_of_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("JALI_DATA", str(tmp_path / "private-folder"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = reproduce(schema.read("pawelczyk2022"), "pawelczyk2022", "smoke", ["heloc"])
    assert found.studies[0].skipped
    assert str(tmp_path) not in found.model_dump_json()


def test_a_study_of_a_larger_scale_says_when_it_is_run():
    found = reproduce(schema.read("pawelczyk2022"), "pawelczyk2022", "smoke", ["linear-5000"])
    assert found.studies[0].skipped == "run at --scale paper only"
    assert {f.verdict for f in found.findings} <= {"not resolvable"}


def test_saved_files_hold_all_of_it(found, tmp_path):
    page = save(found, tmp_path / "out")
    assert page.name == "mine.html"
    again = files.read(tmp_path / "out" / "mine.json")
    assert again.findings == found.findings
    assert again.model_dump(exclude=ROUNDED) == found.model_dump(exclude=ROUNDED)
    assert files.text(again) == files.text(found)
    assert "Table 1" in (tmp_path / "out" / "mine.md").read_text()
    assert list((tmp_path / "out" / "mine").glob("*.svg"))


def test_an_unknown_study_is_one_sentence(paper):
    with pytest.raises(JaliError, match="no study 'fw'"):
        reproduce(schema.read(str(paper)), "mine", "smoke", ["fw"])


def test_command_line(paper, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(
        "sys.argv", ["jali", "reproduce", str(paper), "--only", "few", "--out", str(tmp_path / "o"), "--workers", "1"]
    )
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code in (0, None)
    out = capsys.readouterr().out
    assert "train accuracy, few" in out
    assert out.rstrip().endswith("mine.html")
    assert json.loads((tmp_path / "o" / "mine.json").read_text())["scale"] == "smoke"


def test_an_earlier_run_is_judged_again_by_claims_that_were_corrected(found, paper, tmp_path, capsys, monkeypatch):
    """Nothing is run: the study's data may be gone, and its numbers stay to the bit."""
    run = tmp_path / "run"
    save(found, run)
    text = paper.read_text().replace('source = "Section 1"', 'source = "ours: no such sentence"')
    paper.write_text(text.replace("n=600, d=180", "n=0, d=0"))
    words = ["jali", "reproduce", str(paper), "--judge", str(run / "mine.json"), "--out", str(tmp_path / "o")]
    monkeypatch.setattr("sys.argv", words)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code in (0, None)
    judged, kept = files.read(tmp_path / "o" / "mine.json"), files.read(run / "mine.json")
    assert [f.value for f in judged.findings] == [f.value for f in found.findings]
    assert judged.findings[:-1] == found.findings[:-1]
    assert judged.findings[-1].ours
    assert (judged.made, judged.drawings) == (found.made, kept.drawings)
    assert [s.model_copy(update={"due": ""}) for s in judged.studies] == kept.studies
    assert judged.studies[0].due.startswith("Run with another data than the paper's file now has")
    assert judged.judged


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nobody"], "no paper"),
        (["pawelczyk2022", "--scale", "huge"], "no scale"),
        (["pawelczyk2022", "--judge", "nowhere.json"], "Cannot read nowhere.json"),
        (["pawelczyk2022", "--judge", __file__], "is not the file of a reproduction"),
        (["huang2023", "--judge", f"{PAGES}/pawelczyk2022.json"], "is a run of pawelczyk2022, not of huang2023"),
        (["huang2023", "--judge", "x.json", "--only", "d100"], "drop --only"),
    ],
)
def test_a_slip_on_the_command_line_ends_with_two(words, said, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["jali", "reproduce", *words, "--out", str(tmp_path / "o")])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("study", ["fresh-200", "leaky-200", "net-50-b"])
def test_pawelczyk2022_runs_at_smoke_scale(study):
    found = reproduce(schema.read("pawelczyk2022"), "pawelczyk2022", "smoke", [study])
    (ran,) = found.studies
    assert not ran.skipped
    assert found.drawings
    assert all(f.verdict == "not resolvable" for f in found.findings)
    assert ran.warnings if study.startswith("leaky") else not ran.warnings


@pytest.mark.parametrize(
    ("study", "judged"), [("heloc", {"CFD, GS", "CFD, C-CHVAE"}), ("heloc-fresh", {"CFD-LRT, GS", "CFD-LRT, C-CHVAE"})]
)
def test_pawelczyk2022_runs_on_heloc_at_smoke_scale(real_data, monkeypatch, study, judged):
    monkeypatch.setenv("JALI_DATA", str(real_data))
    monkeypatch.setattr(vae, "STEPS", 200)  # it is looked at what comes out, not how good it is
    monkeypatch.setattr(vae, "EPOCHS", 2)
    found = reproduce(schema.read("pawelczyk2022"), "pawelczyk2022", "smoke", [study])
    (ran,) = found.studies
    assert not ran.skipped
    assert judged <= {f.quantity.partition(", ")[2] for f in found.findings}
    assert {"validity", "plausibility", "seconds"} <= {row.metric for row in ran.measures}


def test_goethals2022_runs_on_heart_at_smoke_scale(real_data, monkeypatch):
    monkeypatch.setenv("JALI_DATA", str(real_data))
    found = reproduce(schema.read("goethals2022"), "goethals2022", "smoke", ["heart"])
    (ran,) = found.studies
    assert not ran.skipped
    rows = {(r.explainer.partition("(")[0], r.attack, r.metric): r.value for r in ran.measures if not r.group}
    assert rows["k_anonymous", "linkage", "singled_out"] == 0
    assert rows["k_anonymous", "", "anonymity_set"] >= 10
    assert rows["nice", "linkage", "candidates"] < 10 <= rows["k_anonymous", "linkage", "candidates"]
    assert rows["nice", "linkage", "disclosed"] > rows["nice", "linkage", "disclosed_baseline"]
    assert {r.group for r in ran.measures if r.metric == "ncp"} >= {"sex = female", "sex = male"}


def test_what_only_asks_or_measures_is_an_attempt_of_its_own(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        """
title = "t"
citation = "c"
[methods]
"shown" = { explain = "nice", query_attack = "linkage", knowledge = "register" }
"measured" = { explain = "nice" }
[studies.s]
data = "lending(n=300)"
model = "logistic"
game = "outsiders(targets=2, most=40)"
methods = ["shown", "measured"]
[[tables]]
source = "Table 1"
tolerance = { validity = 0.0 }
bound = { validity = "most" }
[tables.published]
s = { "measured" = { validity = 1.0 } }
"""
    )
    found = reproduce(schema.read(str(path)), str(path), "standard")
    (finding,) = found.findings
    assert (finding.bound, finding.verdict) == ("most", "matches")
    rows = [r for r in found.studies[0].measures if r.metric == "candidates"]
    assert [(r.kind, r.attack, r.knowledge, r.explainer) for r in rows] == [
        ("query attack", "linkage", "register", "nice")
    ]


SCORES = """
title = "A title"
citation = "Somebody, somewhere"
[methods]
"loss" = { signal = "loss", attack = "lira" }
"both" = { signal = ["loss", "variance"], attack = "joint" }
"missing" = { signal = "l1", attack = "lira" }
[studies.left]
scores = "left.npz"
methods = ["loss", "both", "missing"]
[studies.lost]
like = "left"
scores = "lost.npz"
[[tables]]
source = "Table 3"
tolerance = { auc = 0.5 }
[tables.published]
left = { "loss" = { auc = 0.5 }, "both" = { auc = 0.5 }, "missing" = { auc = 0.5 } }
lost = { "loss" = { auc = 0.5 } }
"""


def test_scores_of_other_peoples_models_are_a_study(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    member = rng.random((300, 9)) < 0.5
    np.savez(tmp_path / "left.npz", member=member, loss=rng.gamma(2 - member), variance=rng.gamma(2 - member))
    monkeypatch.setenv("JALI_DATA", str(tmp_path))
    (tmp_path / "theirs.toml").write_text(SCORES)
    found = reproduce(schema.read(str(tmp_path / "theirs.toml")), "theirs.toml", "smoke")
    loss, both, missing, lost = found.findings
    assert loss.value > 0.6
    assert both.value > loss.value
    assert "no signal 'l1'" in missing.reason
    assert lost.reason.startswith("lost.npz is not among the data")
    assert found.studies[0].facts["models"] == 9


def test_a_study_needs_parts_or_scores(tmp_path):
    (tmp_path / "mine.toml").write_text(PAPER.replace('model = "logistic(C=1000.0)"\n', ""))
    with pytest.raises(JaliError, match="data, model and game, or the file of scores"):
        schema.read(str(tmp_path / "mine.toml"))
