"""The columns of a training table in the forms in which explainers and documents keep them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jali.audit.scan.pieces import Values
from jali.audit.scan.records import normal
from jali.core.errors import JaliError
from jali.core.fields import EXACT
from jali.core.values import Bools, Floats, Ints
from jali.data.tables import frames

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["raw", "standardised", "scaled to 0-1", "codes", "one-hot", "text"]
MOST_CATEGORIES = 60  # categories of a column that are looked for one-hot
CLOSE = 1e-6  # numbers that differ by less than this share of their column's range are equal
ROUNDED = 3  # decimals from which on scaled values may have been rounded
SCALABLE = 1e150  # beyond, a spread is no finite number
DECIMALS = 5  # numbers with fewer decimals than the table may have been rounded


@dataclass(frozen=True, eq=False)
class Form:
    """One training column in one form: its values (N,), and the transformation for other people's values.

    column: its position in the table. category: of a one-hot form, which category it marks. names: of codes, the texts
    that were coded.
    """

    column: int
    kind: Kind
    values: Values
    shift: float = 0.0
    scale: float = 1.0
    category: str = ""
    names: Values | None = None

    @cached_property
    def levels(self) -> Values:
        """The different values, sorted."""
        return np.unique(self.values)

    @cached_property
    def bits(self) -> float:
        """How much one value says: the entropy of the column, in bits."""
        share = np.unique(self.values, return_counts=True)[1] / len(self.values)
        return float(-(share * np.log2(share)).sum())

    @property
    def text(self) -> bool:
        """Whether it holds texts."""
        return self.kind == "text"

    def of_others(self, raw: Values) -> Values:
        """Other people's values of this column (n,), numbers or texts, in this form."""
        if self.kind == "one-hot":
            return np.asarray(raw == self.category, dtype=np.float64)
        if self.names is not None:
            return _placed(raw, self.names).astype(np.float64)
        return raw if self.text else np.asarray((raw - self.shift) / self.scale)

    def lookup(self, found: Values) -> tuple[Ints, Ints]:
        """Codes of the values found (r,) and of the training rows (N,): equal values, equal codes; -1: in no row.

        Numbers that were written with few decimals are compared after rounding the training values alike.
        """
        if self.text:
            return _placed(np.char.strip(found.astype(str)), self.levels), np.searchsorted(self.levels, self.values)
        numbers = found if found.dtype.kind == "f" else parsed(found)
        digits = _decimals(found, numbers)
        if digits is not None and self.kind == "raw":
            step = 10.0**-digits
            mine = _in_steps(self.values, step)
            levels = np.unique(mine)
            return _placed(_in_steps(numbers, step), levels), np.searchsorted(levels, mine)
        known = self.levels[np.isfinite(self.levels)]
        reach = CLOSE * float(np.ptp(known)) if len(known) else 0.0
        if digits is not None and digits >= ROUNDED:
            reach = max(reach, 0.5 * 10.0**-digits)
        return _nearest(numbers, self.levels, reach), np.searchsorted(self.levels, self.values)


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """The training rows: names of their columns, and the forms in which these are looked for."""

    names: tuple[str, ...]
    forms: tuple[Form, ...]
    raw: tuple[Values, ...]

    @classmethod
    def of(cls, table: pd.DataFrame) -> TrainingTable:
        """The forms of a table."""
        if len(table) < 2 or not len(table.columns):
            raise JaliError(f"The training table needs at least two rows and a column; it is {table.shape}.")
        raw = tuple(values_of(table[name]) for name in table.columns)
        forms = [form for j, values in enumerate(raw) for form in _forms(j, values)]
        return cls(tuple(normal(name) for name in table.columns), tuple(forms), raw)

    @property
    def rows(self) -> int:
        """How many training rows there are."""
        return len(self.raw[0])

    @cached_property
    def known_names(self) -> frozenset[str]:
        """The names of the columns, as they are compared."""
        return frozenset(self.names)


