"""Parts of one's own whose results cannot be known again by their specification, and the texts of odd values."""

from __future__ import annotations

import functools
import importlib
import math
import os
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from jali.core import registry
from jali.core.contents import began, files, untold
from jali.core.errors import JaliError
from jali.explain.reason_codes import ReasonCodes


@dataclass(frozen=True)
class Mine:
    """A part of a user's own that holds anything."""

    held: Any
    gives: ClassVar[str] = "attribution"


@dataclass(frozen=True)
class Noted:
    """A part that notes something beside its fields."""

    name: str = "weights"

    def __post_init__(self):
        object.__setattr__(self, "weights", np.ones(3))


@dataclass(frozen=True)
class Lazy:
    """A part that computes something of its fields when it is first asked for it."""

    k: int = 2

    @functools.cached_property
    def power(self):
        return 2**self.k


class Plain:
    """An explainer that is no dataclass; it says of itself what it likes."""

    gives = "attribution"

    def __init__(self, k: int) -> None:
        self.k = k

    def __repr__(self) -> str:
        return "Plain()"

    def prepare(self, model, schema, train, rng):
        return self


@dataclass
class Round:
    """A part that can hold itself."""

    held: list[Any] = field(default_factory=list)


def around() -> Round:
    part = Round()
    part.held.append(part)
    return part


ODD = [np.zeros(3), LogisticRegression(), {"a": np.zeros(3)}, {len}, lambda: 1, LogisticRegression]
TOLD = [
    None,
    True,
    1,
    0.5,
    "a",
    [1, "a", None, (0.5, True)],
    {"a": 1},
    {1, 2},
    b"a",
    Path("a"),
    np.float64(1),
    np.int64(2),
]


@pytest.mark.parametrize("held", ODD, ids=lambda held: type(held).__name__)
def test_of_a_part_that_holds_an_object_nothing_is_stored(held):
    assert "of which a specification does not say all" in untold(Mine(held))
    assert untold(Mine([1, held])) == untold(Mine(held)) == untold(ReasonCodes(inner=Mine(held))) != ""


@pytest.mark.parametrize("held", [*TOLD, Mine(3)], ids=str)
def test_texts_numbers_lists_and_parts_are_told(held):
    assert untold(Mine(held)) == ""


def test_a_value_beside_the_fields_is_not_told():
    assert untold(Noted()) == "Noted has 'weights', which is no field"


def test_what_is_computed_of_the_fields_is_told():
    part = Lazy()
    assert (part.power, untold(part)) == (4, "")


def test_a_part_that_is_no_dataclass_is_not_told():
    """Alone and inside a wrapper of ours: its text was its own, and a second one read the results of the first."""
    assert "Plain" in untold((Plain(1),))
    assert "Plain" in untold(ReasonCodes(inner=Plain(1)))


def test_a_class_without_a_file_is_not_told(monkeypatch):
    monkeypatch.setattr(Mine, "__module__", "__main__")
    assert untold(Mine(1)) == "the source of Mine is in no file"


def test_our_own_parts_are_told():
    assert untold(registry.build("explain", 'reason_codes(tree_shap, show="signs")')) == ""


def module(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.py").write_text(text)
    os.utime(folder / f"{name}.py", (began() - 3600.0,) * 2)


PART = "from dataclasses import dataclass\nimport {helper}\n@dataclass(frozen=True)\nclass Part:\n    k: int = 1\n"


@pytest.mark.parametrize(("start", "why"), [(math.inf, ""), (0.0, "lab_old was changed after this process began")])
def test_a_module_that_was_changed_since_the_process_began_is_not_trusted(tmp_path, monkeypatch, start, why):
    """Also one whose time was set back: nobody can tell which version of it is loaded."""
    monkeypatch.syspath_prepend(tmp_path)
    module(tmp_path, "lab_young", "X = 1\n")
    module(tmp_path, "lab_old", PART.format(helper="lab_young"))
    importlib.invalidate_caches()
    monkeypatch.setattr("jali.core.contents.began", lambda: start)
    part = registry.build("attack", "lab_old:Part")
    assert untold(part) == why
    assert {path.name for path in files(part)} == {"lab_old.py", "lab_young.py"}
    for name in ("lab_old", "lab_young"):
        sys.modules.pop(name, None)


def test_a_part_in_a_package_with_an_empty_init_is_told(tmp_path, monkeypatch):
    """`inspect` finds no source in an empty file, so that nothing was found again of any part in such a package."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lab_package").mkdir()
    (tmp_path / "lab_package" / "__init__.py").write_text("")
    module(tmp_path / "lab_package", "parts", PART.format(helper="json"))
    importlib.invalidate_caches()
    monkeypatch.setattr("jali.core.contents.began", lambda: math.inf)
    part = registry.build("attack", "lab_package.parts:Part")
    assert "lab_package" in sys.modules
    registry.source.cache_clear()
    assert registry.source("lab_package.parts") != registry.RUN
    assert untold(part) == ""
    for name in ("lab_package.parts", "lab_package"):
        sys.modules.pop(name, None)


def test_a_text_that_names_a_file_which_is_no_python_loses_nothing(tmp_path, monkeypatch):
    """Such a file cannot be imported, so only its text counts."""
    monkeypatch.syspath_prepend(tmp_path)
    module(tmp_path, "lab_two", "print 'old'\n")
    module(tmp_path, "lab_kind", PART.format(helper="json") + '    kind: str = "lab_two"\n')
    importlib.invalidate_caches()
    monkeypatch.setattr("jali.core.contents.began", lambda: math.inf)
    assert untold(registry.build("attack", "lab_kind:Part")) == ""
    assert registry.source("lab_kind") != registry.RUN
    sys.modules.pop("lab_kind", None)


def test_a_process_began_before_files_that_it_writes_and_after_those_it_found(tmp_path):
    """Within the ticks of the system's clock."""
    (tmp_path / "written").write_text("")
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert began() <= (tmp_path / "written").stat().st_mtime + tick
    code = "import sys, os; from jali.core.contents import began; print(began() - os.stat(sys.argv[1]).st_mtime)"
    said = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "written"], capture_output=True, text=True, check=True
    )
    assert float(said.stdout) >= -2 * tick


@pytest.mark.parametrize("held", [lambda: 1, object(), {"b", "a", "c"}])
def test_the_text_of_an_object_holds_no_address_and_no_order_of_chance(held):
    text = registry.spec(Mine(held))
    assert "0x" not in text
    if isinstance(held, set):
        assert text.endswith('(held={"a", "b", "c"})')


def test_a_part_that_holds_itself_is_one_sentence():
    assert untold(around()) == "Round holds itself"
    with pytest.raises(JaliError, match="leads back to itself"):
        registry.spec(around())


def test_an_array_is_never_compared_with_a_default():
    @dataclass(frozen=True)
    class Weighted:
        weights: Any = None

    assert "weights=array" in registry.spec(Weighted(np.ones(2)))
    assert "weights=[array" in registry.spec(Weighted([np.ones(2)]))


def test_a_number_of_numpy_that_equals_the_default_is_not_written():
    assert registry.spec(replace(registry.build("attack", "lira"), prior=np.float64(11.0))) == registry.spec(
        replace(registry.build("attack", "lira"), prior=11.0)
    )
