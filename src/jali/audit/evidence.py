"""Evidence files: signals and membership as plain arrays, written by an audit or by another tool."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jali.core.errors import JaliError
from jali.core.values import Evidence, Floats, Game, SignalName, Unit
from jali.store import MOST, Arrays, map_arrays, release, scratch, write_arrays

GAME = ("member", "targets", "shadows", "scored", "asked", "aside", "record_weight", "person", "oriented")
WHOLE = ("signals", "explainers", "value", "observed")  # arrays of a file that an audit wrote
MASK = "observed/"  # prefix of the array that marks where a signal was observed, in a file of plain arrays
WEIGHTED = (
    "The file has weights of records (`record_weight`): members and non-members are no random samples of the same "
    "people, and all numbers count non-members by how much they resemble the members."
)
LOW = ("loss", "variance", "l1", "l2", "linf")
# Scales of the signals of files that an audit wrote before it named them.
OWN = {
    "confidence": Unit.LOG_ODDS,
    "loss": Unit.LOG_PROBABILITY,
    "entropy": Unit.MINUS_LOG,
    "squared_error": Unit.MINUS_LOG,
    "correctness": Unit.YES_NO,
    "counterfactual_distance": Unit.LOG,
    "attribution_l1": Unit.MINUS_LOG,
    "attribution_l2": Unit.MINUS_LOG,
    "attribution_variance": Unit.MINUS_LOG,
}
# By how much the numbers of models that trained on a record may vary unlike those of independent columns: a share of
# their variance, and deviations.
UNLIKE, SURELY = 0.1, 4.0
CELLS = 1_000_000  # that are converted or compared at a time
LOGARITHMIC = ("variance", "l1", "l2", "linf", "counterfactual_distance")


def write(path: Path, evidence: Evidence, game: Game) -> None:
    """Write evidence with the whole game, so that it can be attacked again without the model."""
    arrays: Arrays = {"member": game.member, "targets": game.targets, "shadows": game.shadows, "scored": game.scored}
    if game.asked is not None:
        arrays["asked"] = game.asked
    if game.aside is not None:
        arrays["aside"] = game.aside
    if game.weight is not None:
        arrays["record_weight"] = game.weight
    if game.person is not None:
        arrays["person"] = game.person
    arrays["signals"] = np.array([name.signal for name in evidence.names], dtype=np.str_)
    arrays["explainers"] = np.array([name.explainer for name in evidence.names], dtype=np.str_)
    arrays["parts"] = np.array([-1 if name.part is None else name.part for name in evidence.names])
    arrays["units"] = np.array([unit.value for unit in evidence.units], dtype=np.str_)
    arrays["value"] = evidence.value
    arrays["observed"] = evidence.observed
    if not _is_there(path, arrays):
        write_arrays(path, arrays)


def _is_there(path: Path, arrays: Arrays) -> bool:
    """Whether a file holds exactly these arrays: reading it takes a tenth of the time of writing it."""
    if not path.is_file():
        return False
    try:
        old = map_arrays(path)
    except JaliError:
        return False
    return len(old) == len(arrays) and all(name in old and _same(old[name], a) for name, a in arrays.items())


def _same(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Whether two arrays are the same, block by block."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.ndim < 3:
        return np.array_equal(a, b)
    return all(np.array_equal(x[rows], y[rows]) for x, y in zip(a, b, strict=True) for rows in blocks(x.shape))


def blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Rows of an array of this shape, a million cells at a time.

    >>> list(blocks((5, 500_000)))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    step = max(1, CELLS // max(1, int(np.prod(shape[1:], dtype=np.int64))))
    for start in range(0, shape[0], step):
        yield slice(start, start + step)


def read(
    path: Path, raw: bool = False, low: Sequence[str] = (), most: float = MOST
) -> tuple[Evidence, Game, list[str]]:
    """Evidence and game of a file, with warnings: a file that an audit wrote, or anybody's plain arrays.

    most: how many bytes of arrays are read at most.

    Of plain arrays, known names get their orientation and scale: -log for variance, l1, l2 and linf, log for
    counterfactual_distance, log-odds for a cross-entropy loss; raw keeps the scale. Any other name is larger = member
    unless listed in low.
    """
    arrays = map_arrays(path, most)
    _check_kinds(arrays)
    member = _membership(arrays)
    try:
        found = _whole(arrays, member, low) if all(name in arrays for name in WHOLE) else _plain(path, arrays, raw, low)
        _check_no_model_twice(found)
        return found, *_game(arrays, member)
    except (ValueError, TypeError, IndexError, KeyError, ArithmeticError) as error:  # arrays that do not fit each other
        raise JaliError(f"{path} is no evidence that can be read: {str(error).rstrip('.')}.") from None


def _whole(arrays: Arrays, member: npt.NDArray[np.bool_], low: Sequence[str]) -> Evidence:
    """Evidence that an audit wrote."""
    parts = arrays.get("parts", np.full(len(arrays["signals"]), -1)).tolist()
    known = zip(arrays["signals"].tolist(), arrays["explainers"].tolist(), parts, strict=True)
    names = tuple(SignalName(signal, explainer, None if part < 0 else part) for signal, explainer, part in known)
    _known(low, [str(name) for name in names])
    value = arrays["value"]
    if value.shape != (len(names), *member.shape):
        raise JaliError(f"`value` has shape {value.shape}, but there are {len(names)} signals of shape {member.shape}.")
    value = np.asarray(value, dtype=np.float64)
    if low:
        value = _turned(value, [s for s, name in enumerate(names) if str(name) in low])
    units = tuple(_unit(text) for text in arrays["units"].tolist()) if "units" in arrays else _of_names(names)
    turned = tuple(Unit.PLAIN if str(name) in low else unit for name, unit in zip(names, units, strict=True))
    read_only(value, arrays["observed"])
    return Evidence(names, value, arrays["observed"], member, turned)


def _turned(value: Floats, signals: Sequence[int]) -> Floats:
    """A copy of values (S, N, M) with some signals negative."""
    out: Floats = scratch(value.shape, np.float64)
    for s, cells in enumerate(value):
        for rows in blocks(cells.shape):
            out[s, rows] = -cells[rows] if s in signals else cells[rows]
    return out


def _unit(text: str) -> Unit:
    try:
        return Unit(text)
    except ValueError:
        known = ", ".join(unit.value for unit in Unit)
        raise JaliError(f"`units` names the scale {text!r}; there are {known}.") from None


def _of_names(names: Sequence[SignalName]) -> tuple[Unit, ...]:
    """The scales of signals that jali computes itself, by their names."""
    return tuple(OWN.get(name.signal, Unit.PLAIN) for name in names)


def _plain(path: Path, arrays: Arrays, raw: bool, low: Sequence[str]) -> Evidence:
    """Evidence of plain arrays, one per signal; the first edition of jali wrote such files too."""
    member = _membership(arrays)
    names = [n for n in arrays if n not in GAME and not n.startswith(MASK)]
    if not names:
        raise JaliError(f"{path} holds no signal: add one array of shape {member.shape} per signal beside `member`.")
    _known(low, names)
    if stray := [n for n in arrays if n.startswith(MASK) and n.removeprefix(MASK) not in names]:
        raise JaliError(f"`{stray[0]}` marks the gaps of no signal: the file has {', '.join(names)}.")
    oriented = bool(arrays.get("oriented", False))
    shape = (len(names), *member.shape)
    value: Floats = scratch(shape, np.float64)
    # Where nothing is missing, one True is seen as many: evidence is large.
    gaps = any(MASK + name in arrays for name in names)
    observed = scratch(shape, bool) if gaps else np.broadcast_to(np.True_, shape)
    for s, name in enumerate(names):
        if gaps:
            observed[s] = _mask(arrays, name, member.shape)
        turned = None if oriented and name not in low else (raw, name in low)
        _fill(value[s], name, arrays.pop(name), observed[s], turned)
        release(value)
    signals = tuple(_first_edition(name) if oriented else SignalName(name) for name in names)
    units = _of_names(signals) if oriented else tuple(_plain_unit(name, raw or name in low) for name in names)
    read_only(value, observed)
    return Evidence(signals, value, observed, member, units)


def read_only(*arrays: npt.NDArray[Any]) -> None:
    """Give arrays away: values copy what somebody else could still change, and evidence is large."""
    for array in arrays:
        array.setflags(write=False)


def _plain_unit(name: str, raw: bool) -> Unit:
    """The scale on which `_oriented` puts a signal of plain arrays."""
    if raw:
        return Unit.PLAIN
    if name == "loss":
        return Unit.LOG_ODDS
    if name in LOGARITHMIC:
        return Unit.MINUS_LOG if name in LOW else Unit.LOG
    return Unit.PLAIN


def _first_edition(name: str) -> SignalName:
    """The name of a signal in files of the first edition: signal, or explainer/signal."""
    explainer, _, signal = name.rpartition("/")
    return SignalName(signal, explainer)


def _known(low: Sequence[str], names: list[str]) -> None:
    """Refuse a signal that is not in the file."""
    unknown = [n for n in low if n not in names]
    if unknown:
        raise JaliError(f"--low {unknown[0]}: there is no such signal; the file has {', '.join(names)}.")


def _membership(arrays: Arrays) -> npt.NDArray[np.bool_]:
    if "member" not in arrays:
        raise JaliError("The file holds no array `member`: a bool of shape (records, models), True where trained on.")
    member = arrays["member"]
    if member.ndim != 2 or not member.size:
        raise JaliError(f"`member` must be a (records, models) array of True and False; it has shape {member.shape}.")
    if not np.isin(np.unique(member), (0, 1)).all():
        raise JaliError("`member` must hold True and False, or 1 and 0, and nothing else.")
    return member.astype(bool)


def _mask(arrays: Arrays, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    mask = arrays.get(MASK + name)
    if mask is None:
        return np.ones(shape, dtype=bool)
    if mask.shape != shape:
        raise JaliError(f"`{MASK}{name}` has shape {mask.shape}, but `member` has {shape}.")
    return mask.astype(bool)


def _fill(
    out: Floats, name: str, array: npt.NDArray[Any], observed: npt.NDArray[np.bool_], turned: tuple[bool, bool] | None
) -> None:
    """Enter a signal (N, M), block by block; turned: raw and low of `_oriented`, None where it is oriented already."""
    if array.shape != observed.shape:
        raise JaliError(f"Signal {name!r} has shape {array.shape}, but `member` has {observed.shape}: they must agree.")
    if not np.issubdtype(array.dtype, np.number) and array.dtype != bool:
        raise JaliError(f"Signal {name!r} must hold numbers, not {array.dtype}.")
    bad = 0
    for rows in blocks(array.shape):
        cells = array[rows].astype(np.float64)
        mine = observed[rows]
        wrong = mine & ~np.isfinite(cells)
        bad += int(wrong.sum())
        cells = np.where(mine & ~wrong, cells, 0.0)
        out[rows] = cells if turned is None else _oriented(name, cells, mine & ~wrong, *turned)
    if bad:
        raise JaliError(
            f"Signal {name!r} holds {bad} missing or infinite values; mark gaps in a bool array `{MASK}{name}`."
        )


def _oriented(name: str, cells: Floats, observed: npt.NDArray[np.bool_], raw: bool, low: bool) -> Floats:
    """Larger = more member-like, on the scale where the signal is closest to normal."""
    sign = -1.0 if low or name in LOW else 1.0
    if raw or name not in (*LOGARITHMIC, "loss"):
        return sign * cells
    if cells[observed].min(initial=0.0) < 0:
        raise JaliError(f"Signal {name!r} holds negative values, so it has no logarithm: use --raw, or another name.")
    safe = np.where(observed, np.maximum(cells, 1e-12), 1.0)
    # log p/(1-p) with p = exp(-loss); for large losses expm1 overflows and the value is -loss.
    scaled = np.where(safe > 30, safe, np.log(np.expm1(np.minimum(safe, 30)))) if name == "loss" else np.log(safe)
    return np.where(observed, sign * scaled, 0.0)


KINDS = {"targets": "iu", "shadows": "b", "scored": "b", "asked": "b", "aside": "b", "record_weight": "f"}
KINDS |= {"person": "iu", "parts": "i"}


def _check_kinds(arrays: Arrays) -> None:
    """Refuse arrays of the game that do not hold what they must: numbers of models, yes or no, weights."""
    words = {"iu": "whole numbers", "i": "whole numbers", "b": "True and False", "f": "fractions"}
    for name, kinds in KINDS.items():
        if name in arrays and arrays[name].dtype.kind not in kinds:
            raise JaliError(f"`{name}` must hold {words[kinds]}, not {arrays[name].dtype}.")


def _game(arrays: Arrays, member: npt.NDArray[np.bool_]) -> tuple[Game, list[str]]:
    """The game in a file; without one, every column in turn is the target and the others are its shadows."""
    named = [n for n in ("targets", "shadows", "scored") if n in arrays]
    if len(named) == 3:
        more = arrays.get("asked"), arrays.get("aside"), arrays.get("record_weight"), arrays.get("person")
        warnings = [WEIGHTED] if "record_weight" in arrays else []
        game = Game(member, arrays["targets"], arrays["shadows"], arrays["scored"], *more)
        _check_both_sides(game)
        return game, warnings
    if named:
        missing = next(n for n in ("targets", "shadows", "scored") if n not in arrays)
        raise JaliError(f"The file names {', '.join(named)} but not {missing}: give all three, or none.")
    n, m = member.shape
    if m < 2:
        raise JaliError("With a single model there are no shadow models to compare with: add some as further columns.")
    lonely = [j for j in range(m) if member[:, j].all() or not member[:, j].any()]
    if lonely:
        raise JaliError(f"Model {lonely[0]} has only members or only non-members, so nothing can be guessed about it.")
    game = Game(member, np.arange(m), _others(member), np.ones((n, m), dtype=bool), arrays.get("asked"))
    return replace(game, person=arrays.get("person")), _counted(member)


def _others(member: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whose shadow models are whose (M, M): of each model all that were trained on other people.

    A model with the same training set shows the target's own membership to the attack. Where no other would be left,
    all are taken, and the checks find what is wrong.

    >>> _others(np.array([[True, True, False], [False, False, True]])).astype(int)
    array([[0, 0, 1],
           [0, 0, 1],
           [1, 1, 0]])
    """
    sets = [column.tobytes() for column in np.packbits(member, axis=0).T]
    number = {one: k for k, one in enumerate(dict.fromkeys(sets))}
    of = np.array([number[one] for one in sets])
    others = of[:, None] != of
    return others if others.any(axis=1).all() else ~np.eye(len(of), dtype=bool)


