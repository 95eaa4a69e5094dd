"""The metric table: what each number is called, its unit and bounds, which direction is worse, and what it means.

A metric is written by its name, or by its name and a level: `auc`, `tpr@0.01`, `coverage@100`. Results, reports,
terminal, papers and docs read this table; nowhere else are labels, bounds or definitions spelled out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from jali.core.errors import JaliError

Unit = Literal["share", "rate", "count", "distance", "seconds", "index"]
Worse = Literal["higher", "lower", "neither"]


@dataclass(frozen=True)
class Metric:
    """One line of the table; `at` is the level of a metric that is read at one, such as the FPR of `tpr@0.01`.

    unit: a share of people or values, an error rate, a count, a distance in encoded features, seconds, or an index
    without a unit. yes_no: each record either has it or not, so that none of n has the exact limit of a rate.
    worse: which direction is worse for the people whom the number is about.
    """

    name: str
    label: str
    unit: Unit
    says: str
    low: float = 0.0
    high: float = 1.0
    worse: Worse = "neither"
    yes_no: bool = False
    short: str = ""
    at: float | None = None

    @property
    def text(self) -> str:
        """How it is written in rows and files.

        >>> metric("tpr@0.01").text
        'tpr@0.01'
        """
        return self.name if self.at is None else f"{self.name}@{self.at:g}"

    @property
    def title(self) -> str:
        """A column head.

        >>> metric("tpr@0.001").title, metric("coverage@1000").title
        ('TPR at 0.1 % FPR', 'After 1,000 explanations')
        """
        return self.label if self.at is None else self.label.format(percent=f"{100 * self.at:g} %", count=self.at)

    @property
    def head(self) -> str:
        """A narrow column head, for a terminal."""
        return self.short or self.title[:1].lower() + self.title[1:]


def _share(name: str, label: str, says: str, worse: Worse = "neither", yes_no: bool = False, short: str = "") -> Metric:
    return Metric(name, label, "share", says, worse=worse, yes_no=yes_no, short=short)


def _count(name: str, label: str, says: str, worse: Worse = "neither", short: str = "") -> Metric:
    return Metric(name, label, "count", says, high=math.inf, worse=worse, short=short)


def _distance(name: str, label: str, says: str) -> Metric:
    return Metric(name, label, "distance", says, high=math.inf, worse="higher")


GUESSES = (  # of guesses about membership
    Metric(
        "auc",
        "AUC",
        "index",
        "Probability that a random member scores above a random non-member; chance is 0.5.",
        worse="higher",
        short="AUC",
    ),
    Metric(
        "balanced_accuracy",
        "Balanced accuracy",
        "index",
        "Mean of true positive and true negative rate, at a threshold chosen on the other half of the guesses.",
        worse="higher",
    ),
    Metric(
        "best_balanced_accuracy",
        "Best balanced accuracy",
        "index",
        "Balanced accuracy at the threshold that is best in hindsight, as papers report it; above 0.5 by chance.",
        worse="higher",
    ),
    Metric(
        "tpr",
        "TPR at {percent} FPR",
        "rate",
        "Share of the members recognised where at most this share of the non-members is wrongly flagged.",
        worse="higher",
        short="TPR at {percent}",
    ),
    Metric(
        "tnr",
        "TNR at {percent} FNR",
        "rate",
        "Share of the non-members cleared where at most this share of the members is missed.",
        worse="higher",
    ),
)
DECISIONS = (  # of an attack that sets its own threshold
    _share("base_rate", "Base rate", "Share of members among all records: the precision of flagging everybody."),
    _share("accuracy", "Accuracy", "Share of records that are classified correctly.", "higher"),
    _share("precision", "Precision", "Share of members among the records flagged.", "higher"),
    _share("recall", "Recall", "Share of the members that are flagged.", "higher"),
    _share("specificity", "Specificity", "Share of the non-members that are not flagged.", "higher"),
    Metric("f1", "F1", "share", "2 TP / (2 TP + FP + FN).", worse="higher", short="F1"),
    Metric(
        "precision_over_base_rate",
        "Precision over base rate",
        "share",
        "Precision minus the base rate: what is gained over flagging everybody.",
        low=-1.0,
        worse="higher",
    ),
    _share(
        "balanced_accuracy_of_claims",
        "Balanced accuracy of claims",
        "Mean of recall and specificity at the attack's own threshold.",
        "higher",
    ),
)
IDENTITY = (  # of claims about which person an explanation shows
    _count(
        "candidates",
        "Candidates",
        "People on the attacker's list who match an explanation: the size of the anonymity set.",
        "lower",
    ),
    _share("singled_out", "Singled out", "Share of explanations that only one person matches.", "higher", yes_no=True),
    _share(
        "at_most_10_candidates",
        "At most 10 candidates",
        "Share of explanations that one to ten people match.",
        "higher",
        yes_no=True,
    ),
    _share(
        "newly_singled_out",
        "Newly singled out",
        "Share of explanations that single out a person whom no earlier explanation singled out.",
        "higher",
        yes_no=True,
    ),
    _share(
        "reidentified",
        "Right person named",
        "Share of explanations where the person named is the one whose row it is.",
        "higher",
        yes_no=True,
        short="right person",
    ),
    _share(
        "disclosed",
        "Private values known",
        "Share of the named person's private values that the attacker gets right with the explanation.",
        "higher",
        short="values known",
    ),
    _share(
        "disclosed_baseline",
        "Baseline without the explanation",
        "Share of the same values that are guessed right without it: from similar people, a model, or who asked.",
        short="baseline",
    ),
    Metric(
        "disclosure_advantage",
        "Disclosure advantage",
        "share",
        "Private values known with the explanation minus the baseline: what the explanation gives away.",
        low=-1.0,
        worse="higher",
        short="advantage",
    ),
    Metric(
        "coverage",
        "After {count:,.0f} explanations",
        "share",
        "Share of the training people who are singled out by that many explanations together.",
        worse="higher",
    ),
)
ADVERSARY = (  # what a query attack had to work with
    _share("shadow_accuracy", "Shadow accuracy", "How often a shadow model gives unseen rows the oracle's label."),
    _share("attack_accuracy", "Attack accuracy", "Balanced accuracy of the attack on the shadow models' own rows."),
    _count("surrogates", "Surrogates", "Local surrogates that were attacked."),
    _count("voters", "Voters", "Local surrogates on which the attack could be run."),
    _share("fidelity", "Fidelity", "How often the surrogate agrees with the model on the rows that it explains."),
    _share(
        "local_fidelity",
        "Local fidelity",
        "How often local surrogates agree with the model on new rows around a record.",
    ),
    _share("surrogate_accuracy", "Surrogate accuracy", "How often a global surrogate is right about unseen records."),
    _count("rules", "Rules", "Rules that the surrogate shows."),
    _share("countered", "With a counterfactual rule", "Share of records with a rule that would change their outcome."),
    _count(
        "rules_below_10", "Rules about few people", "Rules that cover some training rows, but fewer than ten.", "higher"
    ),
    _share("class_precision", "Precision of class {count:.0f}", "Precision of the oracle on unseen records."),
    _share("class_recall", "Recall of class {count:.0f}", "Recall of the oracle on unseen records."),
    _share("class_f1", "F1 of class {count:.0f}", "F1 of the oracle on unseen records."),
    _count("queries", "Queries", "Rows that were queried in one attack run."),
)
MODEL = (
    _share("train_accuracy", "Train accuracy", "Accuracy of the target models on their members.", yes_no=True),
    _share("test_accuracy", "Test accuracy", "Accuracy of the target models on non-members.", yes_no=True),
    Metric(
        "reliance_on_quasi_identifiers",
        "Reliance on quasi-identifiers",
        "share",
        "Accuracy lost when quasi-identifiers are exchanged between records (Breiman's permutation importance, 2001).",
        low=-1.0,
    ),
)
EXPLANATIONS = (
    _share("answered", "Answered", "Share of records that got an explanation.", "lower", yes_no=True),
    _share(
        "validity", "Validity", "Share of denied people whose explanation has the outcome they hope for.", "lower", True
    ),
    _distance("cost_l0", "Cost l0", "Encoded features that change on the way to the counterfactual."),
    _distance("cost_l1", "Cost l1", "l1 distance to the counterfactual in encoded features."),
    _distance("cost_l2", "Cost l2", "l2 distance to the counterfactual in encoded features."),
    _share("sparsity", "Sparsity", "Share of the raw columns that change; small is sparse.", "higher"),
    _distance("plausibility", "Plausibility", "Mean l2 distance to the five nearest training rows of its class."),
    _share("clamped", "Clamped", "Share of explanations that noise moved to a bound.", "higher", True),
    _share("withheld", "Withheld", "Share of explanations that exist but must not be given.", "higher", True),
    Metric(
        "ncp_above_bound",
        "NCP above the proven bound",
        "index",
        "Normalised certainty penalty above the least that was proved possible.",
        high=math.inf,
        worse="higher",
    ),
    _count("anonymity_set", "Anonymity set", "Training people who match the explanation.", "lower"),
    Metric("ncp", "NCP", "share", "Normalised certainty penalty: how wide the explanation is.", worse="higher"),
    _share(
        "pureness",
        "Pureness",
        "Share of the region in which the model gives the outcome that the explanation states.",
        "lower",
    ),
    _share("shared_values", "Shared values", "Share of private columns in which all who match agree.", "higher"),
    Metric(
        "t_closeness",
        "t-closeness",
        "index",
        "Largest distance between the private values of those who match and of everybody.",
        high=math.inf,
        worse="higher",
    ),
    _share(
        "deletion", "Deletion", "Mean probability of the outcome as columns are replaced, largest attribution first."
    ),
    _share(
        "insertion", "Insertion", "Mean probability of the outcome as columns are put in, largest attribution first."
    ),
    _share("infidelity", "Infidelity", "Share of what removals change in the score that attributions do not foresee."),
    Metric(
        "rank_agreement",
        "Rank agreement",
        "index",
        "Rank correlation of attributions with those of a model trained without noise on the same rows.",
        low=-1.0,
    ),
    Metric("seconds", "Seconds", "seconds", "Seconds per record explained.", high=math.inf, worse="higher"),
)
TABLE = {m.name: m for m in (*GUESSES, *DECISIONS, *IDENTITY, *ADVERSARY, *MODEL, *EXPLANATIONS)}
ORDER = tuple(TABLE)


def metric(text: str) -> Metric:
    """The metric that a text names, at its level if it has one.

    >>> metric("tpr@0.01").at, metric("auc").low, metric("auc").high
    (0.01, 0.0, 1.0)
    """
    name, _, level = text.partition("@")
    if name not in TABLE:
        raise JaliError(f"There is no metric called {text!r}; there are {', '.join(TABLE)}.")
    if not level:
        return TABLE[name]
    try:
        at = float(level)
    except ValueError:
        raise JaliError(f"{text!r}: the level after @ must be a number, such as {name}@0.01.") from None
    return replace(TABLE[name], at=at, short=TABLE[name].short.format(percent=f"{100 * at:g} %"))


def position(text: str) -> tuple[int, float]:
    """Sorts metrics as the table lists them; of error rates the larger level first, of counts the smaller.

    >>> sorted(["coverage@60", "tpr@0.001", "coverage@10", "tpr@0.01"], key=position)
    ['tpr@0.01', 'tpr@0.001', 'coverage@10', 'coverage@60']
    """
    found = metric(text)
    level = found.at or 0.0
    return ORDER.index(found.name), -level if found.unit == "rate" else level
