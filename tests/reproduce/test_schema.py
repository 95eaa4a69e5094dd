from __future__ import annotations

import re

import pytest

from jali.core import registry
from jali.core.errors import JaliError
from jali.reproduce import schema
from jali.reproduce.as_released import with_released

SMALL = """
title = "A title"
citation = "Somebody, somewhere"
[methods]
"CFD" = { explain = "linear_recourse", signal = "counterfactual_distance", attack = "threshold" }
[studies.s]
data = "linear_gaussian(n=90, d=2)"
model = "logistic"
game = "thirds(targets=2, shadows=2)"
methods = ["CFD"]
[studies.s.smoke]
data = "linear_gaussian(n=30, d=2)"
"""


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize("name", schema.papers())
def test_every_paper_builds_its_parts_at_every_scale(name):
    paper = schema.read(name)
    for setup in paper.studies.values():
        for scale in setup.scales:
            there = setup.at(scale)
            for kind in ("data", "model", "game"):
                if not there.scores:
                    registry.build(kind, getattr(there, kind))
    read = {name for setup in paper.studies.values() if not setup.scores for name in setup.methods}
    for name, method in paper.methods.items():
        for kind in ("attack", "query_attack", "knowledge"):
            if text := getattr(method, kind):
                registry.build(kind, text)
        for signal in method.signals if name in read else ():
            registry.build("signal", signal)
        for explainer in filter(None, (method.explain, method.among)):
            registry.build("explain", explainer)


@pytest.mark.parametrize("name", schema.papers())
def test_every_published_metric_has_a_tolerance(name):
    for table in schema.read(name).tables:
        for methods in table.published.values():
            for numbers in methods.values():
                assert set(numbers) <= set(table.tolerance), table.source


def test_a_scale_changes_what_it_names(tmp_path):
    setup = schema.read(written(tmp_path, SMALL)).studies["s"]
    assert setup.at("smoke").data == "linear_gaussian(n=30, d=2)"
    assert setup.at("standard") == setup
    assert setup.at("smoke").model == "logistic"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("methods = [", 'methods = ["LRT", '), "no method 'LRT'"),
        (("[studies.s]", "[studies.s]\nmodle = 'x'"), "modle"),
        (("[studies.s.smoke]\ndata", "[studies.s.smoke]\ndata ="), "not valid TOML"),
        (('model = "logistic"\n', ""), "model"),
    ],
)
def test_a_file_with_a_slip_is_one_sentence(tmp_path, change, words):
    with pytest.raises(JaliError, match=words):
        schema.read(written(tmp_path, SMALL.replace(*change)))


def test_a_study_takes_over_what_it_does_not_change(tmp_path):
    paper = schema.read(written(tmp_path, SMALL + '\n[studies.t]\nlike = "s"\nmodel = "logistic(C=2.0)"\n'))
    assert paper.studies["t"].data == paper.studies["s"].data
    assert paper.studies["t"].smoke == paper.studies["s"].smoke
    assert paper.studies["t"].model == "logistic(C=2.0)"
    with pytest.raises(JaliError, match="does not stand above"):
        schema.read(written(tmp_path, SMALL + '\n[studies.t]\nlike = "u"\n'))


def test_a_sentence_must_speak_of_what_is_there(tmp_path):
    text = SMALL + '\n[[sentences]]\nsays = "x"\nsource = "y"\nmetric = "auc"\nmore = "t / CFD"\n'
    with pytest.raises(JaliError, match="no study 't'"):
        schema.read(written(tmp_path, text))


ORDER = '[[sentences]]\nsays = "x"\nsource = "y"\nmetric = "auc"\n'


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (ORDER, "needs `more` and `less`"),
        (ORDER + 'kind = "count"\n', "needs `among`"),
        (ORDER + 'more = "s / CFD"\ntolerance = -1\n', "greater than or equal to 0"),
        ('[[tables]]\nsource = "T"\ntolerance = {}\n[tables.published.s.CFD]\nauc = 0.5\n', "needs a tolerance"),
        ('[[tables]]\nsource = "T"\ntolerance = { auc = 0.1 }\n[tables.published.s.CFD]\nauc = inf\n', "finite"),
        ('[studies.t]\nlike = "s"\nseed = -1\n', "greater than or equal to 0"),
        ('[studies.t]\nlike = ["s"]\n', "does not stand above"),
        ('[studies.t]\nlike = "s"\n[studies.t.smoke]\nmodle = "x"\n', "not 'modle'"),
        ('[studies.t]\nlike = "s"\nsmoke = "x"\n', "smoke"),
        ('[[figures]]\nfigure = "F"\nkind = "pie"\ntrials = []\npanels = {}\n', "kind"),
    ],
)
def test_every_slip_is_found_before_anything_runs(tmp_path, more, words):
    with pytest.raises(JaliError, match=words):
        schema.read(written(tmp_path, SMALL + more))


def test_studies_must_be_tables(tmp_path):
    with pytest.raises(JaliError, match="must be tables"):
        schema.read(written(tmp_path, 'studies = "x"\n' + SMALL.split("[studies.s]")[0]))


def test_an_unknown_paper_is_named_with_the_nearest():
    with pytest.raises(JaliError, match="did you mean pawelczyk2022"):
        schema.read("pawelczyk2023")


def test_a_missing_file_is_one_sentence(tmp_path):
    with pytest.raises(JaliError, match="Cannot read"):
        schema.read(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("method", "says"),
    [
        ('{ signal = "loss" }', "a signal and an attack"),
        ('{ explain = "nice", query_attack = "linkage" }', "a query attack and its knowledge"),
        ('{ signal = "loss", attack = "threshold", query_attack = "linkage", knowledge = "register" }', "not both"),
        ("{ }", "needs an attack, a query attack or an explainer"),
    ],
)
def test_half_an_attack_is_refused(tmp_path, method, says):
    line = next(line for line in SMALL.splitlines() if line.startswith('"CFD"'))
    with pytest.raises(JaliError, match=says):
        schema.read(written(tmp_path, SMALL.replace(line, f'"CFD" = {method}')))


