from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from jali.audit import quality
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual
from jali.core.guarantee import VoidClaim
from jali.core.values import Column, Dataset, Schema
from jali.data.linear_gaussian import LinearGaussian
from jali.defend._dp.recourse import recourse_requests
from jali.defend.explain import dp_weights_recourse
from jali.defend.explain.dp_weights_recourse import DPWeightsRecourse
from jali.defend.models.clipped_logistic import ClippedLogistic
from jali.defend.models.dp_logistic import DPLogistic
from jali.models.logistic import Logistic
from jali.privacy.snapped_noise import ball
from jali.verify.mechanisms_under_test import subject
from jali.verify.run import verify
from tests.explaining import explained

pytestmark = pytest.mark.filterwarnings("ignore::jali.core.guarantee.VoidClaim")  # most studies here have no key
SETTINGS = {"bound": 2.0, "C": 0.02, "scaling": "declared"}


def setting(n=3000, d=5):
    data = LinearGaussian(n=n, d=d, scale="population").load()
    columns = tuple(dataclasses.replace(c, low=-100.0, high=100.0) for c in data.schema.columns)
    return dataclasses.replace(data, schema=dataclasses.replace(data.schema, columns=columns, favourable=1))


def deployed(data):
    return ClippedLogistic(**SETTINGS).fit(data, np.ones((len(data), 1), bool), [np.random.default_rng(0)])[0]


def private(epsilon=1.0, method="output"):
    return DPLogistic(epsilon=epsilon, method=method, **SETTINGS)


@pytest.fixture
def keys(tmp_path):
    """Files with keys, by number."""

    def key(number: int) -> str:
        path = tmp_path / f"{number}.key"
        path.write_bytes(np.random.default_rng(number).bytes(32))
        path.chmod(0o600)
        return str(path)

    return key


def explain(part, model, data, rows=slice(0, 80)):
    return explained(part, model, data.X[rows], data.schema, data, np.random.default_rng(0))


@pytest.mark.parametrize("method", ["output", "objective"])
def test_all_answers_of_a_release_are_valid_but_for_a_share_beta_of_releases(method, keys):
    """Sixty releases; beta = .2 allows for 12 bad ones, 21 with three deviations."""
    data = setting()
    model, bad, answered = deployed(data), 0, 0
    for key in range(60):
        out = explain(DPWeightsRecourse(private(2.0, method), beta=0.2, key=keys(key)), model, data)
        bad += bool((quality.validity(model, data.X[:80], out, data.schema) < 1)[out.found].any())
        answered += bool(out.found.any())
    assert answered > 30
    assert bad <= 21


def test_without_the_margin_many_answers_fail(keys):
    data = setting()
    model, shares = deployed(data), []
    for key in range(20):
        out = explain(DPWeightsRecourse(private(), beta=1.0, key=keys(key)), model, data)
        shares.append(quality.validity(model, data.X[:80], out, data.schema)[out.found].mean())
    assert np.mean(shares) < 0.8


def test_a_margin_for_one_row_fixed_beforehand_fails():
    """With 20 columns: the 95 % quantile of the noise at a fixed row leaves far fewer than 95 % valid."""
    data = setting(1000, 20)
    model, part, shares = deployed(data), private(0.5), []
    known, X = part.frame(data.schema), data.X[:80]
    drawn = ball(20_000, 21, part.noise(known, 1000), np.random.default_rng(0))[:, 0]
    for w in part.weights(data, 20, np.random.default_rng(1)):
        requests = recourse_requests("x", model, X, data.schema)
        rows, reached = dp_weights_recourse.nearest(X, requests, known, w, float(np.quantile(drawn, 0.95)))
        out = Counterfactual(rows, requests.needed & reached)
        shares.append(quality.validity(model, X, out, data.schema)[out.found].mean())
    assert np.mean(shares) < 0.7


def test_the_answer_is_the_closed_form_on_the_released_weights():
    """With a margin m = r ||x'|| the move is (m - w.x) w / ||w||^2."""
    data = setting()
    part = DPWeightsRecourse(private(5.0), beta=0.3)
    out = explain(part, deployed(data), data)
    w = dp_weights_recourse.drawn(part.weights, data, b"no secret")
    known = part.weights.frame(data.schema)
    there, r = known.rows(out.rows[out.found]), part.weights.error(w, 0.3, known, len(data))
    np.testing.assert_allclose(there @ w, r * np.linalg.norm(there, axis=1), rtol=1e-4)
    move = (out.rows - data.X[:80])[out.found]
    np.testing.assert_allclose(move, np.outer(move @ w[:-1], w[:-1]) / (w[:-1] @ w[:-1]), atol=1e-9)


