from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest

from jali.anonymity.disclosure import diversity, together
from jali.anonymity.measures import matching, ncp, pureness
from jali.audit.all_models import gather
from jali.audit.setup import Experiment, Resources, load
from jali.audit.summary import measures
from jali.core import registry
from jali.core.errors import JaliError
from jali.core.explanation import Counterfactual, Regions
from jali.core.values import Column, Dataset, Schema
from jali.data.tables import files
from jali.data.tables.frames import dataset, frame
from jali.defend.explain.k_anonymous import KAnonymous
from jali.defend.explain.mondrian import Mondrian
from jali.explain.nice import NICE
from jali.explain.scfe import SCFE
from jali.models.sklearn import Sklearn
from jali.text.sentences import sentences
from tests.anonymity.tables import LISA, TOY, Rule, bank, mixed, settled, toy
from tests.explaining import Direct, explained, protected

QUASI = np.array([0, 2, 3, 4])
FOLDER = Path(os.environ.get("JALI_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data")


def answers(part, model, X, train):
    return explained(part, model, X, train.schema, train, np.random.default_rng(0))


def setting(n=400, seed=0):
    """Training rows, a model of them, and people who ask."""
    train, model = mixed(n, seed, ages=30, hard=1.5)
    X = mixed(200, 99, ages=30)[0].X
    return train, model, X[model.logits(X).argmax(axis=1) == 0]


@dataclasses.dataclass(frozen=True)
class Fixed(Direct):
    """Answers with given training rows."""

    rows: tuple[int, ...]
    gives = "counterfactual"
    reads_training_data = True
    wants = "labels"

    def answer(self, model, X, schema, train, rng):
        at = np.array(self.rows)
        return Counterfactual(np.where(at[:, None] >= 0, train.X[at], X), at >= 0, origin=at)


def test_the_published_example_from_end_to_end():
    out = answers(KAnonymous(k=3, alpha=1), bank(), LISA, toy())
    assert out.origin.tolist() == [5]
    assert (out.regions.low[0, 0], out.regions.high[0, 0]) == (24, 27)
    assert matching(out.regions, toy()).tolist() == [3]
    assert ncp(out.regions, toy())[0] == pytest.approx(0.021, abs=5e-4)
    assert pureness(bank(), out.regions, toy(), np.array([1]), np.random.default_rng(0)).value[0] == 0.5
    assert out.rows.tolist() == [[24, 0, 0, 60, 3]]
    assert sentences(LISA, out, TOY)[0].startswith("If age were 3 to 6 higher (24 to 27, not 21), city Antwerp")


@pytest.mark.parametrize(("solver", "k"), [("grasp", 2), ("grasp", 50), ("optimal", 10), ("as_released", 10)])
def test_every_answer_matches_k_people_by_a_count_of_its_own(solver, k):
    train, model, X = setting()
    out = answers(KAnonymous(k=k, solver=solver), model, X, train)
    assert out.found.any()
    for low, high, allowed in zip(
        out.regions.low[out.found], out.regions.high[out.found], out.regions.allowed[out.found], strict=True
    ):
        same = 0
        for row in train.X:
            numbers = all(low[j] <= row[j] <= high[j] for j in (0, 2))
            same += numbers and all(allowed[j, int(row[j])] for j in (3, 4))
        assert same >= k


def test_what_is_private_stays_that_of_the_row_shown():
    train, model, X = setting()
    out = answers(KAnonymous(), model, X, train)
    shown = out.found
    np.testing.assert_array_equal(out.regions.low[shown, 1], train.X[out.origin[shown], 1])
    np.testing.assert_array_equal(out.regions.high[shown, 1], train.X[out.origin[shown], 1])
    assert out.regions.covers(train.X)[shown, out.origin[shown]].all()
    assert out.regions.covers(out.rows)[shown, np.flatnonzero(shown)].all()


@pytest.mark.parametrize(
    "part", [KAnonymous(), KAnonymous(solver="optimal"), KAnonymous(repair="interval"), Mondrian()]
)
def test_no_array_of_an_answer_tells_which_category_the_person_shown_has(part):
    """What is not read of a region must not hold the person's own code either."""
    train, model, X = setting()
    seen = answers(part, model, X, train).public()
    assert seen.origin is None
    regions = seen.regions.pick(seen.found)
    assert (regions.allowed[:, 3].sum(axis=1) > 1).any()
    for j in (3, 4):
        codes = [np.flatnonzero(some) for some in regions.allowed[:, j]]
        assert regions.low[:, j].tolist() == [some[0] for some in codes]
        assert regions.high[:, j].tolist() == [some[-1] for some in codes]


def test_repair_leaves_no_private_category_of_one_person():
    told = answers(KAnonymous(k=3, alpha=1, repair="interval"), bank(), LISA, toy()).regions
    assert np.flatnonzero(told.allowed[0, 4]).tolist() == [1, 3]
    assert (told.low[0, 4], told.high[0, 4]) == (1, 3)


def test_the_solvers_in_order():
    train, model, X = setting()
    loss, pure = {}, {}
    counterfactuals = explained(NICE(immutable="free"), model, X, train.schema, train, np.random.default_rng(0))
    for solver in ("grasp", "optimal", "as_released"):
        kept = protected(KAnonymous(solver=solver), model, counterfactuals, train)
        loss[solver], pure[solver] = kept.loss, kept.pure
        np.testing.assert_allclose(ncp(kept.regions, train), kept.loss, atol=1e-12)
        wanted = np.ones(len(kept.loss), dtype=int)
        exact = pureness(model, kept.regions, train, wanted, np.random.default_rng(0), most=10**5)
        np.testing.assert_allclose(exact.value, kept.pure)
    assert (loss["optimal"] <= loss["grasp"] + 1e-12).all()
    assert (pure["optimal"] >= pure["grasp"] - 1e-9).all()
    assert loss["grasp"].mean() < loss["as_released"].mean()
    cut = answers(Mondrian(), model, X, train)
    assert loss["grasp"].mean() < ncp(cut.regions.pick(cut.found), train).mean()


def test_one_row_is_widened_in_one_way_whoever_asks():
    """Answers of different calls and streams about one person are the same, so they have nothing to intersect."""
    train, model, X = setting()
    part = KAnonymous(inner=Fixed((3,) * 5 + (7,) * 5))
    first = answers(part, model, X[:10], train)
    again = explained(part, model, X[20:30], train.schema, train, np.random.default_rng(5))
    np.testing.assert_array_equal(first.regions.low, again.regions.low)
    np.testing.assert_array_equal(first.regions.allowed, again.regions.allowed)
    assert (together(first.regions, train) >= 10).all()


def test_repair_hides_what_one_person_has():
    train, model, X = setting()
    plain, told = (answers(KAnonymous(repair=r), model, X, train) for r in ("none", "interval"))
    shown = plain.found
    np.testing.assert_array_equal(plain.found, told.found)
    np.testing.assert_array_equal(plain.regions.low[shown][:, QUASI], told.regions.low[shown][:, QUASI])
    assert (told.regions.high[shown, 1] > told.regions.low[shown, 1]).all()
    assert ncp(plain.regions.pick(shown), train, role="private").max() == 0
    assert ncp(told.regions.pick(shown), train, role="private").min() > 0.1
    assert diversity(told.regions.pick(shown), train, "income").distinct.min() >= 10


def test_weights_move_the_loss_to_what_counts_less():
    train, model, X = setting()
    counterfactuals = explained(NICE(immutable="free"), model, X, train.schema, train, np.random.default_rng(0))
    weighted = KAnonymous(solver="optimal", weights=(100.0, 1.0, 1.0, 1.0), floor=0.0)
    dear = protected(weighted, model, counterfactuals, train)
    even = protected(KAnonymous(solver="optimal", floor=0.0), model, counterfactuals, train)
    wide = [(kept.regions.high - kept.regions.low)[:, 0].mean() for kept in (dear, even)]
    assert wide[0] < wide[1]


def test_a_floor_withholds_what_is_not_pure_enough():
    train, model, X = setting()
    free = answers(KAnonymous(), model, X, train)
    strict = answers(KAnonymous(floor=1.0), model, X, train)
    assert strict.found.sum() < free.found.sum()
    said = pureness(model, free.regions, train, np.ones(len(X), int), np.random.default_rng(0), most=10**5).value
    np.testing.assert_array_equal(strict.found, free.found & (said == 1))
    best = answers(KAnonymous(solver="optimal", floor=1.0), model, X, train)
    assert best.found.sum() >= strict.found.sum()
    after = model.logits(best.rows).argmax(axis=1)
    assert (after[best.found] == 1).all()


def test_what_cannot_be_hidden_is_withheld():
    """One person is accepted, and k - 1 others with the outcome do not exist."""
    train, _, _ = setting(30)
    lone = Rule(lambda Z: (train.X[4, 1] == Z[:, 1]) & (Z[:, 0] == train.X[4, 0]))
    X = train.X[:3]
    out = answers(KAnonymous(k=10, inner=Fixed((4, -1, 4))), lone, X, train)
    assert not out.found.any()
    assert (out.origin == -1).all()
    np.testing.assert_array_equal(out.rows, X)
    np.testing.assert_array_equal(out.regions.low, X)


def test_rows_of_one_person_count_once():
    train, model, X = setting()
    twice = Dataset(np.repeat(train.X, 5, axis=0), np.repeat(train.y, 5), train.schema, np.repeat(np.arange(400), 5))
    out = answers(KAnonymous(k=10), model, X, twice)
    for i in np.flatnonzero(out.found)[:20]:
        fits = out.regions.pick(np.array([i])).covers(twice.X, QUASI)[0]
        assert len(np.unique(twice.groups[fits])) >= 10


def test_the_order_of_records_and_the_stream_change_nothing():
    train, model, X = setting()
    part = KAnonymous()
    first = answers(part, model, X, train)
    back = explained(part, model, X[::-1], train.schema, train, np.random.default_rng(8))
    np.testing.assert_array_equal(first.rows, back.rows[::-1])
    np.testing.assert_array_equal(first.found, back.found[::-1])


def test_without_a_favourable_class_the_class_of_the_row_shown_is_promised():
    train, model, _ = setting()
    train = dataclasses.replace(train, schema=dataclasses.replace(train.schema, favourable=None))
    out = answers(KAnonymous(k=5), model, train.X[:50], train)
    before = model.logits(train.X[:50]).argmax(axis=1)
    assert out.found.any()
    assert (model.logits(train.X[out.origin])[out.found].argmax(axis=1) != before[out.found]).all()


def test_specification():
    part = KAnonymous(
        NICE(candidates="justified"), k=5, solver="optimal", floor=0.9, weights=(1.0, 2.0), repair="interval"
    )
    assert registry.build("explain", registry.spec(part, every=True)) == part
    assert registry.build("explain", "k_anonymous(nice(), k=10)") == KAnonymous()
    assert not hasattr(part, "guarantee")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("k_anonymous(k=1)", "k must be at least 2"),
        ("k_anonymous(alpha=0)", "alpha and iterations at least 1"),
        ("k_anonymous(floor=1.5)", "floor must be a share"),
        ('k_anonymous(solver="best")', "one of grasp, optimal, mutual, as_released"),
        ('k_anonymous(order=["age"])', 'read by solver="as_released" alone'),
    ],
)
def test_bad_fields_are_one_sentence(spec, says):
    with pytest.raises(JaliError, match=says):
        registry.build("explain", spec)