def values_of(column: Any) -> Values:
    """A column of a pandas table as numbers, gaps as NaN, or as texts, also of whole numbers that no float holds."""
    if column.dtype.kind in "iuf":
        x = np.asarray(column.to_numpy(np.float64, na_value=np.nan))
        if column.dtype.kind == "f" or not (np.abs(x) >= EXACT).any():
            return x
    texts = column.map(frames.label, na_action="ignore").astype(object).where(column.notna(), "")
    return np.char.strip(texts.astype(str).to_numpy(dtype=str))


def _forms(j: int, values: Values) -> list[Form]:
    """A column as it is, and as scalers and encoders of scikit-learn and pandas would make it."""
    if values.dtype.kind == "f":
        known = values[np.isfinite(values)]
        filled = np.where(np.isfinite(values), values, np.inf)
        out = [Form(j, "raw", filled)]
        if len(known) and known.min() < known.max() and np.abs(known).max() < SCALABLE:
            low, high, centre = float(known.min()), float(known.max()), float(known.mean())
            spreads = {float(known.std()), float(known.std(ddof=1))}
            out += [Form(j, "standardised", (filled - centre) / s, centre, s) for s in sorted(spreads)]
            out.append(Form(j, "scaled to 0-1", (filled - low) / (high - low), low, high - low))
        return out
    names = np.unique(values)
    one_hot = names if len(names) <= MOST_CATEGORIES else names[:0]
    marked = [Form(j, "one-hot", (values == name).astype(np.float64), category=str(name)) for name in one_hot]
    codes = Form(j, "codes", np.searchsorted(names, values).astype(np.float64), names=names)
    return [Form(j, "text", values), codes, *marked]


def parsed(texts: Values) -> Floats:
    """Texts (r,) as numbers; NaN where one is none.

    >>> parsed(np.array(["1,234.5", "x"]))
    array([1234.5,    nan])
    """
    out = np.full(len(texts), np.nan)
    for i, text in enumerate(texts.tolist()):
        try:
            out[i] = float(text.replace(",", "").replace("\N{MINUS SIGN}", "-").rstrip("%"))
        except ValueError:
            continue
    return out


def _decimals(found: Values, numbers: Floats) -> int | None:
    """How many decimals values (r,) were written with, None for more than five."""
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        return None
    if found.dtype.kind != "f":
        tails = [text.partition(".")[2] for text in found.tolist()]
        longest = max((len(tail.rstrip("%")) for tail in tails), default=0)
        return longest if longest <= DECIMALS and not any("e" in tail for tail in tails) else None
    some = known[np.abs(known) < EXACT][:1000]  # larger ones have no decimals
    return next((d for d in range(DECIMALS) if np.all(np.abs(some - some.round(d)) < 1e-9 * (1 + np.abs(some)))), None)


def _in_steps(x: Floats, step: float) -> Floats:
    """Numbers (n,) as whole steps; a number of which there are too many steps stays as it is: it has no decimals."""
    with np.errstate(over="ignore"):
        steps = np.rint(x / step)
    return np.where(np.isinf(steps), x, steps)


def _placed(found: Values, levels: Values) -> Ints:
    """The place (r,) of each value among sorted levels, -1 where it is none of them."""
    place = np.searchsorted(levels, found).clip(max=len(levels) - 1)
    return np.where(levels[place] == found, place, -1)


def _nearest(numbers: Floats, levels: Floats, reach: float) -> Ints:
    """The place (r,) of the nearest of sorted levels, -1 where it is further than within rounding."""
    known: Bools = np.isfinite(numbers)
    x = np.where(known, numbers, 0.0)
    right = np.searchsorted(levels, x).clip(max=len(levels) - 1)
    left = (right - 1).clip(min=0)
    with np.errstate(invalid="ignore"):
        near = np.where(np.abs(levels[left] - x) <= np.abs(levels[right] - x), left, right)
        close = np.abs(levels[near] - x) <= reach + 4e-7 * np.abs(x)
    return np.where(known & close, near, -1)
