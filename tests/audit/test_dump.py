"""One model's dump: a planted leak is found with the right sign, gaps stay gaps, and mistakes are named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import jali
from jali.api.dumps import _turned, table_of
from jali.audit.dump import Layout, gathered
from jali.core.errors import JaliError
from jali.results import Row, read
from jali.stats.roc import auc
from tests.test_cli import jali as command


def dump(shift: float, n: int = 700, seed: int = 0) -> pd.DataFrame:
    """Queries with a probability of the true class, attributions and counterfactuals; all move for members."""
    rng = np.random.default_rng(seed)
    member = np.arange(n) < n // 2
    y = rng.integers(0, 2, n)
    age = rng.integers(18, 90, n)
    logit = rng.normal(size=n) + shift * member
    right = 1 / (1 + np.exp(-logit))
    p = np.where(y == 1, right, 1 - right)
    size = np.exp(rng.normal(size=n) - shift * member)
    a = rng.normal(size=(n, 2))
    a *= (size / np.abs(a).sum(axis=1))[:, None]
    return pd.DataFrame(
        {
            "member": member.astype(int),
            "age": age,
            "pay": rng.normal(30, 5, n),
            "y": y,
            "p_0": 1 - p,
            "p_1": p,
            "a_age": a[:, 0],
            "a_pay": a[:, 1],
            "cf_age": age,
            "cf_pay": rng.normal(30, 5, n),
            "note": rng.normal(size=n) + shift * member,
        }
    )


OPTIONS = {"label": "y", "output": ["p_"], "attribution": "a_", "counterfactual": "cf_", "signal": ["note"]}
LAYOUT = Layout("member", "y", "", ("p_",), "a_", "cf_", ("note",))


def evidence(table, layout=LAYOUT):
    return gathered(table, layout, table["member"].to_numpy(bool), 0).evidence


def test_every_kind_of_column_becomes_signals_with_the_right_sign():
    found = evidence(dump(1.0))
    aucs = {str(name): auc(found.value[s, :, 0], found.member[:, 0]) for s, name in enumerate(found.names)}
    for name in ("note", "loss", "confidence", "attribution/attribution_l1"):
        assert aucs[name] > 0.65, name
    assert abs(aucs["counterfactual/counterfactual_distance"] - 0.5) < 0.05
    assert {
        str(n) for n in evidence(dump(1.0)[["member", "note", "age"]], Layout("member", signals=("note",))).names
    } == {"note"}


def test_the_loss_is_the_log_probability_of_the_label():
    table = dump(1.0)
    found = evidence(table)
    at = [str(name) for name in found.names].index("loss")
    np.testing.assert_allclose(found.value[at, :, 0], np.log(np.where(table.y == 1, table.p_1, table.p_0)))
    single = evidence(table, Layout("member", "y", outputs=("p_1",)))
    np.testing.assert_allclose(single.value[[str(n) for n in single.names].index("loss"), :, 0], found.value[at, :, 0])


def test_signals_can_be_turned_and_a_dump_that_goes_the_other_way_says_so():
    table = dump(1.0)
    plain = evidence(table)
    turned = evidence(table, replace(LAYOUT, low=("attribution_l1", "note")))
    for name in ("attribution/attribution_l1", "note"):
        at = [[str(n) for n in found.names].index(name) for found in (plain, turned)]
        np.testing.assert_array_equal(plain.value[at[0]], -turned.value[at[1]])
    backwards = Row(kind="attack", metric="auc", value=0.22, low=0.2, high=0.24, attack="threshold", signal="x/loss")
    assert (
        "an attacker who knows that has 0.780. Attack it the other way round with --low loss."
        in _turned([backwards])[0]
    )
    assert _turned([backwards.model_copy(update={"high": 0.51})]) == []


def test_gaps_are_missing_and_not_imputed():
    table = dump(1.0)
    table.loc[:9, "cf_age"] = np.nan
    table.loc[:4, "note"] = np.nan
    found = evidence(table)
    names = [str(name) for name in found.names]
    assert (~found.observed[names.index("counterfactual/counterfactual_distance"), :, 0]).sum() == 10
    assert (~found.observed[names.index("note"), :, 0]).sum() == 5


def test_half_of_the_people_outside_are_set_aside():
    table = dump(1.0)
    game = gathered(table, LAYOUT, table["member"].to_numpy(bool), 0).game
    assert (game.aside.sum(), game.scored.sum(), game.shadows.any()) == (175, 350 + 175, False)
    assert game.reference(0).sum() == 175


def test_files_of_all_kinds_give_the_same(tmp_path):
    table = dump(1.0)
    table.to_csv(tmp_path / "d.csv", index=False)
    table.to_parquet(tmp_path / "d.parquet")
    arrays = {name: table[name].to_numpy() for name in table if not name.startswith("p_")}
    np.savez(tmp_path / "d.npz", p=table[["p_0", "p_1"]].to_numpy(), **arrays)
    first, *others = (table_of(tmp_path / f"d.{end}")[list(table)] for end in ("csv", "parquet", "npz"))
    for other in others:
        np.testing.assert_allclose(first.to_numpy(float), other.to_numpy(float))


def test_the_command_attacks_a_dump(tmp_path, capsys):
    """A planted leak: the interval says that it is about this model, and the page is that of every audit."""
    dump(1.5, 500)[["member", "age", "note"]].to_csv(tmp_path / "d.csv", index=False)
    words = ["--member", "member", "--signal", "note", "--attack", "threshold", "--out", tmp_path / "out"]
    code, out, _ = command("attack", tmp_path / "d.csv", *words, "--workers", "1", capsys=capsys)
    assert code == 0
    assert "This is one model" in out
    found = read(tmp_path / "out" / "results.json")
    (row,) = [r for r in found.rows if (r.kind, r.attack, r.metric) == ("attack", "threshold", "auc")]
    assert row.low > 0.6
    assert row.interval == "DeLong, conditional on this model"
    assert next(r for r in found.rows if r.metric == "tpr@0.01").reason.startswith("FPR 1 % needs at least 299")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"label": "class"}, "--label class: the dump has no such column"),
        ({"output": ["q_"]}, "--output q_: no column of the dump begins like this"),
        ({"output": ["age"]}, "probabilities between 0 and 1 are expected"),
        ({"counterfactual": "a_a"}, "for a query column age the dump needs a_aage"),
        ({"output": [], "attribution": "", "counterfactual": "", "signal": []}, "The dump holds nothing to attack"),
    ],
)
def test_a_mistake_is_one_sentence(change, sentence):
    with pytest.raises(JaliError, match=sentence):
        jali.attack_dump(dump(0.0, 100), **(OPTIONS | change))


def test_too_few_people_are_said_in_numbers():
    with pytest.raises(JaliError, match="50 people who were trained on and 50 who were not; at least 100 and 200"):
        jali.attack_dump(dump(0.0, 100), **OPTIONS)


def test_the_command_asks_for_the_column_of_membership(tmp_path, capsys):
    dump(0.0, 100).to_csv(tmp_path / "d.csv", index=False)
    code, _, err = command("attack", tmp_path / "d.csv", capsys=capsys)
    assert code == 2
    assert "tells who was trained on: jali attack dump.csv --member member" in err