# --- what the shipped papers are said to have published -------------------------------------------------------------

PLACE = re.compile(r"(Tables?|Figures?|Sections?|Appendix)\b")
OWN = re.compile(r"ours\b")


@pytest.mark.parametrize("name", schema.papers())
def test_every_claim_says_where_it_was_published_or_that_it_is_ours(name):
    paper = schema.read(name)
    sources = {claim.source for claim in (*paper.tables, *paper.sentences)}
    assert {source for source in sources if not PLACE.match(source) and not OWN.match(source)} == set()


def numbers(paper):
    """Published numbers by place and metric, without those of ours."""
    out = {}
    for table in paper.tables:
        if OWN.match(table.source):
            continue
        for study, methods in table.published.items():
            for method, found in methods.items():
                out.update({(study, method, metric): value for metric, value in found.items()})
    return out


def published_at(text, metric, known):
    """The published number at a place, what chance gives, or nothing."""
    if text == schema.CHANCE:
        return {"auc": 0.5, "tpr@0.01": 0.01}.get(metric)
    if text == schema.NOTHING:
        return 0.0
    return None if schema.group(text) else known.get((*schema.place(text), metric))


def contradicted(paper):
    """Published sentences that the published numbers of the same file deny."""
    known = numbers(paper)
    for sentence in paper.sentences:
        if OWN.match(sentence.source) or sentence.kind == "count":
            continue
        more, less = (published_at(text, sentence.metric, known) for text in (sentence.more, sentence.less))
        if more is None or less is None:
            continue
        allowed = abs(more - less) <= sentence.tolerance + 1e-9 if sentence.kind == "same" else more > less
        if not allowed:
            yield sentence.says


@pytest.mark.parametrize("name", schema.papers())
def test_no_published_sentence_is_denied_by_the_numbers_published_beside_it(name):
    """What a paper's own tables deny is not what the paper says: judging it would be held against the authors."""
    assert list(contradicted(schema.read(name))) == []


def test_a_denied_sentence_is_noticed(tmp_path):
    text = SMALL.replace('methods = ["CFD"]', 'methods = ["CFD"]\n[studies.t]\nlike = "s"') + (
        '[[tables]]\nsource = "Table 1"\ntolerance = { auc = 0.1 }\n[tables.published]\n'
        's = { "CFD" = { auc = 0.6 } }\nt = { "CFD" = { auc = 0.5 } }\n'
        '[[sentences]]\nsays = "t leaks more"\nsource = "Section 1"\nmetric = "auc"\n'
        'more = "t / CFD"\nless = "s / CFD"\n'
    )
    text = text.replace("[studies.s.smoke]", "[studies.t.smoke]")
    assert list(contradicted(schema.read(written(tmp_path, text)))) == ["t leaks more"]


def private_or_accuracy(sentence, paper):
    """Whether a sentence is about accuracy or about models that are trained privately."""
    models = [paper.studies[schema.place(text)[0]].model for text in sentence.places()]
    return sentence.metric.endswith("accuracy") or any(model.startswith("dp_") for model in models)


@pytest.mark.parametrize("name", schema.papers())
def test_sentences_on_privacy_and_accuracy_wait_for_the_scale_of_their_tables(name):
    """Where the numbers of a study cannot be judged below a scale, nor can what is said in words about them."""
    paper = schema.read(name)
    scales = {}
    for table in paper.tables:
        for study in table.published if not OWN.match(table.source) else ():
            scales[study] = max(scales.get(study, 0), schema.SCALES.index(table.scale))
    early = [
        sentence.says
        for sentence in paper.sentences
        if not OWN.match(sentence.source) and private_or_accuracy(sentence, paper)
        if schema.SCALES.index(sentence.scale) < max(scales.get(schema.place(p)[0], 0) for p in sentence.places())
    ]
    assert early == []


def test_pawelczyk_publishes_no_check_of_ours_and_not_both_sides_of_a_contradiction():
    """Section 6.3 and the caption of Figure 2 disagree from d = n on, so neither is the paper's word there."""
    paper = schema.read("pawelczyk2022")
    published = [claim for claim in (*paper.tables, *paper.sentences) if not OWN.match(claim.source)]
    studies = set()
    for claim in published:
        shown = claim.published if isinstance(claim, schema.Table) else map(schema.place, claim.places())
        studies |= {entry if isinstance(entry, str) else entry[0] for entry in shown}
    assert not {study for study in studies if study.startswith(("fresh", "leaky"))}
    assert not [claim for claim in published if isinstance(claim, schema.Sentence) and "d = n" in claim.says]


def test_huang2024_publishes_nothing_about_networks_it_did_not_train():
    paper = schema.read("huang2024")
    published = [sentence for sentence in paper.sentences if not OWN.match(sentence.source)]
    studies = {schema.place(text)[0] for sentence in published for text in sentence.places()}
    assert {study for study in studies if study.startswith(("mlp", "convnet", "head"))} == set()


@pytest.mark.parametrize(
    "table",
    [
        {"published": {"a": []}},
        {"published": {"a": {"LRT": 3}}},
        {"published": []},
        {"tolerance": []},
        {"rows": 3},
        {"as_released": {"methods": {"LRT": []}}},
        {"as_released": []},
    ],
)
def test_a_table_that_cannot_be_made_as_released_is_one_sentence(table):
    with pytest.raises(JaliError):
        with_released([{"source": "Table 1", "as_released": {"studies": {"a": "b"}}} | table])
