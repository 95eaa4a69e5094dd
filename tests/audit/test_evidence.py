from __future__ import annotations

import numpy as np
import pytest

from jali.api import evidence_files
from jali.audit import evidence
from jali.audit.setup import Resources
from jali.audit.signal_attacks import attack_evidence
from jali.core.errors import JaliError
from jali.core.values import Channel, Evidence, Game, SignalName
from jali.store import Store, mapped
from tests.conftest import planted


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def some(n: int = 40, m: int = 6):
    rng = np.random.default_rng(0)
    return rng.random((n, m)) < 0.5, rng.random((n, m)) + 0.1


def test_known_names_get_scale_and_orientation(tmp_path):
    member, x = some()
    path = save(tmp_path / "e.npz", member=member, loss=x, variance=x, counterfactual_distance=x, confidence=x, mine=x)
    found, game, warnings = evidence.read(path, low=["mine"])
    at = {str(name): found.value[i] for i, name in enumerate(found.names)}
    p = np.exp(-x)
    np.testing.assert_allclose(at["loss"], np.log(p / (1 - p)))
    np.testing.assert_allclose(at["variance"], -np.log(x))
    np.testing.assert_allclose(at["counterfactual_distance"], np.log(x))
    np.testing.assert_allclose(at["confidence"], x)
    np.testing.assert_allclose(at["mine"], -x)
    assert game.shadows.sum() == 30
    assert warnings == []
    raw = evidence.read(path, raw=True)[0]
    np.testing.assert_allclose(raw.value[raw.names.index(SignalName("loss"))], -x)


def test_extreme_losses_stay_finite(tmp_path):
    member, x = some()
    x[0, :3] = [0.0, 1e-9, 800.0]
    found = evidence.read(save(tmp_path / "e.npz", member=member, loss=x))[0]
    assert np.isfinite(found.value).all()
    assert found.value[0, 0, 2] == pytest.approx(-800)


def test_an_audits_own_file_is_read_back_unchanged(tmp_path):
    found, game = planted(1.0, n=50, models=6, signals=2)
    gaps = found.observed.copy()
    gaps[1, :10] = False
    found = Evidence((SignalName("confidence"), SignalName("loss", "explainer(k=1)")), found.value, gaps, found.member)
    evidence.write(tmp_path / "evidence.npz", found, game)
    again, same, _ = evidence.read(tmp_path / "evidence.npz")
    assert again.names == found.names
    np.testing.assert_array_equal(again.value, found.value)
    np.testing.assert_array_equal(again.observed, found.observed)
    np.testing.assert_array_equal(same.shadows, game.shadows)


