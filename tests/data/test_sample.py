import numpy as np
import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Schema
from jali.data.adult import Adult
from jali.data.digits import Digits
from jali.data.sample import Sample
from jali.data.table import Table
from jali.data.tables import files
from jali.data.tables.catalogue import catalogue
from jali.games.thirds import Thirds


class Visits:
    """One hundred patients, 300 visits, one in ten with a bad end; the first column is the number of the row."""

    def load(self) -> Dataset:
        rows = np.arange(300)
        return Dataset(rows[:, None], rows % 10 == 0, Schema((Column("row"),), ("no", "yes"), 0), rows // 3)


def rows_of(data: Dataset) -> list[int]:
    return data.X[:, 0].astype(int).tolist()


def test_rows_come_whole_once_and_in_their_order():
    data = Sample(Visits(), 40).load()
    kept = rows_of(data)
    assert len(set(kept)) == 40
    assert kept == sorted(kept)
    np.testing.assert_array_equal(data.y, np.array(kept) % 10 == 0)
    np.testing.assert_array_equal(data.groups, np.array(kept) // 3)
    assert data.schema == Visits().load().schema


def test_every_row_has_the_same_chance():
    hits = np.zeros(300)
    for seed in range(400):
        hits[rows_of(Sample(Visits(), 30, seed=seed).load())] += 1
    # 400 draws at 1 in 10: 40 each, standard deviation 6.
    assert hits.sum() == 400 * 30
    assert np.abs(hits - 40).max() < 5 * 6


def test_classes_are_balanced_and_every_row_of_a_class_has_the_same_chance():
    hits = np.zeros(300)
    for seed in range(400):
        data = Sample(Visits(), 30, balanced=True, seed=seed).load()
        assert np.bincount(data.y).tolist() == [15, 15]
        assert rows_of(data) == sorted(rows_of(data))
        hits[rows_of(data)] += 1
    rare = np.arange(300) % 10 == 0
    for side, expected in ((rare, 200), (~rare, 400 * 15 / 270)):
        assert np.abs(hits[side] - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize("balanced", [False, True])
def test_a_smaller_draw_is_part_of_a_larger_one_and_the_seed_settles_it(balanced):
    small, large = (set(rows_of(Sample(Visits(), n, balanced).load())) for n in (20, 60))
    assert small < large
    assert small == set(rows_of(Sample(Visits(), 20, balanced).load()))
    assert small != set(rows_of(Sample(Visits(), 20, balanced, seed=1).load()))


def test_what_is_skipped_is_what_a_draw_of_that_size_takes():
    first, rest = Sample(Digits(), n=300, seed=4), Sample(Digits(), n=1497, seed=4, skip=300)
    both = np.concatenate([first.load().X, rest.load().X])
    whole = Digits().load().X
    assert np.array_equal(np.unique(both, axis=0), np.unique(whole, axis=0))
    with pytest.raises(JaliError, match=r"1,797 rows, not 1,798"):
        Sample(Digits(), n=1498, seed=4, skip=300).load()


def test_all_rows_are_the_data_set():
    data = Sample(Visits(), 300).load()
    assert rows_of(data) == list(range(300))


def test_games_keep_the_rows_of_a_person_together():
    data = Sample(Visits(), 150).load()
    game = Thirds(targets=1, shadows=2).draw(data, np.random.default_rng(0))
    for person in np.unique(data.groups):
        assert len(np.unique(game.member[data.groups == person], axis=0)) == 1


@pytest.mark.parametrize(
    ("n", "balanced", "says"),
    [
        (301, False, r"sample: the data set has 300 rows, not 301: choose a smaller n\."),
        (62, True, r"sample: 31 rows of each class were asked for, but class 'yes' has 30: choose n of at most 60\."),
        (31, True, r"sample: n = 31 cannot be shared equally by 2 classes; use a multiple\."),
    ],
)
def test_says_how_many_rows_there_are(n, balanced, says):
    with pytest.raises(JaliError, match=says):
        Sample(Visits(), n, balanced).load()


@pytest.mark.parametrize("fields", [{"n": 0}, {"n": -5}, {"n": 5, "seed": -1}, {"n": 5, "skip": -1}])
def test_refuses_what_cannot_be_drawn(fields):
    with pytest.raises(JaliError, match="sample: n must be at least 1, seed and skip at least 0"):
        Sample(Visits(), **fields)


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("sample(adult(), n=15000)", "sample(source=adult, n=15000)"),
        ("sample(diabetes130(), n=15000, balanced=True)", "sample(source=diabetes130, n=15000, balanced=true)"),
        ('sample(cmc(target="method"), 500, seed=3)', 'sample(source=cmc(target="method"), n=500, seed=3)'),
        ("sample(sample(digits, 500), 20)", "sample(source=sample(source=digits, n=500), n=20)"),
        ('sample(table("a.csv", "y"), 5)', 'sample(source=table(path="a.csv", target="y"), n=5)'),
    ],
)
def test_specification_comes_back(text, full):
    source = registry.build("data", text)
    assert registry.spec(source) == full
    assert registry.build("data", full) == source
    assert registry.build("data", registry.spec(source, every=True)) == source


def test_keys_follow_the_data_set_inside_and_the_draw():
    texts = [
        "sample(digits, 9)",
        "sample(breast_cancer, 9)",
        "sample(digits, 8)",
        "sample(digits, 9, seed=1)",
        "digits",
    ]
    assert len({registry.key(registry.build("data", text)) for text in texts}) == len(texts)
    assert registry.key(Sample(Digits(), 9)) == registry.key(registry.build("data", "sample(digits(), n=9)"))


def test_it_names_what_it_needs():
    with pytest.raises(JaliError, match="sample needs n"):
        registry.build("data", "sample(digits)")


def test_origin_licence_and_files_are_those_of_the_whole():
    source = Sample(Adult(), 15_000)
    assert source.origin == f"15,000 rows of: {Adult.origin}"
    assert (source.licence, source.files) == (Adult.licence, Adult.files)
    assert files.present(Sample(Table("a.csv", "y"), 5))
    assert (Sample(Visits(), 5).licence, Sample(Visits(), 5).files) == ("yours", ())


def test_the_list_of_data_sets_names_only_what_stands_alone():
    listed = {entry.name for entry in catalogue()}
    assert {"adult", "digits", "lending"} <= listed
    wrappers = {"sample", "continuous", "unit_rows", "without", "declared", "features"}
    assert set(registry.names("data")) - listed == wrappers | {"table"}


def test_a_balanced_sample_of_stays_keeps_patients(real):
    data = real("sample(diabetes130(), n=15000, balanced=True)")
    assert np.bincount(data.y).tolist() == [7500, 7500]
    assert len(np.unique(data.groups)) < 15_000
    assert len(real("sample(adult(), n=15000)")) == 15_000