def test_bad_input_is_one_sentence():
    train, model, X = setting()
    with pytest.raises(JaliError, match="k = 401 is more than the 400 people"):
        answers(KAnonymous(k=401), model, X, train)
    private = dataclasses.replace(
        train.schema, columns=tuple(dataclasses.replace(c, role="private") for c in train.schema.columns)
    )
    with pytest.raises(JaliError, match="no column of this table is one"):
        answers(KAnonymous(), model, X, dataclasses.replace(train, schema=private))
    with pytest.raises(JaliError, match="pass them as train"):
        explained(KAnonymous(), model, X, train.schema, None, np.random.default_rng(0))
    with pytest.raises(JaliError, match="that the model predicts as '1', and there are none"):
        answers(KAnonymous(), Rule(lambda Z: Z[:, 0] < 0), X, train)
    strange = X.copy()
    strange[0, 3] = 4
    with pytest.raises(JaliError, match="'job' holds a category the schema does not name"):
        answers(KAnonymous(), model, strange, train)
    with pytest.raises(JaliError, match="one positive number for each of age, children, job, sex"):
        answers(KAnonymous(weights=(1.0,)), model, X, train)


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        (1, np.nan, "'income' holds a missing or infinite value"),
        (3, np.nan, "'job' holds a missing or infinite value"),
        (3, 4, "'job' holds a category the schema does not name: add it there, or drop such rows"),
        (3, -1, "'job' holds a category"),
        (3, 0.5, "'job' holds a category"),
    ],
)
@pytest.mark.parametrize("part", [KAnonymous(), Mondrian(), NICE()])
def test_gaps_and_unseen_categories_are_refused_wherever_they_stand(part, column, value, says):
    train, model, X = setting()
    strange = X.copy()
    strange[7, column] = value
    with pytest.raises(JaliError, match=says):
        answers(part, model, strange, train)
    table = train.X.copy()
    table[7, column] = value
    with pytest.raises(JaliError, match=says):
        answers(part, model, X, Dataset(table, train.y, train.schema))
    with pytest.raises(JaliError, match="Rows of 5 columns were expected"):
        answers(part, model, X[:, :4], train)