def _check_no_model_twice(found: Evidence) -> None:
    """A model that stands in two columns would be its own shadow model, and count as two targets."""
    first: dict[bytes, int] = {}
    for j, column in enumerate(found.member.T):
        i = first.setdefault(np.packbits(column).tobytes(), j)
        if i != j and np.array_equal(found.value[:, :, i], found.value[:, :, j]):
            raise JaliError(
                f"Models {i} and {j} have the same training set and the same values of all signals, so they are one "
                "model twice: leave one of them out."
            )


def _check_both_sides(game: Game) -> None:
    """Every target that judges somebody must judge members and non-members."""
    for t, column in enumerate(game.targets.tolist()):
        truth = game.member[game.judged()[:, t], column]
        if len(truth) and (truth.all() or not truth.any()):
            there, missing = ("members", "non-members") if truth.all() else ("non-members", "members")
            raise JaliError(
                f"All records that are scored under model {column} are {there}, so nothing can be guessed: "
                f"add {missing} to `scored`."
            )


def _counted(member: npt.NDArray[np.bool_]) -> list[str]:
    """A warning where the number of models that trained on a record (N, M) tells something about each of them.

    Of columns that are drawn independently the numbers have the variance sum_j p_j (1 - p_j), within a deviation of
    sqrt(2 / N) of it.
    """
    number = member.sum(axis=1)
    share = member.mean(axis=0)
    variance = float(number.var()) / float((share * (1 - share)).sum())
    beyond = max(UNLIKE, SURELY * (2 / len(member)) ** 0.5)
    if np.unique(number).size == 1:
        how = "Every record is in the same number of models"
    elif variance < 1 - beyond:
        how = "Records are in nearly the same number of models"
    elif variance > 1 + beyond:
        how = "Some records are in most of the models and others in few, more than by chance"
    else:
        return []
    return [
        f"{how}, so counting the other columns gives membership away; name `targets`, `shadows` and `scored` in the "
        "file, or draw the columns independently."
    ]
