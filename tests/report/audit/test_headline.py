from __future__ import annotations

from jali.report.audit.headline import headline, invalid, strongest
from jali.results import Results, Row
from tests.report import sample


def attack(metric: str, value: float | None, channel: str = "score+explanation", **more: object) -> Row:
    about = {"kind": "attack", "attack": "joint", "combined": True, "explainer": "e"} | more
    return Row(metric=metric, value=value, channel=channel, **about)  # type: ignore[arg-type]


def test_lead_counts_people_where_one_in_a_thousand_is_wrongly_flagged() -> None:
    rows = [attack("tpr@0.001", 0.03, low=0.0234, high=0.0412), attack("tpr@0.01", 0.2, low=0.1, high=0.3)]
    page = headline(Results(rows=rows))
    assert page.lead == (
        "Out of 1,000 people in the training data, the combined attack would identify between 23 and 41 at the price "
        "of one person in 1,000 wrongly flagged; by chance alone it would be 1."
    )
    assert page.count == "between 23 and 41"


def test_lead_falls_back_to_the_next_resolvable_rate_and_then_to_the_auc() -> None:
    gated, rate = attack("tpr@0.001", None, reason="few"), attack("tpr@0.01", 0.02, low=-0.004, high=0.05)
    lead = headline(Results(rows=[gated, rate])).lead
    assert "between 0 and 50 at the price of ten people in 1,000 wrongly flagged; by chance alone it would" in lead
    auc = attack("auc", 0.55, low=0.534, high=0.566)
    assert "in between 53.4 and 56.6 of 100 cases; chance: 50." in headline(Results(rows=[gated, auc])).lead
    assert headline(Results(rows=[gated])).lead.endswith("can resolve: few.")


def test_the_lead_speaks_of_the_attack_and_not_of_attackers() -> None:
    for metric in ("tpr@0.01", "auc"):
        row = attack(metric, 0.7, low=0.6, high=0.8)
        assert "the combined attack would" in headline(Results(rows=[row])).lead
        single = row.model_copy(update={"attack": "lira", "combined": False})
        assert "the strongest attack tried would" in headline(Results(rows=[single])).lead


def test_what_is_not_above_chance_comes_with_what_could_have_been_found() -> None:
    # 1.4294 times the longer half, 0.036, over chance; and 1.4294 times 0.02.
    rate = headline(Results(rows=[attack("tpr@0.01", 0.014, low=0.004, high=0.05)]))
    assert rate.additions[0] == (
        "That cannot be distinguished from chance; this audit could have found 61 of 1,000 or more, four times in five."
    )
    auc = headline(Results(rows=[attack("auc", 0.5, low=0.48, high=0.52)]))
    assert "could have found 52.9 of 100 cases or more, four times in five" in auc.additions[0]
    assert any("80 %" in sentence for sentence in auc.meaning)
    clear = headline(Results(rows=[attack("auc", 0.6, low=0.55, high=0.65)]))
    assert not any("chance" in sentence for sentence in clear.additions)
    assert not any("80 %" in sentence for sentence in clear.meaning)


def test_an_audit_that_can_see_nothing_does_not_reassure() -> None:
    wide = headline(Results(rows=[attack("auc", 0.5, low=0.1, high=0.9)]))
    assert wide.additions[0].endswith("this audit is too small and could not have found anything.")
    flat = headline(Results(rows=[attack("auc", 0.5, low=0.5, high=0.5)]))
    assert flat.additions[0].endswith("this audit cannot say what it could have found.")


def test_an_attacker_may_ignore_an_explanation_that_hurts() -> None:
    hurt = attack("tpr@0.01", 0.02, low=0.004, high=0.038)
    score = attack("tpr@0.01", 0.074, channel="score", low=0.05, high=0.1).model_copy(update={"explainer": ""})
    page = headline(Results(rows=[hurt, score]))
    assert page.count == "between 50 and 100"
    assert not any("chance" in sentence for sentence in page.additions)
    tied = score.model_copy(update={"value": 0.02})
    assert strongest(Results(rows=[tied, hurt]))[0] == hurt


def test_the_rate_is_that_of_the_explanation_even_if_the_score_alone_resolves_a_lower_one() -> None:
    both = attack("tpr@0.01", 0.05, low=0.04, high=0.06)
    alone = [attack(m, 0.03, channel="score", low=0.02, high=0.04) for m in ("tpr@0.001", "tpr@0.01")]
    assert strongest(Results(rows=[*alone, both]))[0] == both


def test_chance_is_not_claimed_where_another_attack_does_better() -> None:
    lira = Row(kind="attack", metric="auc", channel="explanation", attack="lira", value=0.6, low=0.55, high=0.65)
    page = headline(Results(rows=[attack("auc", 0.5, low=0.48, high=0.52), lira]))
    assert page.additions[0] == (
        "That cannot be distinguished from chance, but 1 of 1 other attacks can (one in 40 would by chance alone)."
    )