def test_a_quasi_identifier_that_is_no_column():
    table = frame(*(getattr(toy(), name) for name in ("X", "schema"))).assign(outcome=toy().y)
    with pytest.raises(JaliError, match="quasi: the table has no column 'town'"):
        dataset(table, "outcome", quasi=["age", "town"])


def test_withheld_answers_are_counted():
    """A run says what share of the records was answered: less, if every answer must be pure."""
    game, model = registry.build("game", "outsiders(targets=2, most=60)"), registry.build("model", "logistic")
    data = registry.build("data", "lending(n=400)")
    explainers = tuple(
        registry.build("explain", f'k_anonymous(nice(immutable="free"), k=5{more})') for more in ("", ", floor=1.0")
    )
    setup = load(Experiment(data, model, game, explainers))
    found = gather(setup, Resources())
    rows = measures(found.evidence, setup.game, found.quality, {})
    share = {row.explainer: row.value for row in rows if row.metric == "answered"}
    free, strict = (share[registry.spec(explainer)] for explainer in explainers)
    assert 0 < strict < free
    people = [row.value for row in rows if row.metric == "anonymity_set"]
    assert min(people) >= 5


def test_explainers_that_show_no_training_rows_are_refused():
    train, _, X = setting()
    logistic = registry.build("model", "logistic").fit(train, np.ones((400, 1), bool), [np.random.default_rng(0)])[0]
    X = X[logistic.logits(X).argmax(axis=1) == 0]
    with pytest.raises(JaliError, match="SCFE does not say which rows it shows: wrap nice or face"):
        answers(KAnonymous(SCFE()), logistic, X, train)
    with pytest.raises(JaliError, match="wrap nice without an optimisation"):
        answers(KAnonymous(NICE("sparsity")), logistic, X, train)


