from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import jali
from jali.api import from_config
from jali.audit import queries
from jali.audit.setup import Experiment, Resources, load
from jali.config import checked, read
from jali.core import registry
from jali.core.errors import JaliError
from jali.data.table import Table
from jali.games.given_model import GivenModel
from jali.games.given_model_offline import GivenModelOffline
from jali.games.outsiders import Outsiders
from jali.games.rotate import Rotate

QUASI = ["age", "postcode"]


def people(n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    age, place = rng.integers(18, 80, n), rng.choice(["P1", "P2", "P3"], n)
    income = rng.integers(20, 40, n) * 100
    repaid = (income + rng.normal(0, 400, n) > 2900).astype(int)
    person = [f"p{i // 2}" for i in range(n)]
    return pd.DataFrame({"person": person, "age": age, "postcode": place, "income": income, "repaid": repaid})


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "own.csv"
    people().to_csv(path, index=False)
    return str(path)


def audit(path: str, **more):
    settings = {"data": path, "target": "repaid", "quasi": QUASI, "groups": "person", "explain": ["nice"], **more}
    return from_config(checked(settings), Resources())


def asked(found, metric: str, **which) -> float:
    return found.results.find(kind="query attack", metric=metric, **which)[0].value


@pytest.fixture(scope="module")
def linked(own):
    return audit(own, attack=["linkage"], explain=["nice", "k_anonymous(nice(), k=5)"])


def test_linkage_alone_asks_outsiders_and_trains_no_shadows(linked):
    assert linked.config.game == "outsiders(most=60)"
    assert linked.game.member.shape == (300, 5)
    assert not linked.results.find(kind="attack")
    assert linked.results.valid
    assert {t.channel for t in linked.results.threats} == {
        "linkage, querying nice",
        "linkage, querying k_anonymous(k=5)",
    }


def test_the_numbers_are_those_of_the_register(linked, own):
    """Brute force: each answer of nice is a training row, and whoever shares its age and postcode fits."""
    data = Table(own, "repaid", quasi=tuple(QUASI), groups="person").load()
    alone = asked(linked, "singled_out", explainer="nice")
    counts = []
    for column in linked.game.member.T:
        rows = data.X[column][:, :2]
        counts += [(rows == row).all(axis=1).sum() for row in rows]
    # A random training row is alone about as often as one that is shown.
    assert alone == pytest.approx(np.mean(np.array(counts) == 1), abs=0.15)
    assert asked(linked, "candidates", explainer="k_anonymous(k=5)") >= 5
    assert asked(linked, "singled_out", explainer="k_anonymous(k=5)") == 0
    assert asked(linked, "disclosed", explainer="nice") > asked(linked, "disclosed_baseline", explainer="nice")


def test_it_repeats_from_its_own_file(linked, tmp_path):
    linked.save(tmp_path)
    again = from_config(read(tmp_path / "audit.toml"), Resources())
    rows = [[r for r in a.results.rows if r.metric != "seconds"] for a in (linked, again)]
    assert rows[0] == rows[1]


def test_without_a_list_linkage_is_tried_beside_the_rest(own):
    found = audit(own, game="rotate(models=3)")
    assert found.results.find(kind="contrast", explainer="nice")
    assert asked(found, "singled_out", attack="linkage", knowledge="register") > 0.3
    assert found.config.game == "rotate(models=3)"
    assert found.game.member.shape[1] == 3
    assert found.results.facts["query attacks"]["targets"] == 5
    assert found.results.facts["query attacks"]["game"] == "outsiders(most=60)"
    plain = audit(own, game="rotate(models=3)", explain=["linear_recourse"])
    assert not plain.results.find(kind="query attack")


def test_without_quasi_identifiers_a_warning_says_what_was_not_tried(own):
    found = audit(own, quasi=[], game="rotate(models=3)", attack=["threshold"])
    assert any("nice shows rows of real people" in w for w in found.results.warnings)


def test_a_game_without_shadows_is_asked_alone(own):
    found = audit(own, game="outsiders(targets=2, most=30)")
    assert found.config.game == "outsiders(targets=2, most=30)"
    assert not found.results.find(kind="attack")
    assert asked(found, "candidates") >= 1


def test_attacks_on_labels_ask_the_model_and_its_surrogates(own):
    found = audit(own, attack=["label_only(perturbations=20)"], explain=["tree_surrogate"])
    assert found.config.game == "folds(shadows=0, most=2000)"
    rows = found.results.find(kind="query attack", metric="auc")
    assert [(r.explainer, r.knowledge) for r in rows] == [("", "noise"), ("tree_surrogate", "noise")]


def test_another_knowledge(own):
    found = audit(own, attack=["linkage"], knowledge="population_register")
    assert asked(found, "reidentified", knowledge="population_register") < 0.9


def test_a_fitted_model_of_ones_own():
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    table = people()
    y, X = table.pop("repaid").to_numpy(), table
    scale = make_column_transformer((StandardScaler(), ["age", "income"]), (OneHotEncoder(), ["postcode"]))
    model = make_pipeline(scale, LogisticRegression()).fit(X[:100].drop(columns="person"), y[:100])
    found = jali.audit(
        model,
        train=(X[:100], y[:100]),
        population=(X[100:], y[100:]),
        quasi=QUASI,
        groups="person",
        explain=["nice"],
        attack=["linkage"],
    )
    assert found.game.member.shape == (300, 1)
    assert found.game.member[:, 0].tolist() == [True] * 100 + [False] * 200
    assert asked(found, "singled_out") > 0
    assert any("call jali.audit again" in w for w in found.results.warnings)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"quasi": ["aeg"]}, r"quasi: the table has no column 'aeg' among its inputs; did you mean 'age'\?"),
        ({"quasi": ["repaid"]}, "quasi: 'repaid' is the target"),
        ({"groups": "persn"}, r"groups: the table has no column 'persn' beside the target; did you mean 'person'\?"),
        ({"sensitive": "agee"}, r"sensitive: the table has no column 'agee' among its inputs; did you mean 'age'\?"),
        ({"data": "lending", "target": "", "groups": ""}, "--quasi goes with a file of your own"),
        ({"quasi": [], "attack": ["linkage"]}, "no column of this table is one: name the columns"),
        (
            {"attack": ["linkage"], "explain": ["lime"]},
            "linkage reads counterfactuals, and no explainer named gives them",
        ),
        ({"attack": ["linkage"], "explain": []}, "add one, such as --explain nice"),
        ({"attack": ["vote"], "explain": ["trepan"]}, "vote reads a model for each record"),
        ({"attack": ["linkge"]}, "There is no attack called 'linkge'; did you mean linkage"),
        ({"attack": ["linkage"], "knowledge": "noise"}, "noise is no knowledge for linkage"),
        ({"attack": ["threshold"], "knowledge": "register"}, "register is no knowledge for any attack here"),
        ({"attack": ["minimality"]}, "This attack recomputes explanations"),
    ],
)
def test_errors_are_one_sentence(own, settings, says):
    with pytest.raises(JaliError, match=says):
        audit(own, **settings)


