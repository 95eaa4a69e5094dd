from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.guarantee import SECRET, Guarantee, Private, VoidClaim, accounting, under_replacement
from jali.core.values import Column, Dataset, Schema
from jali.defend.models.dp_logistic import DPLogistic
from jali.privacy.accounting import basic
from tests.explaining import explained


def made(**fields):
    return Guarantee(
        **{"mechanism": "m", "epsilon": 1.0, "adjacency": "replace-one", "covers": ("decisions",), **fields}
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"epsilon": 0.0}, "epsilon must be positive"),
        ({"epsilon": math.inf}, "finite"),
        ({"delta": 1.0}, "delta"),
        ({"adjacency": ""}, "needs its adjacency"),
    ],
)
def test_a_claim_must_be_complete(fields, words):
    with pytest.raises(JaliError, match=words):
        made(**fields)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_event_of_a_pure_claim_has_its_epsilon(epsilon):
    pytest.importorskip("dp_accounting", reason="the extra jali-audit[dp] is not installed")
    dp = accounting()
    pld = dp.pld.PLDAccountant(dp.NeighboringRelation.REPLACE_ONE)
    pld.compose(made(epsilon=epsilon).event())
    assert pld.get_epsilon(0.0) == pytest.approx(epsilon, abs=2e-4)


def test_a_replaced_record_is_one_removed_and_one_added():
    assert under_replacement(made(delta=0.1)) == (1.0, 0.1)
    # 2 * 1 and (1 + 2.7182818) * 0.1
    assert under_replacement(made(adjacency="add-remove", delta=0.1)) == (2.0, pytest.approx(0.37182818))
    assert under_replacement(made(adjacency="add-remove", epsilon=50.0, delta=0.1)) == (100.0, 1.0)


def test_the_converted_claim_is_the_tight_one_for_two_steps_of_a_mechanism_with_delta():
    """Three data sets in a row, the worst (1, .1) mechanism between neighbours: the ends differ by (2, .1 + .1 e)."""
    epsilon, delta = under_replacement(made(adjacency="add-remove", delta=0.1))
    first = 0.01
    second = math.e * first + 0.1
    third = math.e * second + 0.1
    assert third == pytest.approx(math.exp(epsilon) * first + delta)


def test_only_pure_claims_have_an_event():
    pytest.importorskip("dp_accounting", reason="the extra jali-audit[dp] is not installed")
    with pytest.raises(JaliError, match="pure"):
        made(delta=1e-5).event()


def test_a_part_that_promises_is_recognised():
    class Part:
        def guarantee(self):
            return made()

    assert isinstance(Part(), Private)


def test_every_claim_rests_on_a_secret_seed_besides_what_its_mechanism_assumes():
    assert made(assumes=("rows are rows",)).conditions == ("rows are rows", SECRET)
    assert made().conditions == (SECRET,)


def test_whoever_knows_the_seed_subtracts_the_noise():
    """Two training sets, one seed: the released weights differ by exactly what the models without noise differ by."""
    private = DPLogistic(epsilon=0.1, bound=1.0, method="output")
    rng, schema = np.random.default_rng(0), Schema((Column("x", low=-1, high=1),))
    X = rng.uniform(-1, 1, (50, 1))
    pair = [Dataset(X, y, schema) for y in (X[:, 0] > 0, X[:, 0] > 0.5)]
    noisy, exact = (
        [trainer.fit(data, np.ones((50, 1), dtype=bool), [np.random.default_rng(5)])[0].coef for data in pair]
        for trainer in (private, private.plain())
    )
    assert np.abs(noisy[0] - exact[0]).max() > 5
    np.testing.assert_allclose(noisy[0] - noisy[1], exact[0] - exact[1], atol=1e-6)


NUMBER = Column("age", low=0, high=99)


def schema_of(*columns, **fields):
    return Schema(columns, **fields)