@pytest.mark.parametrize("name", ["heart", "cmc", "german"])
def test_real_tables(name, monkeypatch):
    """Every answer matches ten training rows, `optimal` is proved and never worse, Mondrian loses more."""
    monkeypatch.setenv("JALI_DATA", str(FOLDER))
    source = registry.build("data", name)
    if not files.present(source):
        pytest.skip(f"the files of {name} are not in {FOLDER}; set JALI_DATA to the folder that holds them")
    data = source.load()
    order = np.random.default_rng(0).permutation(len(data))
    cut = int(0.6 * len(data))
    train, X = data.rows(order[:cut]), data.X[order[cut:]]
    forest = Sklearn("sklearn.ensemble:RandomForestClassifier", "n_estimators=50")
    model = forest.fit(train, np.ones((cut, 1), bool), [np.random.default_rng(0)])[0]
    X = X[model.logits(X).argmax(axis=1) != data.schema.favourable][:15]
    free = NICE(immutable="free")
    counterfactuals = explained(free, model, X, data.schema, train, np.random.default_rng(0))
    ours, best = (protected(KAnonymous(free, solver=s), model, counterfactuals, train) for s in ("grasp", "optimal"))
    assert ours.able.all()
    assert min(ours.people.min(), best.people.min()) >= 10
    assert (best.loss <= ours.loss + 1e-12).all()
    assert (best.loss - best.bound < 1e-9).mean() > 0.9
    cut_up = answers(Mondrian(free), model, X, train)
    assert ours.loss[ours.who.of].mean() < ncp(cut_up.regions, train).mean()