def test_worse_than_chance_is_no_protection() -> None:
    page = headline(Results(rows=[attack("auc", 0.4, low=0.35, high=0.45)]))
    assert page.additions[0].endswith("the attack is bad. Read this as no finding, not as protection.")


def test_combined_attack_on_score_and_explanation_goes_before_any_other() -> None:
    other = Row(kind="attack", metric="tpr@0.001", value=0.9, channel="score+explanation", attack="threshold")
    group = attack("tpr@0.001", 0.8, group="sex=female")
    row, rivals = strongest(Results(rows=[other, group, attack("tpr@0.001", 0.1), attack("tpr@0.001", 0.2)]))
    assert (row.value if row else None, rivals) == (0.2, 2)


def test_notes_say_what_limits_the_headline() -> None:
    rows = [attack("tpr@0.01", 0.02, coverage=0.62, units=1), attack("tpr@0.01", 0.01)]
    text = " ".join(headline(Results(rows=rows)).notes)
    for part in (
        "strongest of 2",
        "62 % of guesses with an explanation",
        "conditional on this model",
        "the score and the explanation",
    ):
        assert part in text


def test_a_single_signal_that_did_better_is_named() -> None:
    single = Row(kind="attack", metric="tpr@0.01", value=0.05, channel="score", attack="ratio", signal="loss")
    notes = headline(Results(rows=[attack("tpr@0.01", 0.02), single])).notes
    assert "of 1 other attacks did better: ratio on loss, seeing the score: about 50 of 1,000." in notes[1]
    assert not any("did better" in n for n in headline(Results(rows=[attack("tpr@0.01", 0.06), single])).notes)


def test_rows_outside_the_channels_of_an_audit_are_only_listed() -> None:
    page = headline(sample.released())
    assert page.lead == (
        "Mean AUC over 8 target models (as released by somebody): "
        "0.614 (0.611–0.617) for variance, 0.570 (0.567–0.573) for loss."
    )
    assert "nothing is said about" in page.additions[0]
    assert (page.count, page.notes) == ("", ())


def test_invalid_names_the_failed_checks() -> None:
    assert invalid(sample.full()) == ""
    assert invalid(sample.invalid()).startswith("This audit is invalid: blind baseline (AUC without the model 0.71")


def test_a_leak_that_a_rare_rate_cannot_show_is_seen_in_the_auc() -> None:
    """Of 320 others three may be wrong, so that the interval at 1 % begins at zero whatever the attack does."""
    rate = attack("tpr@0.01", 1.0, low=0.0, high=1.0, units=1, n=520, base_rate=200 / 520)
    auc = attack("auc", 1.0, low=0.982, high=1.0, units=1, n=520, base_rate=200 / 520)
    said = headline(Results(rows=[rate, auc])).additions[0]
    assert said.startswith("At that price this audit is too small to distinguish it from chance, but")
    assert "the leak is there" in said
    assert "picks the member in between 98.2 and 100.0 of 100 cases" in said


def test_the_luckiest_of_many_attacks_does_not_make_a_leak() -> None:
    rate = attack("tpr@0.01", 0.02, low=0.0, high=0.05, units=1)
    own = attack("auc", 0.5, low=0.47, high=0.53, units=1)
    lucky = attack("auc", 0.54, low=0.51, high=0.57, units=1).model_copy(
        update={"attack": "lira", "combined": False, "signal": "loss"}
    )
    said = headline(Results(rows=[rate, own, lucky])).additions[0]
    assert said.endswith("in AUC 1 of 2 attacks can (one in 40 would by chance alone).")
    assert "leak is there" not in said


def test_chance_at_a_rate_is_what_noise_achieves_on_so_many_people() -> None:
    """Three of 300 others may pass, and a member passes as often as one of 301 in four places."""
    rate = attack("tpr@0.01", 0.0133, low=0.012, high=0.015, units=128, n=600, base_rate=0.5)
    page = headline(Results(rows=[rate]))
    assert page.lead.endswith("by chance alone it would be 13.")
    assert page.additions[0].startswith("That cannot be distinguished from chance")


def test_in_few_models_a_rate_does_not_say_what_could_have_been_found() -> None:
    rate = attack("tpr@0.01", 0.02, low=0.0, high=0.05, units=1, n=2000, base_rate=0.5)
    auc = attack("auc", 0.51, low=0.49, high=0.53, units=1, n=2000, base_rate=0.5)
    assert "could have found 53.0 of 100 cases" in headline(Results(rows=[rate, auc])).additions[0]
    assert headline(Results(rows=[rate])).additions[0].endswith("cannot say what it could have found.")


def test_what_eight_of_ten_means_is_said_where_it_is_used() -> None:
    page = headline(sample.full())
    assert any("8 of 10" in sentence for sentence in page.additions)
    assert any("positive control" in sentence for sentence in page.meaning)
    assert not any("80 %" in sentence for sentence in page.meaning)
    assert not any("positive control" in sentence for sentence in headline(sample.older()).meaning)
