"""A synthetic population of loan applicants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import expit

from jali.core.errors import JaliError
from jali.core.values import Column, Dataset, Floats, Ints, Rng, Schema

REGIONS = (
    "Capital",
    "Coast",
    "Delta",
    "Highlands",
    "Hills",
    "Islands",
    "Lakes",
    "Midlands",
    "North",
    "Plains",
    "South",
    "West",
)
MARITAL = ("single", "cohabiting", "married", "separated", "widowed")
EDUCATION = ("none", "secondary", "vocational", "bachelor", "master")
WORK = ("unemployed", "part-time", "employee", "civil servant", "self-employed", "retired")
SECTORS = (
    "agriculture",
    "care",
    "construction",
    "education",
    "finance",
    "hospitality",
    "industry",
    "public",
    "retail",
    "transport",
)
HOUSING = ("renting", "with family", "mortgage", "owner")
PURPOSES = ("car", "consolidation", "education", "furniture", "medical", "renovation", "travel", "wedding")
CHANNELS = ("branch", "broker", "online", "partner shop")
BANKS = tuple(f"bank {letter}" for letter in "ABCDEFGH")
TOWNS = tuple(f"town {number:03}" for number in range(180))
EMPLOYERS = tuple(f"employer {number:03}" for number in range(150))

SCHEMA = Schema(
    (
        Column("age", "integer", 18, 85, 43, 15, mutable=False, role="quasi"),
        Column("sex", "category", categories=("female", "male"), mutable=False, role="quasi"),
        Column("marital_status", "category", categories=MARITAL, mutable=False, role="quasi"),
        Column("region", "category", categories=REGIONS, role="quasi"),
        Column("town", "category", categories=TOWNS, role="quasi"),
        Column("dependents", "integer", 0, 8, 1, 1.2, mutable=False, role="quasi"),
        Column("education", "category", categories=EDUCATION, mutable=False),
        Column("employment", "category", categories=WORK),
        Column("sector", "category", categories=SECTORS),
        Column("employer", "category", categories=EMPLOYERS),
        Column("years_employed", "integer", 0, 50, 8, 8),
        Column("income", "number", 0, 400_000, 34_000, 18_000),
        Column("debts", "number", 0, 500_000, 14_000, 18_000),
        Column("savings", "number", 0, 500_000, 11_000, 18_000),
        Column("credit_lines", "integer", 0, 20, 3, 2),
        Column("late_payments", "integer", 0, 24, 1, 1.7),
        Column("housing", "category", categories=HOUSING),
        Column("loan_amount", "number", 500, 100_000, 13_000, 10_000),
        Column("loan_months", "integer", 6, 120, 40, 22),
        Column("purpose", "category", categories=PURPOSES, mutable=False),
        Column("sales_channel", "category", categories=CHANNELS),
        Column("main_bank", "category", categories=BANKS),
    ),
    classes=("defaulted", "repaid"),
    favourable=1,
    sensitive="sex",
    target="outcome",
)


@dataclass(frozen=True)
class Lending:
    """A synthetic table of loan applicants that resembles a real one.

    Twenty-two mixed columns (404 encoded features): quasi-identifiers (age, sex, marital status, region, town,
    dependents), private attributes (income, debts, savings, late payments, …), immutable columns, heavy tails, and
    columns without information. Income depends on age, education, work and sex; debts and late payments depend on
    income; the probability of repaying depends on all of them; `noise` is the share of outcomes replaced by a coin
    flip. Bounds, centres and spreads are part of the design, not estimated from the rows. Our own design; no real
    person's data went into it.

    >>> data = Lending(n=500).load()
    >>> data.X.shape, sorted(set(data.y.tolist()))
    ((500, 22), [0, 1])
    """

    n: int = 4000
    noise: float = 0.1
    seed: int = 0
    origin: ClassVar[str] = "made by jali; synthetic"
    licence: ClassVar[str] = "Apache-2.0"
    files: ClassVar[tuple[()]] = ()

    def __post_init__(self) -> None:
        if self.n < 1 or not 0 <= self.noise <= 1:
            raise JaliError(f"lending: n must be positive and noise between 0 and 1, not {self.n} and {self.noise}.")
        if self.seed < 0:
            raise JaliError(f"lending: seed must not be below 0, not {self.seed}.")

    def load(self) -> Dataset:
        """Draw the population."""
        rng = np.random.default_rng([self.seed, 0x1E4D])
        people = _people(self.n, rng)
        people |= _money(people, rng)
        people |= _request(people, rng)
        y = _outcome(people, self.noise, rng)
        columns = []
        for column in SCHEMA.columns:
            value = people[column.name]
            columns.append(value if column.kind == "category" else np.clip(value, column.low, column.high))
        return Dataset(np.stack(columns, axis=1), y, SCHEMA)


def _choose(rng: Rng, scores: Floats) -> Floats:
    """One category per row with probabilities softmax(scores (n, K)), by the Gumbel-max trick."""
    return np.asarray((scores + rng.gumbel(size=scores.shape)).argmax(axis=1), dtype=np.float64)


def _flat(rng: Rng, n: int, weights: list[float]) -> Floats:
    return _choose(rng, np.log(np.tile(weights, (n, 1))))


def _uneven(rng: Rng, n: int, groups: list[float]) -> Floats:
    """One of fifteen places in each group, whose sizes fall as 1/rank, like those of towns and firms."""
    return _flat(rng, n, [weight / rank for weight in groups for rank in range(1, 16)])


def _people(n: int, rng: Rng) -> dict[str, Floats]:
    """Draw the demographic columns."""
    age = np.floor(18 + 67 * rng.beta(1.6, 2.4, n))
    old = (age[:, None] - 40) / 15
    marital = _choose(rng, np.log([3.0, 2, 4, 1, 0.3]) + old * [-1.2, -0.4, 0.3, 0.4, 1.2])
    education = _choose(rng, np.log([1.0, 4, 3, 3, 1.6]) + old * [0.4, 0.2, 0, -0.15, -0.2])
    retired = np.where(age > 63, 3.0, -4.0)
    work = np.stack([np.full(n, v) for v in (-1.3, -0.7, 1.2, -0.2, -0.5)] + [retired], axis=1)
    work[:, 3] += 0.25 * education
    town = _uneven(rng, n, [5, 2, 1, 0.7, 1, 0.5, 1, 2, 1.5, 1, 2, 1.6])
    employer = _uneven(rng, n, [0.4, 1.5, 1, 1, 0.6, 1, 1.4, 1, 1.6, 0.9])
    couple = np.isin(marital, [1, 2])
    dependents = rng.poisson(np.where((age > 24) & (age < 58), 0.5 + 0.9 * couple, 0.15))
    return {
        "age": age,
        "sex": (rng.random(n) < 0.52).astype(np.float64),
        "marital_status": marital,
        "region": np.floor(town / 15),
        "town": town,
        "dependents": dependents.astype(np.float64),
        "education": education,
        "employment": _choose(rng, work),
        "sector": np.floor(employer / 15),
        "employer": employer,
        "sales_channel": _flat(rng, n, [3, 1, 4, 1]),
        "main_bank": _flat(rng, n, [4, 3, 2, 2, 1, 1, 0.6, 0.4]),
    }


def _money(p: dict[str, Floats], rng: Rng) -> dict[str, Floats]:
    """Draw income, debts and savings."""
    n = len(p["age"])
    career = np.clip(p["age"] - 20, 0, 35)
    working = np.isin(p["employment"], [1, 2, 3, 4])
    level = 9.75 + 0.12 * p["education"] + 0.012 * career + 0.10 * p["sex"]
    level += np.array([-0.9, -0.45, 0, 0.08, 0.1, -0.3])[p["employment"].astype(int)]
    level += np.where(p["region"] == 0, 0.12, 0.0) + np.where(p["sector"] == 4, 0.2, 0.0)
    income = np.exp(level + rng.normal(0, np.where(p["employment"] == 4, 0.6, 0.32), n))
    late = rng.poisson(np.exp(-0.3 - 0.5 * (np.log(income) - 10.2) + rng.gamma(1.2, 0.5, n) - 0.6))
    return {
        "income": income.round(-1),
        "debts": (income * rng.gamma(0.7, 0.55, n)).round(-1),
        "savings": np.exp(0.9 * np.log(income) - 0.6 + 0.02 * career + rng.normal(0, 1.1, n) - 0.3 * late).round(-1),
        "years_employed": np.floor(working * rng.beta(1.1, 2.5, n) * career * 1.3),
        "credit_lines": rng.poisson(1.2 + 0.8 * np.log1p(income / 2e4)).astype(np.float64),
        "late_payments": late.astype(np.float64),
        "housing": _choose(rng, np.log(income / 3e4)[:, None] * [-0.5, -0.6, 0.6, 0.5] + np.log([4, 1.2, 2.5, 2.0])),
    }


def _request(p: dict[str, Floats], rng: Rng) -> dict[str, Floats]:
    """Draw the loan that is applied for."""
    n = len(p["age"])
    return {
        "loan_amount": np.exp(0.6 * np.log(p["income"]) + 3.0 + rng.normal(0, 0.6, n)).round(-2),
        "loan_months": (6 * np.clip(rng.poisson(6, n), 1, 20)).astype(np.float64),
        "purpose": _flat(rng, n, [4, 3, 1, 2, 1, 3, 1.2, 0.5]),
    }


def _outcome(p: dict[str, Floats], noise: float, rng: Rng) -> Ints:
    """Draw who repays, from a logistic score of means, burden and history; some outcomes are coin flips."""
    burden = (p["loan_amount"] / p["loan_months"] * 12 + 0.25 * p["debts"]) / np.maximum(p["income"], 3000)
    score = 1.6 + 0.5 * (np.log(p["income"]) - 10.2) - 2.2 * (burden - 0.3) - 0.55 * p["late_payments"]
    score += 0.25 * (np.log(p["savings"] + 100) - 8.5) + 0.03 * p["years_employed"] - 0.15 * p["dependents"]
    score += np.array([-0.9, -0.3, 0.1, 0.5, -0.1, 0.2])[p["employment"].astype(int)]
    score += np.array([-0.2, -0.1, 0.2, 0.4])[p["housing"].astype(int)]
    y = rng.random(len(score)) < expit(score)
    return np.where(rng.random(len(score)) < noise, rng.random(len(score)) < 0.5, y).astype(np.int64)
