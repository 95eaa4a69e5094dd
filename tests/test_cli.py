"""The command line as a person meets it: what it prints, what it leaves, and what it says when something is wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest

from jali import __version__, cli
from jali.core.errors import JaliError
from tests.commands import jali

QUICK = ["--attack", "threshold", "--game", "rotate(models=4)", "--workers", "1"]


def repeatable(folder) -> list[dict]:
    """The rows of an audit, but the seconds, which no seed repeats."""
    rows = json.loads((folder / "results.json").read_text())["rows"]
    return [row for row in rows if row["metric"] != "seconds"]


def table(path, n: int = 200, **columns):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, n), "income": rng.normal(30, 5, n), "y": rng.integers(0, 2, n)})
    frame.assign(**columns).to_csv(path, index=False)
    return path


HEAVY = {"numpy", "scipy", "pandas", "sklearn", "joblib", "matplotlib", "torch", "jinja2", "pyarrow"}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["audit", "--help"], ["data", "--help"]])
def test_help_needs_no_heavy_library(words):
    """This is what makes it quick; a clock would measure what else the machine is doing."""
    command = [sys.executable, "-X", "importtime", "-m", "jali", *words]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in run.stderr.splitlines()}
    assert "typer" in imported
    assert imported & HEAVY == set()


def test_an_audit_leaves_four_files_and_repeats_to_the_bit(tmp_path, capsys):
    first, second = tmp_path / "a", tmp_path / "b"
    code, out, _ = jali("audit", "--data", "breast_cancer", *QUICK, "--out", first, "--seed", "5", capsys=capsys)
    assert code == 0
    assert out.strip().endswith(str(first / "report.html"))
    assert {"report.html", "results.json", "evidence.npz", "audit.toml"} <= {p.name for p in first.iterdir()}
    assert tomllib.loads((first / "audit.toml").read_text())["seed"] == 5
    code, _, _ = jali("audit", first / "audit.toml", "--out", second, "--workers", "2", capsys=capsys)
    assert code == 0
    rows = [repeatable(folder) for folder in (first, second)]
    assert rows[0] == rows[1]
    metrics = {r["metric"] for r in rows[0]}
    assert {"auc", "balanced_accuracy", "tpr@0.01", "tpr@0.001", "tnr@0.01"} <= metrics


def test_evidence_of_an_audit_can_be_attacked_again_with_the_same_numbers(tmp_path, capsys):
    jali("audit", "--data", "sample(breast_cancer, 240)", *QUICK, "--out", tmp_path / "a", capsys=capsys)
    code, _, _ = jali(
        "attack",
        tmp_path / "a" / "evidence.npz",
        "--attack",
        "threshold",
        "--workers",
        "1",
        "--out",
        tmp_path / "b",
        capsys=capsys,
    )
    assert code == 0
    both = [json.loads((tmp_path / f / "results.json").read_text())["rows"] for f in "ab"]
    kinds = [[r | {"key": ""} for r in rows if r["kind"] in ("attack", "contrast") and not r["group"]] for rows in both]
    assert kinds[0] == kinds[1]


def test_a_users_own_table_shows_its_schema(tmp_path, capsys):
    code, out, _ = jali(
        "audit",
        "--data",
        table(tmp_path / "my.csv"),
        "--target",
        "y",
        *QUICK,
        "--explain",
        "linear_recourse",
        "--out",
        tmp_path / "out",
        capsys=capsys,
    )
    assert code == 0
    assert "age" in out
    assert "integer" in out


@pytest.mark.parametrize("show", [False, True])
def test_the_columns_of_a_table_show_nobodys_values_unless_asked(show, tmp_path, capsys):
    rng = np.random.default_rng(0)
    towns = rng.choice(["Zwischenwasser", "Oberndorf"], 200)
    outcome = np.where(rng.random(200) < 0.5, "approved", "deniedtwice")
    path = table(tmp_path / "my.csv", town=towns, wage=np.r_[rng.uniform(2000, 3000, 198), 1234.5, 98765.0], y=outcome)
    words = ["--target", "y", "--favourable", "approved", *QUICK, "--explain", "none", "--out", tmp_path / "out"]
    code, out, _ = jali("audit", "--data", path, *words, *(["--show-values"] if show else []), capsys=capsys)
    shown = out.partition("favourable: approved")[0]
    assert (code, shown == out) == (0, False)
    assert all(word in shown for word in ("town", "category", "wage", "number"))
    assert [word in shown for word in ("Zwischenwasser", "1234.5", "98765", "deniedtwice")] == [show] * 4
    assert ("2 categories" in shown) != show
    if not show:
        written = "".join(
            p.read_text() for p in (tmp_path / "out").iterdir() if p.suffix in (".html", ".json", ".toml")
        )
        assert [word for word in ("Zwischenwasser", "1234.5", "98765") if word in written + out] == []


def test_parquet_reads_like_csv(tmp_path, capsys):
    pytest.importorskip("pyarrow", reason="the extra jali-audit[parquet] is not installed")
    frame = pd.read_csv(table(tmp_path / "my.csv"))
    frame.to_parquet(tmp_path / "my.parquet")
    for name in ("csv", "parquet"):
        code, _, _ = jali(
            "audit", "--data", tmp_path / f"my.{name}", "--target", "y", *QUICK, "--out", tmp_path / name, capsys=capsys
        )
        assert code == 0
    rows = [repeatable(tmp_path / f) for f in ("csv", "parquet")]
    assert rows[0] == rows[1]


HOSTILE = ["<script>alert(1)</script>", 'a"b', "line\nbreak", "[bold]x[/bold]", "$x^2$", "\x1b[31mred"]


def test_hostile_names_and_categories_are_only_text(tmp_path, capsys):
    rng = np.random.default_rng(0)
    columns = {name: rng.choice(HOSTILE, 240) for name in HOSTILE}
    frame = pd.DataFrame({**columns, "y": rng.choice(["<img src=x onerror=alert(2)>", "no"], 240)})
    frame.to_csv(tmp_path / "h.csv", index=False)
    code, out, _ = jali(
        "audit",
        "--data",
        tmp_path / "h.csv",
        "--target",
        "y",
        *QUICK,
        "--explain",
        "input_x_gradient",
        "--show-values",
        "--out",
        tmp_path / "out",
        capsys=capsys,
    )
    assert code == 0
    assert "\x1b[31m" not in out
    assert "[bold]x[/bold]" in out
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["audit", "--data", "adlut"], "did you mean adult"),
        (["audit", "--data", "breast_cancer", "--model", "logistc"], "did you mean logistic"),
        (["audit", "--data", "breast_cancer", "--explain", "nothing"], "no explain called 'nothing'"),
        (["audit", "--data", "breast_cancer", "--game", "rotate(models=1)"], "must be at least 2"),
        (["audit", "--data", "breast_cancer", "--game", "rotate", "--targets", "3"], "either --game or --targets"),
        (["audit", "--data", "breast_cancer", "--target", "y"], "file of your own"),
        (["audit", "--data", "lending(n=12)"], "only 6"),
        (["audit", "--data", "none.csv", "--target", "y"], "There is no file none.csv"),
        (["audit", "--data", "none.csv"], "needs a target"),
        (["audit", "none.toml"], "Cannot read none.toml: No such file"),
        (["audit", "loans.csv"], "loans.csv is a table, not a configuration: write --data loans.csv"),
        (["audit", "--data", "loans.xlsx", "--target", "y"], "(.csv, .tsv or .parquet), and 'loans.xlsx' is none"),
        (["audit", "--data", "lending(seed=-1)"], "seed must not be below 0"),
        (["audit", "--data", "breast_cancer", "--explain", "scfe", "--explain", "none"], "none stands alone"),
        (["audit", "--data", "breast_cancer", "--attack", "joint(prior=0.5)"], "joint: prior must be above 1"),
        (["audit", "--data", "breast_cancer", "--attack", "ratio(lift=2)"], "lift must lie between 0 and 1"),
        (["audit", "--data", "breast_cancer", "--attack", "offline_joint(ridge=-1)"], "ridge must not be below 0"),
        (["audit", "--data", "breast_cancer", "--seed", "-1"], "seed"),
        (["audit", "--data", "breast_cancer", "--workers", "-1"], "--workers must be"),
        (["attack", "none.npz"], "There is no file none.npz"),
        (["list", "colours"], "no kind of part 'colours'"),
        (["report", "nowhere"], "Cannot read nowhere: No such file"),
        (["reproduce", "nobody"], "There is no paper 'nobody'. There are goethals2022"),
        (["reproduce", "pawelczyk"], "did you mean pawelczyk2022? There are"),
        (["verify", "dp_logistic", "--draws", "100", "--seed", "-1"], "seed must not be below 0"),
        (["verify", "dp_logistic", "--out", "numbers.json"], "--out names a folder for report.html and results.json"),
        (["data", "fetch", "adlut"], "did you mean adult"),
    ],
)
def test_bad_input_is_one_sentence_and_a_non_zero_exit(words, says, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, errors = jali(*words, capsys=capsys)
    assert code == 2
    assert says in errors
    assert errors.startswith("Error: ")
    assert "Traceback" not in errors


def make(path, text: str):
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,y\n1,0\n2,0\n", "one class only"),
        ("a,b\n1,0\n2,1\n", "no column 'y'"),
        ("a,y\n1,0\n,1\n", "cannot explain rows with missing numbers"),
        ("a,y\n1,0\ninf,1\n", "1 missing or infinite"),
        ("", "Cannot read"),
        ("a,y\n", "needs rows"),
        ("a,a,y\n1,2,0\n", "unique"),
        ("a,y\n1,0\n2,1\n3,0\n", "training set of only"),
    ],
)
def test_bad_tables_are_one_sentence(text, says, tmp_path, capsys):
    words = ["audit", "--data", make(tmp_path / "t.csv", text), "--target", "y", "--out", tmp_path / "out"]
    code, _, errors = jali(*words, capsys=capsys)
    assert code == 2
    assert says in errors


def test_a_failed_run_leaves_earlier_results_alone(tmp_path, capsys):
    jali("audit", "--data", "lending(n=200)", *QUICK, "--explain", "none", "--out", tmp_path, capsys=capsys)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}
    code, _, _ = jali("audit", "--data", "nonsense", "--out", tmp_path, capsys=capsys)
    assert code == 2
    assert before == {p.name: p.read_bytes() for p in tmp_path.iterdir() if p.is_file()}


def test_a_folder_that_cannot_be_written_is_said_before_the_work(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    code, _, errors = jali("audit", "--out", tmp_path / "taken", capsys=capsys)
    assert code == 2
    assert "Cannot write" in errors


@pytest.mark.parametrize("call", ["pathlib.Path.exists", "pathlib.Path.mkdir"])
def test_a_folder_without_permission_is_one_sentence(call, tmp_path, capsys, monkeypatch):
    def refuse(*_: object, **__: object) -> bool:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(call, refuse)
        code, _, errors = jali("audit", "--out", tmp_path / "shut" / "x", capsys=capsys)
    assert (code, "Permission denied; choose another folder" in errors) == (2, True)


def test_a_target_without_shadows_of_a_kind(tmp_path, capsys):
    rng = np.random.default_rng(0)
    member = np.zeros((400, 3), bool)
    member[:200, 0] = True
    shadows = np.array([[False, True, True]])
    np.savez(
        tmp_path / "e.npz",
        member=member,
        s=rng.normal(size=(400, 3)),
        targets=[0],
        shadows=shadows,
        scored=np.ones((400, 1), bool),
    )
    code, _, errors = jali("attack", tmp_path / "e.npz", "--attack", "lira", "--out", tmp_path / "o", capsys=capsys)
    assert code == 2
    assert "lira needs shadow models trained with and without" in errors
    code, _, _ = jali("attack", tmp_path / "e.npz", "--out", tmp_path / "o", "--workers", "1", capsys=capsys)
    assert code == 0


def test_help_names_every_kind_of_part(capsys):
    from jali.core.registry import FOLDERS

    code, out, _ = jali("list", "--help", capsys=capsys)
    assert code == 0
    assert [kind for kind in FOLDERS if kind not in out] == []


def test_lists_name_every_part(capsys):
    code, out, _ = jali("list", "attack", capsys=capsys)
    assert code == 0
    assert "lira" in out
    assert "joint" in out
    code, out, _ = jali("data", capsys=capsys)
    assert code == 0
    assert "lending" in out
    assert "embedded" in out


def test_report_renders_again(tmp_path, capsys):
    jali("audit", "--data", "sample(breast_cancer, 240)", *QUICK, "--out", tmp_path, capsys=capsys)
    first = (tmp_path / "report.html").read_text()
    (tmp_path / "report.html").unlink()
    code, _, _ = jali("report", tmp_path, capsys=capsys)
    assert code == 0
    assert (tmp_path / "report.html").read_text() == first


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"schema_version": "jali.results/1", "rows": [{"kind": "joint"}]}', "run the audit again"),
        (
            '{"schema_version": "jali.results/2", "rows": [{"kind": "joint"}]}',
            "does not follow jali.results/2 at rows.0",
        ),
        ('{"schema_version": "jali.results/2"}', "holds no results"),
        ('{"schema_version": "jali.verification/2"}', "does not hold the results of an audit"),
        ("[1]", "does not hold the results of an audit"),
        ("a,b\n", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_report_answers_another_file_with_one_sentence(content, says, tmp_path, capsys):
    make(tmp_path / "results.json", content)
    for given in (tmp_path, tmp_path / "results.json"):
        code, _, errors = jali("report", given, capsys=capsys)
        assert (code, errors.count("\n")) == (2, 1)
        assert says in errors
    assert not (tmp_path / "report.html").exists()


def test_results_of_the_first_schema_are_named_with_what_to_do(tmp_path, capsys):
    file = make(tmp_path / "results.json", '{"schema_version": "jali.results/1", "rows": []}')
    _, _, errors = jali("report", tmp_path, capsys=capsys)
    assert errors == (
        f"Error: {file} holds results of schema jali.results/1, and this version of jali reads jali.results/2: run the "
        "audit again.\n"
    )


def test_version(capsys):
    code, out, _ = jali("--version", capsys=capsys)
    assert (code, out.strip()) == (0, f"jali {__version__}")


def test_a_table_elsewhere_is_found_again_from_its_audit_toml(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    table(tmp_path / "deep" / "er" / "T.CSV")
    words = ["audit", "--data", "deep/er/T.CSV", "--target", "y", *QUICK, "--explain", "none", "--out", "runs/a"]
    assert jali(*words, capsys=capsys)[0] == 0
    assert jali("audit", "runs/a/audit.toml", "--out", "b", "--workers", "1", capsys=capsys)[0] == 0
    rows = [repeatable(tmp_path / f) for f in ("runs/a", "b")]
    assert rows[0] == rows[1]
    table(tmp_path / "other.csv", n=150)
    code, _, _ = jali(
        "audit", "runs/a/audit.toml", "--data", "other.csv", "--out", "c", "--workers", "1", capsys=capsys
    )
    assert code == 0
    assert json.loads((tmp_path / "c" / "results.json").read_text())["facts"]["rows"] == 150


def evidence_file(path, n: int = 400, m: int = 8, **more):
    rng = np.random.default_rng(0)
    member = rng.random((n, m)) < 0.5
    np.savez(path, member=member, loss=np.exp(rng.normal(size=(n, m)) - 0.5 * member), **more)
    return path


def test_released_conventions_are_repeated_from_their_audit_toml(tmp_path, capsys):
    path = evidence_file(tmp_path / "e.npz")
    assert jali("attack", path, "--as-released", "huang2024", "--out", tmp_path / "a", capsys=capsys)[0] == 0
    assert jali("audit", tmp_path / "a" / "audit.toml", "--out", tmp_path / "b", capsys=capsys)[0] == 0
    rows = [repeatable(tmp_path / f) for f in "ab"]
    assert rows[0] == rows[1]
    code, _, errors = jali(
        "attack", path, "--as-released", "huang2024", "--raw", "--out", tmp_path / "c", capsys=capsys
    )
    assert (code, "leave --attack" in errors) == (2, True)
    code, _, errors = jali(
        "audit", tmp_path / "a" / "audit.toml", "--model", "logistic", "--out", tmp_path, capsys=capsys
    )
    assert (code, "only --attack and --seed" in errors) == (2, True)


def test_odd_signal_names_and_seeds(tmp_path, capsys):
    rng = np.random.default_rng(1)
    odd = {"file": rng.random((400, 8)), "a/b c": rng.random((400, 8)), "<i>": rng.random((400, 8))}
    path = tmp_path / "e.npz"
    from jali.store import write_arrays

    write_arrays(path, {"member": rng.random((400, 8)) < 0.5, **odd})
    words = ["attack", path, "--attack", "threshold", "--workers", "1", "--out", tmp_path / "o"]
    assert jali(*words, capsys=capsys)[0] == 0
    code, _, errors = jali(*words, "--seed", "-1", capsys=capsys)
    assert (code, "seed" in errors) == (2, True)


def test_an_attack_on_several_signals_can_be_chosen(tmp_path, capsys):
    path = evidence_file(tmp_path / "e.npz")
    words = ["attack", path, "--attack", "joint(prior=5.0)", "--workers", "1", "--out", tmp_path / "o"]
    assert jali(*words, capsys=capsys)[0] == 0
    rows = json.loads((tmp_path / "o" / "results.json").read_text())["rows"]
    assert {r["attack"] for r in rows} == {"joint(prior=5.0)"}
    code, _, errors = jali(*words, "--attack", "joint", capsys=capsys)
    assert (code, "at most one" in errors) == (2, True)


def test_nobody_denied_leaves_unresolved_rows_not_a_crash(tmp_path, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "y": np.where(np.arange(300) % 30 == 0, "bad", "good")})
    frame.to_csv(tmp_path / "t.csv", index=False)
    code, _, _ = jali(
        "audit",
        "--data",
        tmp_path / "t.csv",
        "--target",
        "y",
        "--favourable",
        "good",
        *QUICK,
        "--explain",
        "linear_recourse",
        "--out",
        tmp_path / "o",
        capsys=capsys,
    )
    assert code == 0
    rows = json.loads((tmp_path / "o" / "results.json").read_text())["rows"]
    contrasts = [r for r in rows if r["kind"] == "contrast"]
    assert contrasts
    assert all(r["value"] is None and r["reason"] for r in contrasts)


def test_a_forest_is_audited_without_explanations(tmp_path, capsys):
    forest = 'sklearn(estimator="sklearn.ensemble:RandomForestClassifier", params="n_estimators=5")'
    code, out, _ = jali(
        "audit",
        "--data",
        "breast_cancer",
        "--model",
        forest,
        *QUICK,
        "--explain",
        "none",
        "--out",
        tmp_path / "o",
        capsys=capsys,
    )
    assert code == 0
    assert "covers the predictions only" in out


def test_an_invalid_audit_exits_with_three_and_a_failed_one_leaves_no_folder(tmp_path, capsys, monkeypatch):
    from jali.audit import sanity
    from jali.results import Check

    monkeypatch.setattr(sanity, "blind", lambda *_: Check(name="blind baseline", passed=False, detail="planted"))
    words = ["audit", "--data", "lending(n=200)", *QUICK, "--explain", "none", "--out", tmp_path / "o"]
    code, out, _ = jali(*words, capsys=capsys)
    assert code == 3
    assert "INVALID" in out
    assert jali("audit", "--data", "lending(n=12)", "--out", tmp_path / "p", capsys=capsys)[0] == 2
    assert not (tmp_path / "p").exists()


def test_linkage_in_a_table_of_ones_own(tmp_path, capsys):
    own = ["--data", table(tmp_path / "my.csv"), "--target", "y", "--explain", "nice", "--workers", "1"]
    words = [*own, "--quasi", "age", "--attack", "linkage", "--out", tmp_path / "out"]
    code, out, _ = jali("audit", *words, capsys=capsys)
    assert code == 0
    assert "names people" in out
    assert "of 100 answers lead to the right person" in " ".join(out.split())
    assert "quasi" in out
    assert tomllib.loads((tmp_path / "out" / "audit.toml").read_text())["quasi"] == ["age"]
    assert '<section id="queries"' in (tmp_path / "out" / "report.html").read_text()
    assert "one query per record" in [
        t["asks"] for t in json.loads((tmp_path / "out" / "results.json").read_text())["threats"]
    ]
    code, _, err = jali("audit", "--data", "lending", "--quasi", "age", capsys=capsys)
    assert (code, err.count("\n")) == (2, 1)
    assert "file of your own" in err


def test_messages_send_no_control_characters_to_the_terminal(tmp_path, monkeypatch, capsys):
    file = tmp_path / "audit.toml"
    file.write_text('data = "nope\\u001b]0;pwned\\u0007\\u001b[2J.csv"\ntarget = "y"\n')
    monkeypatch.setattr(sys, "argv", ["jali", "audit", str(file), "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert "nope" in said
    assert not set(said) & {"\x1b", "\x07"}


@pytest.mark.parametrize("told", ["seed = " + "9" * 5000, "a = " + "[" * 3000])
def test_files_beyond_any_measure_are_one_sentence(told, tmp_path):
    from jali import config

    file = tmp_path / "audit.toml"
    file.write_text(told)
    with pytest.raises(JaliError, match="is not valid TOML"):
        config.read(file)
