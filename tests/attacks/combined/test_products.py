"""Products of two columns whose shift differs from record to record."""

from __future__ import annotations

import numpy as np
import pytest

from jali.attacks._combined.products import Products, _scatter, _scatter_of, _squared_shifts, own_shift
from jali.attacks._combined.sums import Side, Sums
from jali.stats.intervals import contrast
from tests.attacks.combined.simulated import SHIFT, combined, everyone, evidence


def turned(rng, correlation, columns=2, n=1500, models=14, share=0.5):
    """Two columns that go together for members and apart for others, or the other way round, by the record."""
    member = rng.random((n, models)) < share
    x = rng.normal(size=(columns, n, models))
    along = rng.choice([-1.0, 1.0], (n, 1)) * np.where(member, correlation, -correlation)
    x[1] = along * x[0] + np.sqrt(1 - correlation**2) * x[1]
    return x, member


def difference(x, member, rng, targets=4):
    score = SHIFT * member + rng.normal(size=member.shape)
    value = rng.normal(0, 2, (1 + len(x), len(member), 1)) + np.concatenate([score[None], x])
    made = combined(evidence(value, member), game=everyone(member, targets))
    return contrast("auc", made.score["auc"], made.baseline["auc"], np.random.default_rng(0))[0]


@pytest.mark.parametrize(("columns", "least"), [(2, 0.105), (6, 0.1)])
def test_a_correlation_whose_sign_belongs_to_the_record_is_found(columns, least):
    """.124 and .118, of .147 that a ratio would gain which knows every sign; .000 where products were read for all
    records together only."""
    rng = np.random.default_rng(0)
    number = difference(*turned(rng, 0.6, columns), rng)
    assert number.value > least
    assert number.low > 0


@pytest.mark.parametrize(("n", "models", "share", "least"), [(390, 32, 0.5, 0.1), (1500, 12, 0.1, 0.02)])
def test_few_records_or_few_members_are_enough(n, models, share, least):
    """.12 of .147, and .05 of .14 where one model in ten trained on a record; nothing was read for either of them."""
    rng = np.random.default_rng([11, 0])
    number = difference(*turned(rng, 0.6, n=n, models=models, share=share), rng)
    assert number.value > least
    assert number.low > 0


def test_a_product_with_the_noise_of_a_shifted_score_is_found():
    """The score has a shift of two deviations; its noise goes with the column, by a sign of the record."""
    rng = np.random.default_rng([21, 1])
    x, member = turned(rng, 0.35)
    x[0] += 2 * member
    made = combined(evidence(rng.normal(0, 2, (2, len(member), 1)) + x, member), game=everyone(member, 8))
    number = contrast("auc", made.score["auc"], made.baseline["auc"], np.random.default_rng(0))[0]
    assert number.value > 0.001  # of .006; -.000 before
    assert number.low > 0


def without_levels(x, member):
    use = np.ones(member.shape, dtype=bool)
    return x - x.mean(axis=2, keepdims=True), use, member


def test_noise_has_no_products_that_are_read():
    """Correlated columns with shifts, far tails, models on levels of their own; 60 draws, each read in 1 of 1,000."""
    read = 0
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        member = rng.random((500, 9)) < 0.5
        x = rng.standard_t(2, (4, 500, 9)) + rng.normal(size=(4, 1, 9)) + rng.normal(size=(1, 500, 9)) + 0.5 * member
        read += Products.of(*without_levels(x, member)).size > 0
    assert read <= 1


def test_shifts_of_records_make_no_products():
    """Where more models trained on a record than not, its level lies nearer to members; products must not show that."""
    read = 0
    for seed in range(20):
        rng = np.random.default_rng([5, seed])
        member = rng.random((2000, 12)) < 0.5
        shift = rng.normal(2, 1, (3, 2000, 1))
        read += Products.of(*without_levels(shift * member + rng.normal(size=(3, 2000, 12)), member)).size > 0
    assert read <= 1


def test_the_product_that_tells_is_the_one_that_is_read():
    rng = np.random.default_rng(3)
    x, member = turned(rng, 0.5, columns=7)
    found = Products.of(*without_levels(x[[2, 0, 3, 4, 1, 5, 6]], member))
    assert found.used.tolist() == [1, 4]
    assert found.pair.tolist() == [[0, 1]]


def test_among_very_many_products_likely_ones_are_looked_at_again():
    """One of 4,950 products; on the records of the first look alone it is not beyond the limit for so many."""
    rng = np.random.default_rng(3)
    x, member = turned(rng, 0.45, columns=100, n=1600)
    found = Products.of(*without_levels(x, member))
    assert found.used.tolist() == [0, 1]
    null = Products.of(*without_levels(rng.normal(size=x.shape), member))
    assert not null.size