def test_one_release_whoever_asks_first(keys):
    data, part = setting(500), DPWeightsRecourse(private())
    model = deployed(data)
    whole = explain(part, model, data)
    tile = explained(part, model, data.X[40:80], data.schema, data, np.random.default_rng(77))
    np.testing.assert_array_equal(tile.rows, whole.rows[40:80])
    other = explain(DPWeightsRecourse(private(), key=keys(1)), model, data)
    assert np.abs(other.rows - whole.rows).max() > 1e-3


def test_releases_of_keys_follow_the_noise_of_the_mechanism():
    from scipy import stats

    data = setting(300)
    exact = DPLogistic(1e12, method="output", **SETTINGS).weights(data, 1, np.random.default_rng(0))[0]
    w = np.stack([dp_weights_recourse.drawn(private(), data, key.to_bytes(16)) for key in range(300)])
    law = stats.gamma(6, scale=private().noise(private().frame(data.schema), 300))
    assert stats.kstest(np.linalg.norm(w - exact, axis=1), law.cdf).pvalue > 1e-3


def test_any_model_may_decide():
    data = setting(400)
    other = Logistic().fit(data, np.ones((400, 1), bool), [np.random.default_rng(0)])[0]
    out = explain(DPWeightsRecourse(private(20.0), beta=0.5), other, data)
    denied = other.logits(data.X[:80]).argmax(axis=1) == 0
    assert out.found.any()
    assert not out.found[~denied].any()


def test_bounds_and_whole_numbers_are_kept():
    rng = np.random.default_rng(0)
    schema = Schema((Column("n", "integer", 0, 9, 4, 3), Column("fixed", low=0, high=1, mutable=False)), favourable=1)
    X = np.column_stack([rng.integers(0, 10, 2000), rng.random(2000)])
    data = Dataset(X, X[:, 0] > 4, schema)
    model = ClippedLogistic(bound=2.0, C=0.05).fit(data, np.ones((2000, 1), bool), [rng])[0]
    out = explain(DPWeightsRecourse(DPLogistic(3.0, bound=2.0, C=0.05, method="output")), model, data)
    assert out.found.any()
    np.testing.assert_array_equal(out.rows[:, 0], np.rint(out.rows[:, 0]))
    np.testing.assert_array_equal(out.rows[:, 1], X[:80, 1])
    assert out.rows[:, 0].max() <= 9
    assert quality.validity(model, X[:80], out, schema)[out.found].all()


def test_what_is_promised(keys):
    part = DPWeightsRecourse(private(0.5), key=keys(1))
    given = part.guarantee()
    assert (given.epsilon, given.covers, given.per) == (0.5, ("explanations",), "total")
    assert any("not covered" in text for text in given.assumes)
    assert registry.build("explain", registry.spec(part, every=True)) == part


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("dp_weights_recourse(weights=logistic)", "needs private weights"),
        ("dp_weights_recourse", "needs weights"),
        ("dp_weights_recourse(weights=dp_logistic(epsilon=1, bound=1), beta=0)", "beta, the share"),
        ("dp_weights_recourse(weights=dp_logistic(epsilon=1))", "needs bound"),
    ],
)
def test_bad_input_is_one_sentence(spec, says):
    with pytest.raises(JaliError, match=says):
        registry.build("explain", spec)


def test_training_rows_are_needed():
    data = setting(100)
    with pytest.raises(JaliError, match="pass train"):
        explained(DPWeightsRecourse(private()), deployed(data), data.X, data.schema, None, np.random.default_rng(0))


def test_a_key_is_a_file_and_never_part_of_the_specification(keys, tmp_path):
    part = DPWeightsRecourse(private(), key=keys(3))
    secret = (tmp_path / "3.key").read_bytes()
    assert secret.hex() not in registry.spec(part, every=True).encode().hex()
    assert "secret" in " ".join(part.guarantee().assumes)


def test_without_a_key_there_is_no_claim_and_it_says_how_to_make_one():
    part = DPWeightsRecourse(private())
    with pytest.raises(JaliError, match=r"makes no privacy claim: no key was given.*head -c 32 /dev/urandom"):
        part.guarantee()
    assert part.claim().void.startswith("no key was given")


def test_without_a_key_whoever_knows_the_rows_computes_the_noise():
    """Why it makes no claim: the exact weights of the fit without noise follow from the rows and the release."""
    data = setting(300)
    exact = DPLogistic(1e12, method="output", **SETTINGS).weights(data, 1, np.random.default_rng(0))[0]
    released = dp_weights_recourse.drawn(private(), data, DPWeightsRecourse(private())._secret())
    again = dp_weights_recourse.drawn(private(), data, b"no secret")
    np.testing.assert_array_equal(released, again)
    assert np.linalg.norm(released - exact) > 0.1