def test_a_floor_is_kept_where_an_estimate_would_pass():
    """More combinations than are asked about at first: one of them in 3,600 breaks the promise."""
    rng = np.random.default_rng(0)
    names = [Column(f"q{j}", "integer", 0, 59, role="quasi") for j in range(2)]
    schema = Schema((*names, Column("income")), favourable=1)
    X = np.column_stack([rng.permutation(60), rng.permutation(60), rng.random(60)]).astype(float)
    train = Dataset(X, np.ones(60, dtype=int), schema)
    spare = next((a, b) for a in range(60) for b in range(60) if not ((X[:, 0] == a) & (X[:, 1] == b)).any())
    model = Rule(lambda Z: (Z[:, 2] >= 0) & ~((Z[:, 0] == spare[0]) & (Z[:, 1] == spare[1])))
    counterfactuals = Counterfactual(X[:1], np.array([True]), origin=np.array([0]))
    asked = protected(KAnonymous(k=60, floor=0.999), model, counterfactuals, train)
    assert asked.pure.tolist() == [3599 / 3600]
    assert asked.able.all()
    assert not protected(KAnonymous(k=60, floor=1.0), model, counterfactuals, train).able.any()


def test_nothing_of_a_withheld_answer_is_left():
    train, model, X = setting()
    out = answers(KAnonymous(solver="optimal", k=150, floor=1.0), model, X, train)
    assert out.withheld.any()
    assert np.array_equal(out.withheld, ~out.found)
    assert np.array_equal(out.rows[out.withheld], X[out.withheld])
    assert (out.origin[out.withheld] == -1).all()
    assert not out.gap[out.withheld].any()
    assert out.regions.pick(out.withheld).same(Regions.of(X[out.withheld], train.schema)).all()


def test_people_with_several_rows_are_no_proof():
    """A person counts at one row, so a smaller region may hold k people."""
    train, model, X = setting()
    same = Dataset(train.X, train.y, train.schema, groups=np.arange(len(train)) // 2)
    assert answers(KAnonymous(solver="optimal"), model, X[:20], train).gap.max() == 0
    assert (answers(KAnonymous(solver="optimal"), model, X[:20], same).gap > 0).all()


@pytest.mark.parametrize(
    "part",
    [
        *(KAnonymous(solver=solver, k=5) for solver in ("grasp", "optimal", "mutual", "as_released")),
        Mondrian(k=5),
        Mondrian(k=5, widths="raw"),
    ],
)
def test_what_the_asker_shares_with_the_person_shown_is_not_widened(part):
    """Whoever knows who asked knows these values of the person shown: k people must have them."""
    train, model, X = setting(600)
    train = settled(train)
    out = answers(part, model, X, train)
    assert out.found.mean() > 0.5
    regions = out.regions.pick(out.found)
    assert (regions.low[:, 2] == X[out.found, 2]).all()
    assert (regions.high[:, 2] == X[out.found, 2]).all()
    assert (regions.allowed[:, 4].sum(axis=1) == 1).all()
    fits = regions.covers(train.X, QUASI)
    agree = (train.X[:, None, [2, 4]] == X[out.found][:, [2, 4]]).all(axis=2).T
    assert ((fits & agree).sum(axis=1) >= 5).all()
    free = dataclasses.replace(part, inner=NICE(immutable="free"))
    wide = answers(free, model, X, train).regions
    assert ((wide.allowed[:, 4].sum(axis=1) == 2) | (wide.low[:, 2] < wide.high[:, 2])).any()