def test_the_second_look_counts_like_the_first():
    rng = np.random.default_rng(4)
    x, member = turned(rng, 0.4, columns=5, n=300, models=12)
    rest, use, _ = without_levels(x, member)
    enough = np.minimum(member.sum(axis=1), (~member).sum(axis=1)) >= 2
    given = rest[:, enough], use[enough], member[enough]
    whole = _scatter(*given)
    some = _scatter_of(whole.pair[[0, 7]], *given)
    np.testing.assert_allclose(some.size, whole.size[[0, 7]])
    np.testing.assert_allclose(some.error, whole.error[[0, 7]])


def test_many_small_shifts_are_read_together():
    """A factor of six columns with signs of the record, which members have."""
    rng = np.random.default_rng(6)
    member = rng.random((1000, 16)) < 0.5
    along = rng.choice([-1.0, 1.0], (6, 1000, 1)) * rng.normal(size=(1, *member.shape))
    x = rng.normal(size=(6, *member.shape)) + 0.45 * along * member
    found = Products.of(*without_levels(x, member))
    assert len(found.pair) > 10


def test_squared_shifts_by_hand():
    """One record, two columns. In-models (1, 1) and (3, 1): products 1 and 3; out-models (2, 0) and (0, 5): 0 and 0."""
    x = np.array([[[1.0, 3.0, 2.0, 0.0], [1.0, 1.0, 0.0, 5.0]]])
    member = np.array([[True, True, False, False]])
    found = _squared_shifts(x, np.ones((1, 4), dtype=bool), member)[0]
    # The mean of 1 and 3 is 2, its variance 2; half of that is the noise of their mean.
    assert found[0, 1] == pytest.approx(2**2 - 2 / 2)
    # Squares of the first: 1, 9 and 4, 0: means 5 and 2, variances 32 and 8.
    assert found[0, 0] == pytest.approx(3**2 - 32 / 2 - 8 / 2)


def test_squared_shifts_have_no_bias():
    """Known shifts of .6 in the product of two columns, of either sign by record."""
    rng = np.random.default_rng(2)
    x, member = turned(rng, 0.3, n=20_000, models=10)
    enough = np.minimum(member.sum(axis=1), (~member).sum(axis=1)) >= 2
    use = np.ones((int(enough.sum()), 10), dtype=bool)
    found = _scatter(x[:, enough], use, member[enough])
    assert found.pair.tolist() == [[0, 1]]
    assert found.size[0] == pytest.approx(0.36, abs=4 * found.error[0])
    assert found.whole == pytest.approx((found.size[0], found.error[0]))


def test_the_ratio_about_a_middle_is_that_of_products_made_anew():
    """Means of products less a level come from sums about another level; here they are made from the cells."""
    rng = np.random.default_rng(7)
    x, member = turned(rng, 0.5, n=60, models=8)
    rest, use, _ = without_levels(x, member)
    products = Products(np.array([[0, 1], [1, 1]]), np.array([0, 1]), np.ones(2), np.zeros((2, 2)))
    zero = np.zeros((4, 60))
    made = products(rest, member)
    sums = Sums.of(lambda rows: (made[:, rows], zero[:, rows]), 4, use, member, np.ones((1, 8), dtype=bool))
    middle = rng.normal(size=(2, 60))
    for side, mine in zip(sums.sides(), (~member, member), strict=True):
        moved = np.clip(rest, -4, 4) - middle[:, :, None]
        for p, (a, b) in enumerate(products.pair):
            count = np.maximum(mine.sum(axis=1), 1)
            wanted = np.where(mine, moved[a] * moved[b], 0.0).sum(axis=1) / count
            there = mine.any(axis=1)
            np.testing.assert_allclose(products._about(middle, side).mean[p][there], wanted[there], atol=1e-12)


def test_a_ratio_by_hand():
    """Shifts 4 and -4 with noise 1/2 + 1/2 each: their scatter is 16 - 1, so 15/16 of each is believed."""
    counts = np.array([2.0, 2.0])
    outside = Side(counts, np.array([[0.0, 6.0]]), np.ones((1, 2)))
    inside = Side(counts, np.array([[4.0, 2.0]]), np.ones((1, 2)))
    # Middles 2 and 4; their mean 3, their scatter 1 less the noise of four cells, 1/4.
    trust = 0.75
    middle = 3 + trust * np.array([-1.0, 1.0])
    shift = np.array([3.75, -3.75])
    product = np.array([[1.0, 1.0]])
    np.testing.assert_allclose(own_shift(product, product, outside, inside), [shift * (1 - middle)])
    # A member's product is 3 where another's is 1; the variance is one.
    member = middle + shift / 2
    other = middle - shift / 2
    wanted = member * (3 - member / 2) - other * (1 - other / 2)
    np.testing.assert_allclose(own_shift(product + 2, product, outside, inside), [wanted])
