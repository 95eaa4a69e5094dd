"""What a few first answers show about a user's explainer: its width, its randomness, what it keeps between calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from jali.adapters.explainers.callers import TEN
from jali.adapters.explainers.own import OwnExplainer, Ready, said
from jali.adapters.explainers.user_view import Tile
from jali.core.encoding import Encoding
from jali.core.errors import JaliError
from jali.core.explanation import Attribution, Counterfactual
from jali.core.values import Bools, Floats

KEPT = 10  # columns that shap's kernel explainer keeps
RANDOM = (
    "its answers are random. This audit asks once with fixed seeds; somebody who asks several times can average the "
    "noise away, and would see more"
)
STATEFUL = (
    "it gives other answers to the same rows when it is asked again with the same seeds, so it keeps something between "
    "calls or draws from a generator of its own. The results of this audit cannot be repeated to the last digit"
)
COMPANY = (
    "its answer about a row depends on the rows asked with it. Here up to 256 random rows are asked at once; in use it "
    "may be others"
)
BOUND = (
    "it is bound to the audited model and cannot explain shadow models, so only attacks without shadow models were "
    "run, which find less. Give a function that makes it, such as lambda model, background: shap.TreeExplainer(model), "
    "to have all attacks"
)
STALE = (
    "its attributions do not add up to what this model predicts, so it probably was made for another one. Make it "
    "again from the model that is audited"
)
ADDS_UP = ("TreeExplainer", "LinearExplainer")  # of shap: their values add up to the prediction, up to rounding
LIKE = 0.998  # correlation of the sums with the predictions: shap rounds, and other models are further off


def tried(part: OwnExplainer, ready: Ready) -> OwnExplainer:
    """The explainer with what its answers to a few training rows show; raises if it can explain none of them."""
    notes = [BOUND] if part.bound else []
    if part.gives != "surrogate":
        notes += _answers(part, ready)
    sentences = [f"{part.name}: {note}." for note in notes]
    if part.gives != "surrogate" and (warns := ready.caller.warns) and not _needless(warns, ready):
        sentences.append(warns)
    part.caution = " ".join(sentences)
    return part


def _answers(part: OwnExplainer, ready: Ready) -> list[str]:
    """Notes on the answers to a few rows, asked again, with other seeds, and in smaller company."""
    few = ready.few()
    first = _asked(ready, few, 1)
    found = first[1]
    if not found.any() and (ready.failed or part.gives == "attribution"):
        why = _why(part, ready)
        raise JaliError(f"{part.name} could not explain any of {len(few)} training rows: {why}.")
    schema = ready.view.schema
    notes = [STALE] if part.bound and _of_another(ready, few) else []
    if part.gives == "attribution":
        part.width = _width(ready, few)
        if part.width != len(schema.columns) and not _reads_features(ready, few):
            notes.append(
                f"it gives {part.width} numbers per row where the table has {len(schema.columns)} columns, so whole "
                "attributions are read along random directions. Give one number per column to have each column read"
            )
    if not _same(first, _asked(ready, few, 1)):
        return [*notes, STATEFUL]
    if not _same(first, _asked(ready, few, 2)):
        return notes if ready.caller.warns else [*notes, RANDOM]
    half = np.arange(len(few)) < len(few) // 2
    if half.any() and not _same((first[0][half], first[1][half]), _asked(ready, few.pick(half), 1)):
        notes.append(COMPANY)
    return notes


def _of_another(ready: Ready, few: Tile) -> bool:
    """Whether values of shap add up to other predictions than those of the model, in any unit."""
    if type(ready.thing).__name__ not in ADDS_UP or len(ready.view.position) != 2:
        return False
    value, found = ready.raw_attributions(few, 1)
    sums = (np.where(few.decision == 1, 1.0, -1.0) * value.sum(axis=1))[found]
    margin = (ready.view.model.logits(few.X) @ [-1.0, 1.0])[found]
    if min(np.ptp(sums), np.ptp(margin), len(sums) - 3) <= 0:
        return False
    return bool(max(np.corrcoef(sums, known)[0, 1] for known in (margin, expit(margin))) < LIKE)


def _why(part: OwnExplainer, ready: Ready) -> str:
    """Why no row could be explained."""
    if ready.error is not None:
        return said(ready.error)
    if part.gives == "attribution":
        return "the answers hold no finite numbers"
    return "the answers hold values that the table does not have, or are no rows: return rows with values of the table"


def _reads_features(ready: Ready, few: Tile) -> bool:
    """Whether the model reads the encoded features, and there is one attribution for each."""
    wide = len(Encoding(ready.view.schema).source)
    return bool(ready.part.width == wide == np.shape(few.rows)[1])


def _needless(warns: str, ready: Ready) -> bool:
    """Whether a warning about ten columns is about a table that has no more."""
    return warns == TEN and len(ready.view.schema.columns) <= KEPT


def _asked(ready: Ready, few: Tile, seed: int) -> tuple[Floats, Bools]:
    """The numbers of the answers (n, W), and where there are any (n,)."""
    given: Any = ready.explain(few.X, np.random.default_rng(seed))
    if isinstance(given, Counterfactual):
        assert given.origin is not None
        ready.part.shows_rows = ready.part.shows_rows or bool((given.origin >= 0).any())
        return given.rows, given.found
    assert isinstance(given, Attribution)
    return given.value, given.found


def _width(ready: Ready, few: Tile) -> int:
    """How many numbers an attribution has, before it is placed on the encoded features."""
    given, _ = ready.raw_attributions(few, 1)
    return int(given.shape[1])


def _same(one: tuple[Floats, Bools], other: tuple[Floats, Bools]) -> bool:
    """Whether two answers agree up to rounding."""
    return bool(
        one[0].shape == other[0].shape
        and np.array_equal(one[1], other[1])
        and np.allclose(one[0], other[0], rtol=1e-6, atol=1e-9, equal_nan=True)
    )
