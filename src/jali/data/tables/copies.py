"""Rows of other people that equal training rows: by chance, or because they are the training people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jali.core.values import Bools, Dataset

TOLERATED = 0.05  # share of other rows that may equal training rows beyond chance; with more the table is a wrong one
SELDOM = 0.01  # share of people with a twin up to which an equal row is taken for the same person


@dataclass(frozen=True)
class Copies:
    """equal (N,): rows of others that equal a training row in every column and the label.

    others: how many others there are. twins: how many of the training rows (`train`) equal another one.
    """

    equal: Bools
    others: int
    twins: int
    train: int

    @property
    def count(self) -> int:
        """How many rows of others equal a training row."""
        return int(self.equal.sum())

    @property
    def by_chance(self) -> float:
        """The most that chance explains: people may be alike, as often as training rows equal one another."""
        expected = self.others * self.twins / self.train
        return expected + 4 * math.sqrt(expected * (1 - self.twins / self.train))

    @property
    def too_many(self) -> bool:
        """Whether the others seem to be the training people."""
        return self.count > self.by_chance + TOLERATED * self.others

    @property
    def same_people(self) -> Bools:
        """The rows (N,) that are taken for training people: nobody is, where many people have a twin anyway.

        A few members among the non-members are enough to hide what few false positives show: with 4 % of them, the
        threshold for 1 % lies among the members.
        """
        if self.count > self.by_chance and self.twins <= SELDOM * self.train:
            return self.equal
        return np.zeros_like(self.equal)


def copies(data: Dataset, train: Bools, others: Bools) -> Copies:
    """Compare the rows of others (N,) with the training rows (N,)."""
    rows = np.concatenate([np.where(np.isnan(data.X), np.nan, data.X) + 0.0, data.y[:, None]], axis=1)
    content = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1])))[:, 0]
    known, times = np.unique(content[train], return_counts=True)
    equal = np.asarray(others & np.isin(content, known))
    return Copies(equal, int(others.sum()), int(times[times > 1].sum()), int(times.sum()))