def test_the_way_to_make_a_key_makes_one(tmp_path, monkeypatch):
    import subprocess

    monkeypatch.chdir(tmp_path)
    line = dp_weights_recourse.MAKE.split(", ")[1]
    subprocess.run(["sh", "-c", line], check=True)
    part = DPWeightsRecourse(private(), key="recourse.key")
    assert len(part._secret()) == 32
    assert not part.guarantee().void


@pytest.mark.parametrize(
    ("content", "mode", "says"),
    [
        (None, 0o600, "cannot read the key"),
        (b"", 0o600, "at least 16 random bytes, and it is empty"),
        (b"short", 0o600, "at least 16 random bytes, not 5"),
        (bytes(32), 0o600, "1 different bytes"),
        (bytes(range(32)), 0o640, "other users of this machine may read"),
        (bytes(range(32)), 0o644, "other users of this machine may read"),
        (bytes(range(32)), 0o602, "other users of this machine may read or change"),
    ],
)
def test_a_key_that_cannot_be_used_is_said_wherever_it_is_needed(content, mode, says, tmp_path):
    path, data = tmp_path / "x.key", setting(200)
    if content is not None:
        path.write_bytes(content)
        path.chmod(mode)
    part = DPWeightsRecourse(private(), key=str(path))
    with pytest.raises(JaliError, match=says):
        explain(part, deployed(data), data)
    with pytest.raises(JaliError, match=says):
        part.guarantee()


def test_the_example_has_a_fresh_secret_that_is_never_written_down(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    part = DPWeightsRecourse.example(1.0)
    given = part.guarantee()
    assert "key of the noise is drawn at random and secret" in " ".join(given.assumes)
    assert "releases of k cost k epsilon" in " ".join(given.assumes)
    secret = part._secret()
    assert len(secret) == 32
    assert secret == DPWeightsRecourse.example(2.0)._secret()
    assert secret.hex() not in registry.spec(part, every=True).encode().hex()
    assert "fresh, in memory" in registry.spec(part)
    assert list(tmp_path.iterdir()) == []


def test_every_process_has_a_fresh_secret_of_its_own():
    import subprocess
    import sys

    code = (
        "from jali.defend.explain.dp_weights_recourse import DPWeightsRecourse\n"
        "print(DPWeightsRecourse.example(1.0)._secret().hex())"
    )
    other = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    assert len(bytes.fromhex(other)) == 32
    assert other != DPWeightsRecourse.example(1.0)._secret().hex()


@pytest.mark.filterwarnings("error")
def test_who_explains_without_a_key_is_told(keys):
    data = setting(200)
    with pytest.warns(VoidClaim, match="dp_weights_recourse is VOID: no key was given"):
        explain(DPWeightsRecourse(private()), deployed(data), data)
    explain(DPWeightsRecourse(private(), key=keys(1)), deployed(data), data)


@pytest.mark.filterwarnings("error")
def test_constants_taken_from_the_rows_void_the_claim(keys):
    data = setting(200)
    columns = tuple(dataclasses.replace(c, known="observed") for c in data.schema.columns)
    observed = dataclasses.replace(data, schema=dataclasses.replace(data.schema, columns=columns))
    part = DPWeightsRecourse(private(), key=keys(1))
    assert str(part.guarantee(observed.schema)).startswith("VOID: bounds and scale of 5 columns")
    assert not part.guarantee(data.schema).void
    with pytest.warns(VoidClaim, match="5 columns"):
        explain(part, deployed(data), observed)


# --- what is verified is what is released --------------------------------------------------------------------------


def test_draws_are_what_prepare_releases_with_the_same_secret(keys):
    """One function makes both, from secrets of the same length."""
    data = setting(n=300)
    part = DPWeightsRecourse(private(), key=keys(3))
    ready = part.prepare(deployed(data), data.schema, data, np.random.default_rng(0))
    drawn = part.draws(data, 1, np.random.default_rng(3))  # its first 32 bytes are the third key
    np.testing.assert_array_equal(drawn.coef, private().frame(data.schema).ensemble(ready.w[None]).coef)


def test_noise_that_is_missing_where_it_is_released_is_noticed(monkeypatch):
    honest = dp_weights_recourse.all_drawn

    def predictable(trainer, train, secrets):
        return honest(trainer, train, [b"the same every time"] * len(secrets))

    monkeypatch.setattr(dp_weights_recourse, "all_drawn", predictable)
    assert verify(subject("dp_weights_recourse"), draws=200).verdict == "REFUTED"
