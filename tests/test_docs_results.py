"""Results that the docs state are those of the committed findings: a new run that changes them fails here."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from jali.report.reproduction.compared import tally
from jali.reproduce import files
from jali.results.reproduction import Reproduction, published

DOCS = Path(__file__).parents[1] / "docs"
NUMBER = re.compile(r"(?<![\w.])[+−-]?\d*\.?\d+(?: %)?")
# ruff: noqa: E501
# document, paper, the finding that has the number, the words that state it (value, or value and both ends)
FINDINGS = [
    ("recourse", "pawelczyk2022", "heloc / CFD, SCFE: auc", ".626 (.607–.645)"),
    ("recourse", "pawelczyk2022", "heloc / CFD, SCFE less heloc-early / CFD, SCFE: auc", ".132 (.109–.155)"),
    ("recourse", "pawelczyk2022", "heloc / Loss less heloc / CFD, SCFE: auc", ".095 (.086–.104)"),
    ("recourse", "pawelczyk2022", "heloc / signed CFD, nearest point less heloc / CFD, nearest point: auc", ".084 (.076–.093)"),
    ("recourse", "pawelczyk2022", "fresh-1000 / CFD, closed form less fresh-1000 / CFD-LRT, closed form: auc", ".029 (.015–.042)"),
    ("recourse", "pawelczyk2022", "fresh-1400 / CFD-LRT, closed form less fresh-1400 / CFD, closed form: auc", ".050 (.037–.063)"),
    ("recourse", "pawelczyk2022", "heloc / CFD, GS: auc", ".604 (.584–.624)"),
    ("recourse", "pawelczyk2022", "heloc-distances / CFD, SCFE: auc", ".602 (.597–.606)"),
    ("recourse", "pawelczyk2022", "heloc-distances / CFD, C-CHVAE: auc", ".488 (.484–.493)"),
    ("recourse", "pawelczyk2022", "adult-distances / CFD, SCFE: auc", ".518, .514–.522"),
    ("recourse", "pawelczyk2022", "heloc-leaky / CFD-LRT released, SCFE: auc", ".673 (.662–.684)"),
    ("recourse", "pawelczyk2022", "heloc-fresh / CFD-LRT, SCFE: auc", ".613 (.601–.625)"),
    ("recourse", "pawelczyk2022", "heloc-leaky / CFD-LRT released, C-CHVAE: auc", ".529 (.517–.541)"),
    ("recourse", "pawelczyk2022", "heloc-fresh / CFD-LRT, C-CHVAE: auc", ".504 (.482–.525)"),
    ("recourse", "pawelczyk2022", "linear-1000-leaky / CFD-LRT released, closed form less linear-1000-leaky / CFD, closed form: auc", ".068 (.063–.074)"),
    ("recourse", "pawelczyk2022", "linear-1000-leaky / CFD-LRT released, closed form less linear-1000-leaky / Loss, linear: auc", "and .063. It"),
    ("recourse", "pawelczyk2022", "linear-1000 / CFD-LRT, closed form less linear-1000 / CFD, closed form: auc", ".015 (.010–.021)"),
    ("recourse", "pawelczyk2022", "linear-1000 / CFD-LRT, closed form less linear-1000 / Loss, linear: auc", ".010 (.004–.016)"),
    ("recourse", "pawelczyk2022", "linear-1000-leaky / CFD-LRT released, closed form less linear-1000-leaky / Loss-LRT released, linear: auc", "either: −.039"),
    ("recourse", "pawelczyk2022", "linear-1000 / CFD-LRT, closed form less linear-1000 / Loss-LRT, linear: auc", "and −.028. In"),
    ("recourse", "pawelczyk2022", "leaky-200 / CFD-LRT released, closed form less leaky-200 / CFD, closed form: auc", "| .060 (.045–.076) |"),
    ("recourse", "pawelczyk2022", "leaky-1000 / CFD-LRT released, closed form less leaky-1000 / CFD, closed form: auc", "| .144 (.130–.159) |"),
    ("recourse", "pawelczyk2022", "leaky-1400 / CFD-LRT released, closed form less leaky-1400 / CFD, closed form: auc", "| .135 (.123–.147) |"),
    ("recourse", "pawelczyk2022", "fresh-200 / CFD-LRT, closed form less fresh-200 / CFD, closed form: auc", "| .013 (−.002 to .029) |"),
    ("recourse", "pawelczyk2022", "fresh-1000 / CFD-LRT, closed form less fresh-1000 / CFD, closed form: auc", "| −.029 (−.042 to −.015) |"),
    ("recourse", "pawelczyk2022", "fresh-1000 / CFD-LRT, closed form less fresh-1000 / Loss, linear: auc", "and to the loss by .066"),
    ("recourse", "pawelczyk2022", "fresh-1400 / CFD-LRT, closed form less fresh-1400 / Loss, linear: auc", "and .084. At the paper"),
    ("recourse", "pawelczyk2022", "net-150-a / CFD-LRT, SCFE less net-50-a / CFD-LRT, SCFE: auc", "+.045, .000–.091"),
    ("recourse", "pawelczyk2022", "net-150-d / CFD-LRT, SCFE less net-150-d / Loss-LRT: auc", "−.049, −.074 to −.025"),
    ("attributions", "huang2024", "vit / loss and IXG, joint less vit / loss, joint: auc", "adds .007 in transformers"),
    ("attributions", "huang2024", "mlp / L1-LRT, IXG less mlp / loss LiRA: auc", "by .12\n"),
    ("attributions", "huang2024", "convnet / L1-LRT, IXG less convnet / loss LiRA: auc", "to .30 in AUC"),
    ("private", "huang2023", "d1000 / CFD-LRT less d1000-dpm1 / CFD-LRT: auc", "lowers the AUC by .130 (.113–.148)"),
    ("linkage", "goethals2022", "heart-splits / CF-K: ncp", "the mean without a floor is .025 (.021–.028)"),
    ("linkage", "goethals2022", "heart-splits / CF-K: median ncp", "the median over splits\n.022 (.021–.022)"),
    ("linkage", "goethals2022", "german / CF-K, made again less nothing: singled_out by minimality", "66 % of CF-K's answers on `german`"),
    ("linkage", "goethals2022", "hospital / CF-K, made again less nothing: singled_out by minimality", "68 % on `hospital`"),
    ("linkage", "goethals2022", "informs / CF-K, made again less nothing: singled_out by minimality", "74 % on `informs`"),
    ("linkage", "goethals2022", "cmc / CF-K, made again less nothing: singled_out by minimality", "14 % on `cmc`"),
    ("linkage", "goethals2022", "adult / CF-K, made again less nothing: singled_out by minimality", "27 % on `adult`"),
]  # fmt: skip
# document, paper, study, the beginning of the explainer, metric, the words
MEASURES = [
    ("private", "huang2023", "heloc-ours", "linear_recourse", ("validity", "cost_l2"), "| no defence | 1.00 | .31 |"),
    ("private", "huang2023", "heloc-ours", "laplace_recourse(epsilon=1.0)", ("validity",), "| Laplace Recourse | .48 ("),
    ("private", "huang2023", "heloc-ours", "public_direction(epsilon=1.0", ("validity", "cost_l2"), "direction | .99 | .51 |"),
    ("private", "huang2023", "heloc-ours", "above_threshold(epsilon=1.0", ("validity", "cost_l2"), "threshold | .89 | .49 |"),
    ("private", "huang2023", "heloc-private1", "linear_recourse", ("validity", "cost_l2"), "one private model | 1.00 | .27 |"),
    ("private", "huang2023", "heloc-private1", "", ("test_accuracy",), " .870 |"),
    ('linkage', 'goethals2022', 'adult', 'k_anonymous(inner=nice(immutable="free"), repair="interval")', ('pureness',), 'pureness is .30 on `adult`'),
    ('linkage', 'goethals2022', 'heart', 'k_anonymous(inner=nice(immutable="free"), repair="interval")', ('pureness',), '.40 on `heart`'),
    ('linkage', 'goethals2022', 'cmc', 'k_anonymous(inner=nice(immutable="free"), repair="interval")', ('pureness',), '.77 on\n  `cmc`'),
    ('linkage', 'goethals2022', 'german', 'k_anonymous(inner=nice(immutable="free"), repair="interval")', ('pureness',), '.90 on `german`'),
    ('linkage', 'goethals2022', 'german', 'k_anonymous(inner=nice(immutable="free"), solver="mutual")', ('ncp',), 'NCP is the price: .32 against'),
    ('linkage', 'goethals2022', 'german', 'k_anonymous(inner=nice(immutable="free"))', ('ncp',), 'against .14 on `german`'),
    ('linkage', 'goethals2022', 'cmc', 'k_anonymous(inner=nice(immutable="free"), solver="mutual")', ('ncp',), '`german`, .114 against'),
    ('linkage', 'goethals2022', 'cmc', 'k_anonymous(inner=nice(immutable="free"))', ('ncp',), 'against .036 on `cmc`'),
    ('linkage', 'goethals2022', 'adult', 'k_anonymous(inner=nice(immutable="free"), solver="mutual")', ('ncp',), '`cmc`, .081 against'),
    ('linkage', 'goethals2022', 'adult', 'k_anonymous(inner=nice(immutable="free"))', ('ncp',), 'against .004 on\n`adult`'),
    ('linkage', 'goethals2022', 'hospital', 'k_anonymous(inner=nice(immutable="free"), solver="mutual")', ('withheld',), 'on `hospital` 22 % of the answers'),
    ('linkage', 'goethals2022', 'heart', 'k_anonymous(inner=nice(immutable="free"), floor=1.0)', ('withheld',), 'instead: 4 % of them'),
    ('linkage', 'goethals2022', 'heart', 'k_anonymous(inner=nice(immutable="free"))', ('ncp',), 'NCP falls from .039 to'),
    ('linkage', 'goethals2022', 'heart', 'k_anonymous(inner=nice(immutable="free"), floor=1.0)', ('ncp',), 'to .020\n([study]'),
    ("private", "huang2023", "d1000", "", ("test_accuracy",), "the accuracy from .704 to"),
    ("private", "huang2023", "d1000-dpm1", "", ("test_accuracy",), "to .50 ([page]"),
    ("vision", "huang2024", "vit", "", ("train_accuracy", "test_accuracy"), "| all layers | .992 / .707 |"),
    ("vision", "huang2024", "vit-eps8", "", ("train_accuracy", "test_accuracy"), "| .657 / .628 |"),
    ("vision", "huang2024", "vit-eps2", "", ("train_accuracy", "test_accuracy"), "| .578 / .558 |"),
    ("vision", "huang2024", "vit-eps1", "", ("train_accuracy", "test_accuracy"), "| .490 / .473 |"),
    ("vision", "huang2024", "vit-eps05", "", ("train_accuracy", "test_accuracy"), "| .391 / .380 |"),
    ("vision", "huang2024", "head", "", ("train_accuracy", "test_accuracy"), "| head alone | .766 / .703 |"),
    ("vision", "huang2024", "head-eps8", "", ("train_accuracy", "test_accuracy"), "| .709 / .682 |"),
    ("vision", "huang2024", "head-eps2", "", ("train_accuracy", "test_accuracy"), "| .680 / .658 |"),
    ("vision", "huang2024", "head-eps1", "", ("train_accuracy", "test_accuracy"), "| .654 / .635 |"),
    ("vision", "huang2024", "head-eps05", "", ("train_accuracy", "test_accuracy"), "| .592 / .580 |"),
]  # fmt: skip
# document, paper, study, attack, the words with its AUC and both ends
ATTACKS = [
    ("surrogates", "naretto2024", "synth-rf", "MIA, noise", "the forest has .747 (.736–.757)"),
    ("surrogates", "naretto2024", "synth-rf", "MIA on TREPAN, noise", "its TREPAN .507 (.498–.517)"),
    ("surrogates", "naretto2024", "bank-rf", "MIA, noise", "on BANK the forest has .563 (.554–.571)"),
    ("surrogates", "naretto2024", "bank-rf", "MIA on TREPAN, noise", "its TREPAN .501\n(.496–.505)"),
    ("surrogates", "naretto2024", "bank-nn", "MIA, noise", "network .500 (.498–.503)"),
]  # fmt: skip
COUNTS = {
    "recourse": ("pawelczyk2022", r"(\d+) published claims, of which (\d+) match, (\d+) deviate and (\d+) cannot"),
    "private": ("huang2023", r"of (\d+)\s+published claims (\d+) match, (\d+) deviate and (\d+) are not"),
}


@functools.cache
def page(paper: str) -> Reproduction:
    return files.read(DOCS / "reproduction" / f"{paper}.json")


@functools.cache
def text(document: str) -> str:
    return (DOCS / f"{document}.md").read_text(encoding="utf-8")


def stated(words: str) -> list[tuple[float, float]]:
    """The numbers in some words without their signs, each with half of its last digit."""
    out = []
    for found in NUMBER.findall(words):
        bare = found.removesuffix(" %").lstrip("+−-")
        unit = 0.01 if found.endswith("%") else 1.0
        out.append((float(bare) * unit, 0.5 * unit * 10 ** -len(bare.partition(".")[2])))
    return out


def agree(words: str, numbers: list[float | None]) -> bool:
    """Whether the words state these numbers, rounded; differences may be stated the other way round."""
    told = stated(words)
    known = [abs(x) for x in numbers[: len(told)] if x is not None]
    if len(told) == 3 and numbers[0] is not None and numbers[0] < 0:  # the ends change places with the sign
        known[1:] = sorted(known[1:]) if words.count("−") == 0 else known[1:]
    return len(known) == len(told) and all(abs(x - y) <= half + 1e-9 for (x, half), y in zip(told, known, strict=True))


@pytest.mark.parametrize(("document", "paper", "place", "words"), FINDINGS)
def test_a_number_in_the_docs_is_that_of_its_finding(document, paper, place, words):
    assert words in text(document)
    found = next(f for f in page(paper).findings if f.place == place)
    assert agree(words, [found.value, found.low, found.high]), (found.value, found.low, found.high)


@pytest.mark.parametrize(("document", "paper", "study", "explainer", "metrics", "words"), MEASURES)
def test_a_measure_in_the_docs_is_that_of_its_study(document, paper, study, explainer, metrics, words):
    assert words in text(document)
    rows = next(s for s in page(paper).studies if s.name == study).measures
    mine = [r for m in metrics for r in rows if r.metric == m and r.explainer.startswith(explainer) and not r.group]
    values = [r.value for r in mine if bool(r.explainer) == bool(explainer)]
    assert agree(words, list(values))


@pytest.mark.parametrize(("document", "paper", "study", "attack", "words"), ATTACKS)
def test_an_auc_in_the_docs_is_that_of_its_study(document, paper, study, attack, words):
    assert words in text(document)
    assert agree(words, list(next(s for s in page(paper).studies if s.name == study).attacks[attack][:3]))


@pytest.mark.parametrize(
    ("pattern", "claim"),
    [
        (r"in none of (\d+)\s+settings", "MIA exposes LORE more than the black box, by AUC"),
        (r"TREPAN in (\d+) of (\d+), by", "TREPAN is more exposed to"),
    ],
)
def test_how_often_surrogates_expose_more_is_counted_in_the_findings(pattern, claim):
    mine = [f for f in page("naretto2024").findings if f.quantity.startswith(claim) and f.place.endswith(": auc")]
    found = re.search(pattern, text("surrogates"))
    assert found is not None
    hold = [f for f in mine if f.verdict == "matches"]
    told = [int(n) for n in found.groups()]
    assert told == [len(hold), len(mine)][-len(told) :]
    assert len(told) == 2 or not hold


@pytest.mark.parametrize("document", COUNTS)
def test_counts_in_the_docs_are_those_of_the_page(document):
    paper, pattern = COUNTS[document]
    found = re.search(pattern, text(document))
    assert found is not None
    claims = published(page(paper).findings)
    assert [int(n) for n in found.groups()] == [len(claims), *tally(claims).values()]


def test_counts_of_results_beside_their_caps_are_those_of_the_page():
    found = [capped for study in page("huang2023").studies for capped in study.capped]
    void = [capped for capped in found if capped.void]
    refuted = [capped for capped in found if capped.refuted]
    stand = [capped for capped in found if not capped.void and not capped.refuted]
    above = [[c for c in some if c.low > c.cap] for some in (stand, refuted)]
    told = re.search(
        r"Of (\d+) results.+?none lies.+?; (\d+) more.+?; of (\d+) on\s+the refuted claim, (\d+) do",
        text("private"),
        re.DOTALL,
    )
    assert told is not None
    assert [int(n) for n in told.groups()] == [len(stand), len(void), len(refuted), len(above[1])]
    assert above[0] == []


def test_a_wrong_number_is_noticed():
    assert agree(".626 (.607–.645)", [0.6259, 0.6071, 0.6448])
    assert not agree(".636 (.607–.645)", [0.6259, 0.6071, 0.6448])
    assert agree("66 %", [0.6577])
    assert agree(".018\n(.011–.024)", [-0.0176, -0.0239, -0.0112])
    assert agree("−.049, −.074 to −.025", [-0.0494, -0.0742, -0.0246])
