"""Verdicts that can fail: how many matches would be seen to deviate if the published number were another."""

from __future__ import annotations

from collections.abc import Iterable

from jali.core.guesses import Estimate
from jali.reproduce.verdicts import of_value
from jali.results.reproduction import Finding, Moved

STEP = 0.05  # how far a published number is moved, up and down
SMALL = 0.1  # below this it is moved by a share of itself
SHARE = 0.2
WANTED = 0.8  # the least share of moved matches that must deviate
SIGNED = "Δ"  # differences may be near zero, where a share of themselves is nothing: they are moved by the step


def perturbed(findings: Iterable[Finding]) -> Moved:
    """Move the published number of every value that matches up and down, and judge it again with its own tolerance."""
    moved = 0
    deviate = 0
    for finding in findings:
        if finding.published is None or not _counts(finding):
            continue
        step = step_of(finding.published, finding.quantity)
        ends = (finding.value, finding.value) if finding.exact else (finding.low, finding.high)
        ours = Estimate(finding.value, *ends, finding.units)
        for published in (finding.published - step, finding.published + step):
            moved += 1
            deviate += of_value(published, finding.tolerance, ours) == "deviates"
    return Moved(moved=moved, deviate=deviate)


def step_of(published: float, quantity: str = "") -> float:
    """How far a published number is moved.

    >>> step_of(0.6), round(step_of(0.02), 6), step_of(0.0, "Δ recall")
    (0.05, 0.004, 0.05)
    """
    if quantity.startswith(SIGNED) or abs(published) >= SMALL:
        return STEP
    return SHARE * abs(published)


def widest(published: float, quantity: str = "") -> float:
    """The widest tolerance with which a match can fail: half the step.

    Our interval lies within a tolerance t of the published number. Once that is moved by s, the interval lies beyond
    s - t of it, and that is outside the tolerance where s > 2 t.
    """
    return step_of(published, quantity) / 2


def _counts(finding: Finding) -> bool:
    """Whether it is a published value that matches, and was not computed from the very models of the paper."""
    return finding.kind == "value" and finding.verdict == "matches" and not finding.bound and not finding.ours
