from __future__ import annotations

from jali.report import views
from jali.results import Results, Row
from tests.report import sample


def test_every_attack_row_has_exactly_one_cell() -> None:
    results = sample.full()
    cells = [row for block in views.attacks(results) for line in block.lines for row in line.cells.values()]
    wanted = results.find(kind="attack", group="")
    assert sorted(map(id, cells)) == sorted(map(id, wanted))


def test_rows_that_differ_in_nothing_shown_keep_their_own_lines() -> None:
    twins = [Row(kind="attack", metric="auc", value=v, channel="score", attack="lira") for v in (0.5, 0.6)]
    (block,) = views.attacks(Results(rows=twins))
    assert [line.cells["auc"].value for line in block.lines] == [0.5, 0.6]


def test_prediction_comes_first_and_channels_in_order() -> None:
    rows = [
        Row(kind="attack", metric="auc", value=0.5, explainer=e, channel=c)
        for e, c in (("x", "score+explanation"), ("x", "explanation"), ("", "score"))
    ]
    blocks = views.attacks(Results(rows=rows))
    assert [b.title for b in blocks] == ["", "x"]
    assert [line.head.channel for line in blocks[1].lines] == ["explanation", "score+explanation"]


def test_shared_footing_is_said_once_and_differing_footing_per_line() -> None:
    rows = [Row(kind="attack", metric="auc", value=0.5, attack=a, units=n) for a, n in (("a", 16), ("b", 16), ("c", 1))]
    (same,) = views.attacks(Results(rows=rows[:2]))
    (mixed,) = views.attacks(Results(rows=rows))
    assert same.rests == "16 target models"
    assert (mixed.rests, mixed.lines[2].rests) == ("", "1 target model")


def test_the_strongest_single_signal_of_a_channel_stays_with_the_combined_attacks() -> None:
    rates = {"weak": 0.01, "strong": 0.05, "gone": None, "c": 0.02, "d": 0.02, "e": 0.02}
    rows = [Row(kind="attack", metric="tpr@0.01", value=v, channel="score", attack=a) for a, v in rates.items()]
    rows.append(Row(kind="attack", metric="tpr@0.01", value=0.03, channel="score", attack="joint", combined=True))
    (block,) = views.attacks(Results(rows=rows))
    assert [line.head.attack for line in block.shown] == ["strong", "joint"]
    assert [line.head.attack for line in block.folded] == ["weak", "gone", "c", "d", "e"]
    (few,) = views.attacks(Results(rows=rows[:3]))
    assert len(few.shown) == 3


def test_rows_of_single_targets_are_no_subgroups() -> None:
    results = sample.released()
    assert views.subgroups(results) == []
    assert [len(block.lines) for block in views.targets(results)] == [8, 8]
    assert views.attacks(results)[0].name == "Attacks as recorded"


def test_subgroups_know_the_row_about_everybody() -> None:
    results = sample.full()
    ((title, rows),) = views.subgroups(results)
    everybody = views.overall(results, rows[0])
    assert title.startswith("linear_recourse")
    assert everybody is not None
    assert (everybody.group, everybody.metric) == ("", "tpr@0.01")


def test_older_results_have_both_sides_where_everybody_was_explained() -> None:
    attack = {"kind": "attack", "attack": "joint", "metric": "auc"}
    rows = [
        Row(**attack, channel="score", value=0.60, n=100),
        Row(**attack, channel="score+explanation", explainer="all", value=0.62, n=100),
        Row(**attack, channel="score+explanation", explainer="some", value=0.70, n=15),
    ]
    head = {"kind": "contrast", "attack": "joint", "metric": "auc", "against": "score", "channel": "score+explanation"}
    rows += [Row(**head, explainer="all", value=0.02, n=100), Row(**head, explainer="some", value=0.0, n=15)]
    results = Results(rows=rows)
    (block,) = views.contrasts(results)
    everybody, some = (views.sides(results, line) for line in block.lines)
    assert [line.cells["auc"].value for line in everybody] == [0.60, 0.62]
    assert some == ()
