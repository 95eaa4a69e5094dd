from __future__ import annotations

import numpy as np
import pytest

import jali
from jali.api.result import Audit
from jali.audit.comparison import Pair, Side, changes, pairs, why_not_paired
from jali.audit.signal_attacks import attack_evidence
from jali.config import Config
from jali.core.errors import JaliError
from jali.core.values import Channel, Evidence, Game, SignalName
from jali.report import comparison as page
from jali.results import Results, Row
from jali.stats.roc import auc
from tests.commands import jali as command


def side(leak: float, explainer: str = "mine", seed: int = 0, game: Game | None = None, noise: int = 1) -> Side:
    """An audit whose attribution leaks membership by so many standard deviations, beside a decision that does not."""
    rng = np.random.default_rng(seed)
    member = np.stack([rng.permutation(np.arange(300) < 150) for _ in range(8)], axis=1)
    played = game or Game(member, np.arange(8), ~np.eye(8, dtype=bool), np.ones((300, 8), dtype=bool))
    draw = np.random.default_rng(noise)
    names = (SignalName("correctness"), SignalName("attribution_l1", explainer))
    right = (draw.random((300, 8)) < 0.8).astype(float)
    value = np.stack([right, draw.normal(size=(300, 8)) + leak * played.member])
    evidence = Evidence(names, value, np.ones_like(value, dtype=bool), played.member)
    rows = [Row(kind="attack", metric="auc", value=None, explainer=explainer)]
    return Side(Results(rows=rows, facts={"data fingerprint": "x"}, config={"explain": [explainer]}), evidence, played)


def attacked(given: Side) -> Side:
    """The same with the numbers of its attacks."""
    rows = attack_evidence(given.evidence, given.game).rows
    return Side(given.results.model_copy(update={"rows": rows}), given.evidence, given.game)


BESIDE = Channel.DECISION_AND_EXPLANATION


def of(found, channel=BESIDE, metric="auc"):
    return next(c for c in found if c.channel == channel and c.metric == metric and c.kind == "membership")


def test_a_smaller_leak_is_a_paired_fall_whose_size_the_scores_show():
    before = side(1.0)
    after = side(0.2)
    change = of(changes(before, after, 0))
    assert change.paired
    assert change.n == 300
    assert change.high < 0
    truth = before.game.member
    direct = [np.mean([auc(s.evidence.value[1][:, j], truth[:, j]) for j in range(8)]) for s in (before, after)]
    assert change.change == pytest.approx(direct[1] - direct[0], abs=0.05)
    assert change.before - change.after == pytest.approx(-change.change)


def test_the_same_audit_has_not_changed():
    one = side(0.7)
    found = changes(one, one, 0)
    assert [c.change for c in found if c.metric == "auc"] == [0.0, 0.0]
    assert not any(c.sure for c in found)
    assert "No attack tried shows a change" in page.answer(as_comparison(one, one))


def test_without_a_change_few_intervals_exclude_zero():
    """Twelve pairs of draws of the same leak; more than 3 intervals miss with a probability of 1 in 450.

    Over 160 such pairs 5.6 % missed. No two pairs share a draw: one that is far off would be missed again and again.
    """
    missed = 0
    for k in range(12):
        before = side(0.5, seed=k, noise=100 + k)
        after = side(0.5, seed=k, noise=200 + k)
        missed += of(changes(before, after, 0)).sure
    assert missed <= 3


def test_pairing_makes_intervals_narrower_where_people_are_the_same():
    before = side(1.0)
    quieter = before.evidence.value.copy()
    quieter[1] -= 0.3 * before.game.member
    evidence = Evidence(before.evidence.names, quieter, before.evidence.observed, before.game.member)
    before = attacked(before)
    after = attacked(Side(before.results, evidence, before.game))
    paired = of(changes(before, after, 0))
    elsewhere = Side(after.results.model_copy(update={"facts": {"data fingerprint": "y"}}), after.evidence, after.game)
    unpaired = of(changes(before, elsewhere, 0))
    assert unpaired.change == pytest.approx(paired.change, abs=0.01)
    assert not unpaired.paired
    assert paired.high - paired.low < 0.6 * (unpaired.high - unpaired.low)