def test_every_array_of_a_written_file_reads_back_equal(tmp_path):
    found, whole = planted(0.5, n=40, models=5, signals=3)
    names = (SignalName("confidence"), SignalName("loss", "e/with a slash"), SignalName("loss", "f(k=1)"))
    gaps = found.observed.copy()
    gaps[2, 5:] = False
    found = Evidence(names, found.value, gaps, found.member)
    game = Game(whole.member, [0, 2], ~np.eye(5, dtype=bool)[[0, 2]], np.ones((40, 2), bool), np.ones((40, 5), bool))
    evidence.write(tmp_path / "evidence.npz", found, game)
    again, same, warnings = evidence.read(tmp_path / "evidence.npz")
    assert again.names == names
    assert warnings == []
    for name in ("value", "observed", "member"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    for name in ("member", "targets", "shadows", "scored", "asked"):
        np.testing.assert_array_equal(getattr(same, name), getattr(game, name))
    flipped = evidence.read(tmp_path / "evidence.npz", low=["f(k=1)/loss"])[0]
    np.testing.assert_array_equal(flipped.value, found.value * np.array([1, 1, -1])[:, None, None])
    with pytest.raises(JaliError, match="--low nothing: there is no such signal"):
        evidence.read(tmp_path / "evidence.npz", low=["nothing"])


def first_edition(path, found: Evidence, game: Game):
    """A file as the first edition wrote it: an array per signal by its text, masks where there are gaps."""
    arrays = {"member": game.member, "targets": game.targets, "shadows": game.shadows, "scored": game.scored}
    arrays["oriented"] = np.array(True)
    for name, value, there in zip(found.names, found.value, found.observed, strict=True):
        arrays[str(name)] = value
        if not there.all():
            arrays[f"observed/{name}"] = there
    np.savez(path, **arrays)
    return path


def test_files_of_the_first_edition_load_as_they_were(tmp_path):
    """Names with an explainer, gaps, and values that are oriented already: `loss` and `l1` are left as they are."""
    found, game = planted(0.8, n=60, models=6, signals=3)
    gaps = found.observed.copy()
    gaps[1, :15] = False
    names = (SignalName("confidence"), SignalName("l1", "nice(k=1)"), SignalName("loss", "f"))
    found = Evidence(names, found.value, gaps, found.member)
    again, same, warnings = evidence.read(first_edition(tmp_path / "old.npz", found, game))
    assert set(again.names) == set(names)
    again = again.pick(names)
    np.testing.assert_array_equal(again.value, found.value)
    np.testing.assert_array_equal(again.observed, found.observed)
    for name in ("member", "targets", "shadows", "scored"):
        np.testing.assert_array_equal(getattr(same, name), getattr(game, name))
    assert warnings == []
    evidence.write(tmp_path / "new.npz", again, same)
    assert attack_evidence(*evidence.read(tmp_path / "new.npz")[:2]).rows == attack_evidence(again, same).rows


def test_what_was_not_asked_is_read_back_as_such(tmp_path):
    found, whole = planted(1.0, n=50, models=6)
    asked = np.arange(50)[:, None] < np.array([50, 50, 40, 40, 40, 40])
    game = Game(whole.member, [0, 1], ~np.eye(6, dtype=bool)[:2], np.ones((50, 2), bool), asked)
    found = Evidence((SignalName("attribution_l1", "scores"),), found.value, asked[None], found.member)
    evidence.write(tmp_path / "evidence.npz", found, game)
    again, same, _ = evidence.read(tmp_path / "evidence.npz")
    assert again.names == found.names
    np.testing.assert_array_equal(same.asked, asked)
    assert not [r for r in attack_evidence(again, same).rows if r.signal == "answered"]
    with pytest.raises(JaliError, match="must also be asked about"):
        evidence.read(save(tmp_path / "e.npz", member=game.member, s=found.value[0], asked=asked))


def test_a_balanced_matrix_gets_a_warning(tmp_path):
    member = np.zeros((8, 4), bool)
    for i in range(8):
        member[i, [i % 4, (i + 1 + i // 4) % 4]] = True
    warnings = evidence.read(save(tmp_path / "e.npz", member=member, s=np.random.default_rng(0).random((8, 4))))[2]
    assert "counting" in warnings[0]


@pytest.mark.parametrize(("ends", "warned"), [((0.5, 0.5), False), ((0.0, 1.0), True), ((0.5, 0.0), True)])
def test_records_that_are_in_many_models_or_in_few_get_a_warning(tmp_path, ends, warned):
    """People whom no model trained on, or every model, are known by counting: attacks on noise had an AUC of .56."""
    rng = np.random.default_rng(0)
    rate = np.where(np.arange(600) < 150, ends[0], np.where(np.arange(600) < 300, ends[1], 0.5))
    member = rng.random((600, 10)) < rate[:, None]
    warnings = evidence.read(save(tmp_path / "e.npz", member=member, s=rng.random(member.shape)))[2]
    assert [("counting" in warning) for warning in warnings] == [True] * warned


def one_target(**arrays):
    """A file that names the first model as its target."""
    member, x = some()
    named = {"targets": np.array([0]), "shadows": ~np.eye(6, dtype=bool)[:1], "scored": np.ones((40, 1), dtype=bool)}
    return {"member": member, "s": x} | named | arrays


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({}, "no array `member`"),
        ({"member": np.zeros(4, bool)}, r"shape \(4,\)"),
        ({"member": some()[0]}, "holds no signal"),
        ({"member": some()[0], "s": np.zeros((3, 3))}, "must agree"),
        ({"member": some()[0], "s": np.full((40, 6), np.nan)}, "240 missing or infinite"),
        ({"member": some()[0], "variance": -some()[1]}, "negative"),
        ({"member": some()[0], "s": np.full((40, 6), "a")}, "must hold numbers"),
        ({"member": some()[0][:, :1], "s": some()[1][:, :1]}, "single model"),
        ({"member": np.ones((40, 6), bool), "s": some()[1]}, "only members"),
        ({"member": some()[0] * 3, "s": some()[1]}, "True and False"),
        ({"member": some()[0], "s": some()[1], "targets": np.array([0])}, "but not shadows"),
        ({"member": some()[0], "s": some()[1], "observed/s": np.ones((2, 2), bool)}, "`observed/s` has shape"),
        ({"member": some()[0], "s": some()[1], "observed/r": some()[0]}, "`observed/r` marks the gaps of no signal"),
        ({"member": np.full(some()[0].shape, np.nan), "s": some()[1]}, "must hold True and False, or 1 and 0"),
        ({"member": some()[0][:0], "s": some()[1][:0]}, "it has shape"),
        ({"member": some()[0], "s": 1e306 * some()[1]}, r"beyond ±1e\+300"),
        (one_target(scored=some()[0][:, :1]), "All records that are scored under model 0 are members"),
        (one_target(scored=~some()[0][:, :1]), "add members to `scored`"),
        (one_target(record_weight=np.zeros((40, 1))), "weight of 0"),
        (one_target(targets=np.array([0, 0]), shadows=~np.eye(6, dtype=bool)[[0, 0]]), "each model once"),
        ({"member": some()[0][:, [0, 1, 2, 1]], "s": some()[1][:, [0, 1, 2, 1]]}, "Models 1 and 3 .* one model twice"),
    ],
)
def test_bad_files_are_one_sentence(tmp_path, arrays, says):
    with pytest.raises(JaliError, match=says):
        evidence.read(save(tmp_path / "e.npz", **arrays))


def test_no_such_file_and_not_npz(tmp_path):
    with pytest.raises(JaliError, match="There is no file"):
        evidence.read(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("hello")
    with pytest.raises(JaliError, match="not a readable npz"):
        evidence.read(tmp_path / "text.npz")


def test_what_the_pattern_of_gaps_leaks_is_the_decisions(tmp_path):
    """The explanation's values are noise, but who gets an answer depends on membership."""
    found, game = planted(0.0, n=800, models=16)
    rng = np.random.default_rng(5)
    there = rng.random(found.member.shape) < np.where(found.member, 0.75, 0.35)
    # With noise of its own: what two signals share, the combined attack takes off.
    score = rng.normal(size=there.shape) + 0.3 * found.member
    gappy = Evidence(
        (SignalName("confidence"), SignalName("counterfactual_distance", "recourse")),
        np.stack([score, found.value[0]]),
        np.stack([np.ones_like(there), there]),
        found.member,
    )
    rows = attack_evidence(gappy, game).rows
    auc = {(r.kind, r.channel, r.signal, r.attack, r.against): r for r in rows if r.metric == "auc"}
    pattern = auc["attack", Channel.DECISION, "answered", "lira", None]
    assert pattern.low > 0.6
    assert pattern.explainer == "recourse"
    alone = auc["attack", Channel.EXPLANATION, "counterfactual_distance", "lira", None]
    assert alone.low <= 0.5 <= alone.high
    assert alone.coverage == pytest.approx(there.mean(), abs=0.01)
    for base in ("score", "decision"):
        [row] = [r for r in rows if r.kind == "contrast" and r.against == base and r.metric == "auc"]
        assert row.low <= 0 <= row.high


def plain_arrays():
    """Arrays of another tool, with a gap, a known name and whole numbers."""
    member, x = some(60, 6)
    mask = np.ones(x.shape, dtype=bool)
    mask[3, 2] = False
    x[3, 2] = np.nan
    return {"member": member, "loss": x.astype(np.float32), "observed/loss": mask, "votes": (10 * mask).astype("i2")}


@pytest.mark.parametrize("write", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("cells", [1, 100, 10**7])
def test_mapped_evidence_in_blocks_is_that_which_is_loaded(tmp_path, monkeypatch, write, cells):
    write(tmp_path / "e.npz", **plain_arrays())
    loaded, game, _ = evidence.read(tmp_path / "e.npz", low=["votes"])
    monkeypatch.setattr(mapped, "SMALL", 0)
    monkeypatch.setattr(evidence, "CELLS", cells)
    found, same, _ = evidence.read(tmp_path / "e.npz", low=["votes"])
    assert isinstance(found.value.base, np.memmap)
    assert found.names == loaded.names
    assert found.units == loaded.units
    assert found.value.tobytes() == loaded.value.tobytes()
    assert found.observed.tobytes() == loaded.observed.tobytes()
    assert same.member.tobytes() == game.member.tobytes()
    evidence.write(tmp_path / "own.npz", found, same)
    evidence.write(tmp_path / "own.npz", found, same)  # compared with what is there, block by block
    for low in ([], ["loss"]):
        own, _, _ = evidence.read(tmp_path / "own.npz", low=low)
        sign = np.array([-1.0 if "loss" in low else 1.0, 1.0])[:, None, None]
        assert (own.value == sign * loaded.value).all()


def test_all_gaps_in_all_blocks_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(evidence, "CELLS", 1)
    member, x = some(10, 4)
    x[[1, 5, 9], 0] = np.nan, np.inf, -np.inf
    with pytest.raises(JaliError, match="'mine' holds 3 missing or infinite values"):
        evidence.read(save(tmp_path / "e.npz", member=member, mine=x))


def test_a_file_that_changes_while_it_is_attacked_is_refused(tmp_path, monkeypatch):
    """It is mapped where it lies: numbers of two files were said and stored before."""
    path = tmp_path / "scores.npz"
    member, score = some()[:2]
    np.savez(path, member=member, s=score)
    attack = evidence_files.attack_evidence

    def meanwhile(*given):
        np.savez(path, member=member, s=-score)
        return attack(*given)

    monkeypatch.setattr(evidence_files, "attack_evidence", meanwhile)
    store = Store(tmp_path / "store")
    with pytest.raises(JaliError, match="was changed while it was attacked"):
        evidence_files.attack_file(path, resources=Resources(store=store))
    assert store.entries() == []