@pytest.mark.parametrize("explain", [[], ["input_x_gradient"]])
def test_knowledge_goes_with_a_named_attack_whatever_is_explained(own, explain):
    """It was refused unless an explainer showed rows of people, because linkage was asked about first."""
    found = audit(own, attack=["shokri_mia(shadow=logistic)"], knowledge="random", quasi=[], explain=explain)
    assert asked(found, "auc") == pytest.approx(0.5, abs=0.3)
    assert {row.knowledge for row in found.results.rows if row.metric == "auc"} == {"random"}


def test_python_refuses_columns_of_a_named_data_set():
    with pytest.raises(JaliError, match="quasi goes with tables of your own"):
        jali.audit(data="lending", quasi=["age"])


def played(own, design, runs, seed=0):
    parts = Experiment(Table(own, "repaid", quasi=("age",)), registry.build("model", "logistic"), design, seed=seed)
    return queries.own_game(load(parts).with_parts(runs=runs))


def test_the_game_of_query_attacks(own):
    links = queries.usual([registry.build("explain", "nice")])
    claims = queries.runs([registry.build("query_attack", "aloa")], [])
    assert played(own, Rotate(models=3), links).parts.game == Outsiders(most=60)
    assert registry.name_of(played(own, Rotate(models=3), claims).parts.game) == "folds"
    assert played(own, GivenModel(members=50, shadows=2), links).parts.game == queries.Targets(GivenModelOffline(50, 2))
    assert played(own, Outsiders(targets=2), links).parts.game == Outsiders(targets=2)


def test_a_game_that_leaves_people_out_is_kept_without_its_shadows_and_is_not_drawn_again(own):
    claims = queries.runs([registry.build("query_attack", "aloa")], [])
    design = registry.build("game", "thirds(targets=2, shadows=3)")
    parts = Experiment(Table(own, "repaid"), registry.build("model", "logistic"), design, runs=claims)
    whole = load(parts)
    mine = queries.own_game(whole)
    assert mine.parts.game == queries.Targets(design)
    assert mine.game.member.shape == (300, 2)
    np.testing.assert_array_equal(mine.game.member, whole.game.member[:, whole.game.targets])
    assert not mine.game.shadows.any()
    drawn = queries.Targets(design).draw(whole.data, np.random.default_rng(0))
    assert drawn.member.shape == (300, 2)


def test_attacks_are_told_apart_by_their_kind():
    lira = registry.build("attack", "lira")
    on_signals, on_oracles = queries.by_kind([lira, "aloa", f"{__name__}:Asks"])
    assert on_signals == (lira,)
    assert [registry.name_of(a) for a in on_oracles] == ["aloa", f"{__name__}:Asks"]


@dataclass(frozen=True)
class Asks:
    """A query attack of somebody else."""

    learns: ClassVar[str] = "membership"
    sees: ClassVar[str] = "labels"
    holds: ClassVar[str] = "rows"
    trains_shadows: ClassVar[bool] = False

    def run(self, oracle, known, records, rng):
        raise AssertionError("planning an attack must not run it")


def test_each_attack_queries_what_it_can_read():
    build = registry.build
    explainers = [build("explain", name) for name in ("nice", "lime", "trepan", "lore")]
    attacks = [build("query_attack", name) for name in ("linkage", "label_only", "vote")]
    made = [(registry.name_of(run.attack), run.queried) for run in queries.runs(attacks, explainers)]
    assert made == [("linkage", "nice"), ("label_only", ""), ("label_only", "trepan"), ("vote", "lore")]


def test_knowledge_goes_to_the_attacks_that_it_fits_and_the_rest_have_their_own():
    attacks = [registry.build("query_attack", name) for name in ("linkage", "label_only")]
    made = queries.runs(attacks, [registry.build("explain", "nice")], "population_register")
    assert [registry.name_of(run.knowledge) for run in made] == ["population_register", "noise"]


def test_what_is_not_tried_is_said_with_the_reason(own):
    nice = registry.build("explain", "nice")
    known = Table(own, "repaid", quasi=("age",)).load()
    plain = Table(own, "repaid").load()
    assert queries.untried([nice], queries.usual([nice]), known) == []
    assert queries.untried([registry.build("explain", "scfe")], (), known) == []
    assert "linkage is not among them" in queries.untried([nice], (), known)[0]
    assert "no column is marked" in queries.untried([nice], (), plain)[0]