def test_a_declared_schema_leaves_a_claim_as_it_is():
    claim = made(covers=("decisions", "explanations"))
    assert claim.on(schema_of(NUMBER, Column("sex", "category", categories=("f", "m")))) == claim
    assert claim.on(None) == claim


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        (schema_of(replace(NUMBER, known="observed")), "bounds and scale of 1 column (age) were"),
        (schema_of(replace(NUMBER, known="bounds")), "scale of 1 column (age) were"),
        (schema_of(Column("sex", "category", known="observed")), "categories of 1 column (sex) were"),
        (schema_of(NUMBER, outcome="observed"), "the classes of 'target' were"),
        (
            schema_of(*(Column(f"x{j}", known="observed") for j in range(8))),
            "bounds and scale of 8 columns (x0, x1, x2, x3, x4 and 3 more) were",
        ),
    ],
)
def test_a_constant_from_the_rows_voids_it_in_words(schema, says):
    claim = made(covers=("explanations",)).on(schema)
    assert claim.void.startswith(says)
    assert str(claim).startswith(f"VOID: {says}")
    assert "declare them in a schema file" in str(claim)
    assert claim.on(schema) == claim


def test_only_constants_that_reach_the_decisions_void_them():
    claim = made(covers=("decisions", "explanations"), decides=("bounds",))
    taken = schema_of(replace(NUMBER, known="bounds"), outcome="observed")
    narrowed = claim.on(taken)
    assert (narrowed.covers, narrowed.void) == (("decisions",), "")
    assert "explanations are not covered" in narrowed.assumes[-1]
    assert claim.of_explanations(taken).void
    assert claim.on(schema_of(replace(NUMBER, known="observed"))).void


TRAINED = [
    "dp_logistic(epsilon=1.0, bound=1.0)",
    'dp_logistic(epsilon=1.0, bound=1.0, scaling="declared")',
    "committee(dp_logistic(epsilon=1.0, bound=1.0), members=2)",
    "dp_sgd(mlp(hidden=[], epochs=1), epsilon=5.0, rate=1.0)",
    "shuffled_sgd(dp_sgd(mlp(hidden=[], epochs=1), epsilon=5.0, rate=1.0))",
]


def rows(known, kind="number"):
    X = np.arange(40.0)[:, None] % 2 if kind == "category" else np.linspace(-1, 1, 40)[:, None]
    column = Column("x", kind, -1, 1, categories=("a", "b") if kind == "category" else (), known=known)
    return Dataset(X, np.arange(40) > 19, Schema((column,)))


@pytest.mark.parametrize("spec", TRAINED)
@pytest.mark.parametrize("kind", ["number", "category"])
def test_every_private_trainer_says_at_fit_and_when_asked_that_its_claim_is_void(spec, kind):
    if "sgd" in spec:
        pytest.importorskip("torch")
    part, everybody, rngs = registry.build("model", spec), np.ones((40, 1), bool), [np.random.default_rng(0)]
    what = "categories" if kind == "category" else "bounds and scale"
    with pytest.warns(VoidClaim, match=f"VOID: {what} of 1 column"):
        part.fit(rows("observed", kind), everybody, rngs)
    assert part.guarantee(rows("observed", kind).schema).void.startswith(f"{what} of 1 column (x)")
    part.fit(rows("declared", kind), everybody, rngs)  # no warning, which would be an error
    assert not part.guarantee(rows("declared", kind).schema).void
    assert not part.guarantee().void


def test_a_fit_whose_explanations_alone_are_not_covered_says_so():
    part = registry.build("model", TRAINED[0])
    with pytest.warns(VoidClaim, match="does not cover explanations: scale of 1 column"):
        part.fit(rows("bounds"), np.ones((40, 1), bool), [np.random.default_rng(0)])
    assert part.guarantee(rows("bounds").schema).covers == ("decisions",)
    assert registry.build("model", TRAINED[1]).guarantee(rows("bounds").schema).void  # it scales by centre and spread


@pytest.mark.parametrize("name", ["public_direction", "above_threshold"])
def test_answers_along_a_public_direction_say_that_their_claim_is_void(name):
    part = registry.find("explain", name).example(1.0, 3)
    data = part.public.load()
    columns = tuple(replace(c, known="observed") for c in data.schema.columns)
    model = part.deployed().fit(data, np.ones((len(data), 1), bool), [np.random.default_rng(0)])[0]
    taken = replace(data.schema, columns=columns)
    with pytest.warns(VoidClaim, match=f"{name} is VOID: bounds and scale of 3 columns"):
        explained(part, model, data.X[:5], taken, None, np.random.default_rng(0))
    assert part.guarantee(taken).void
    assert not part.guarantee(data.schema).void
    explained(part, model, data.X[:5], data.schema, None, np.random.default_rng(0))


def test_a_void_claim_cannot_be_added_up():
    with pytest.raises(JaliError, match="cannot be counted, because its claim is void"):
        basic([made(), made(void="no key")])