def test_other_people_or_other_training_sets_are_not_paired():
    one = side(1.0)
    assert why_not_paired(one, one) == ""
    assert "other people" in why_not_paired(one, side(1.0, seed=1))
    other = Side(one.results.model_copy(update={"facts": {"data fingerprint": "y"}}), one.evidence, one.game)
    assert "other data" in why_not_paired(one, other)
    several = Side(
        one.results.model_copy(update={"facts": {"data fingerprint": "x", "people": 20}}), one.evidence, one.game
    )
    assert "several rows" in why_not_paired(one, several)


def named(*explainers):
    rows = [Row(kind="attack", metric="auc", value=0.5, explainer=name) for name in explainers]
    return Side(Results(rows=rows, config={"explain": list(explainers)}), None, None)


def test_which_explanations_are_compared():
    assert pairs(named("a"), named("a")) == [Pair("a", "a")]
    assert pairs(named("nice"), named("nice", "k_anonymous(nice(), k=10)")) == [
        Pair("nice", "nice"),
        Pair("nice", "k_anonymous(nice(), k=10)"),
    ]
    assert pairs(named("nice"), named("nice", "k_anonymous(k=10)"))[1] == Pair("nice", "k_anonymous(k=10)")
    assert pairs(named("scfe"), named("k_groups")) == [Pair("scfe", "k_groups")]
    assert pairs(named("scfe"), named("scfe", "k_groups")) == [Pair("scfe", "scfe")]


def as_comparison(before, after):
    audits = [Audit(s.results, s.evidence, s.game, Config()) for s in (before, after)]
    return jali.compare(*audits).results


def test_the_page_says_what_changed_and_how():
    found = as_comparison(side(1.2), side(0.1))
    text = page.sheet(found)
    assert text.answer.startswith("The second audit gives away less")
    assert "person by person" in text.notes[0]
    back = as_comparison(side(0.1), side(1.2))
    assert page.answer(back).startswith("The second audit gives away more")


def test_numbers_that_have_nothing_in_common_are_one_sentence():
    one = side(1.0)
    empty = Side(
        one.results.model_copy(update={"rows": [], "facts": {"data fingerprint": "y"}}), one.evidence, one.game
    )
    with pytest.raises(JaliError, match="no number in common"):
        as_comparison(one, empty)


def test_on_the_command_line_and_what_is_forgotten(tmp_path, capsys):
    def run(words):
        return command(*words, capsys=capsys)

    quick = ["--data", "lending(n=160)", "--game", "rotate(models=4)", "--attack", "threshold", "--workers", "1"]
    for name, explain in {"a": ["linear_recourse"], "b": ["linear_recourse", "input_x_gradient"]}.items():
        words = [word for each in explain for word in ("--explain", each)]
        code, _, err = run(["audit", *quick, *words, "--out", str(tmp_path / name)])
        assert code in (0, 3), err
    code, out, err = run(["compare", str(tmp_path / "a"), str(tmp_path / "b"), "--out", str(tmp_path / "c")])
    assert code == 0, err
    assert out.splitlines()[-1] == f"Report: {tmp_path / 'c' / 'report.html'}"
    assert "linear_recourse" in out

    code, out, err = run(["forget", str(tmp_path / "a")])
    assert code == 0, err
    assert not (tmp_path / "a" / "evidence.npz").exists()
    assert not (tmp_path / "a" / "store").exists()
    assert (tmp_path / "a" / "report.html").is_file()
    code, _, err = run(["compare", str(tmp_path / "a"), str(tmp_path / "b")])
    assert code == 2
    assert "evidence.npz" in err
