from __future__ import annotations

import dataclasses
import importlib
import linecache
import sys
import textwrap

import pytest

from jali.core import registry
from jali.core.errors import JaliError


@pytest.mark.parametrize("kind", list(registry.FOLDERS))
def test_every_file_of_a_folder_holds_one_part_with_a_summary(kind):
    assert registry.names(kind) or kind in ("query_attack", "knowledge")
    for name in registry.names(kind):
        assert dataclasses.is_dataclass(registry.find(kind, name))
        assert registry.summary(kind, name).endswith((".", ":"))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("attack", 'lira(spread="shrunken", prior=3.5)'),
        ("attack", "ratio(lift=0.3)"),
        ("game", "halves(targets=2, shadows=5, share=0.25)"),
        ("data", 'table(path="a \\"quoted\\" name.csv", target="y\\\\z")'),
        ("model", "mlp(hidden=[32, 16], epochs=3)"),
        ("model", 'sklearn(estimator="sklearn.tree:DecisionTreeClassifier", params="max_depth=3")'),
    ],
)
def test_a_specification_survives_a_round_trip(kind, text):
    part = registry.build(kind, text)
    assert registry.spec(part) == text
    assert registry.build(kind, registry.spec(part, every=True)) == part


def test_defaults_are_left_out_and_positions_are_read():
    assert registry.spec(registry.build("game", "rotate(32, 0.5)")) == "rotate"
    assert registry.build("game", "rotate(8)").models == 8


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("attack", "lria", "did you mean lira"),
        ("data", "nothing_like_it_at_all", "there are adult"),
        ("attack", "lira(spred=1)", "no field 'spred'; it has spread, prior"),
        ("attack", 'lira(spread="wide")', "must be one of common, pooled"),
        ("attack", 'lira(prior="a")', "prior must be a number, not 'a'"),
        ("game", "rotate(models=2.5)", "models must be a whole number, not 2.5"),
        ("game", "rotate(models=true)", "models must be a whole number, not True"),
        ("attack", "lira(", "closing"),
        ("attack", "lira)", "left over"),
        ("attack", "", "ends too early"),
        ("attack", "3", "does not name a part"),
        ("attack", "lira(prior=__import__)", "quoted string"),
        ("attack", "lira; import os", "Cannot read"),
        ("data", "table", "needs path"),
        ("attack", "no.such.module:Thing", "Cannot import"),
        ("attack", "os:getcwd", "not a dataclass"),
    ],
)
def test_what_cannot_be_built_is_one_sentence(kind, text, says):
    with pytest.raises(JaliError, match=says.replace("(", r"\(")):
        registry.build(kind, text)


def test_a_part_of_ones_own_by_import_path(tmp_path, monkeypatch):
    source = """
        from dataclasses import dataclass
        from typing import ClassVar

        @dataclass(frozen=True)
        class Mine:
            "The mirror of the signal."
            scale: float = 1.0
            requires: ClassVar[frozenset] = frozenset()
            many: ClassVar[bool] = False

            def score(self, target, shadows):
                return -self.scale * target.value[0]
    """
    (tmp_path / "my_lab_attacks.py").write_text(textwrap.dedent(source))
    monkeypatch.syspath_prepend(tmp_path)
    part = registry.build("attack", "my_lab_attacks:Mine(scale=2)")
    assert part.scale == 2.0
    assert registry.spec(part) == "my_lab_attacks:Mine(scale=2.0)"
    first = registry.key(part)
    (tmp_path / "my_lab_attacks.py").write_text(textwrap.dedent(source).replace("-self", "+self"))
    sys.modules.pop("my_lab_attacks")
    linecache.clearcache()
    importlib.invalidate_caches()
    registry.source.cache_clear()
    assert registry.key(registry.build("attack", "my_lab_attacks:Mine(scale=2)")) != first


def test_keys_follow_content():
    lira = registry.build("attack", "lira")
    assert registry.key(lira, 1) == registry.key(registry.build("attack", "lira"), 1)
    assert len({registry.key(lira, 1), registry.key(lira, 2), registry.key(registry.build("attack", "ratio"), 1)}) == 3


def test_keys_follow_the_source_of_whatever_a_part_is_made_of(tmp_path, monkeypatch):
    """An estimator named in a text, and a part inside a part, count with their source."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lab_inner.py").write_text("X = 1\n")
    part = registry.build("model", 'sklearn(estimator="lab_inner:Clf")')
    first = registry.key(part)
    registry.source.cache_clear()
    assert registry.key(part) == first
    (tmp_path / "lab_inner.py").write_text("X = 2\n")
    sys.modules.pop("lab_inner", None)
    linecache.clearcache()
    importlib.invalidate_caches()
    registry.source.cache_clear()
    assert registry.key(part) != first


OWN = """
    from dataclasses import dataclass
    from lab_helpers import sign

    @dataclass(frozen=True)
    class Mine:
        "A signal that a helper turns."

        def score(self, target, shadows):
            from lab_later import scale
            return scale * sign * target.value[0]
"""


@pytest.mark.parametrize("changed", ["lab_helpers/__init__.py", "lab_helpers/deep.py", "lab_later.py"])
def test_keys_follow_a_users_module_into_the_users_other_modules(tmp_path, monkeypatch, changed):
    """Also through a package, a relative import, and a module that is imported only when the part runs."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lab_helpers").mkdir()
    texts = {
        "lab_own.py": textwrap.dedent(OWN),
        "lab_helpers/__init__.py": "from .deep import sign\n",
        "lab_helpers/deep.py": "sign = 1\n",
        "lab_later.py": "scale = 1\n",
        "lab_unused.py": "never = 1\n",
    }

    def key():
        for name in [name for name in sys.modules if name.startswith("lab_")]:
            del sys.modules[name]
        for name, text in texts.items():
            (tmp_path / name).write_text(text)
        linecache.clearcache()
        importlib.invalidate_caches()
        registry.source.cache_clear()
        return registry.key(registry.build("attack", "lab_own:Mine"))

    first = key()
    texts["lab_unused.py"] += "# edited\n"
    assert key() == first
    texts[changed] += "# edited\n"
    assert key() != first


def test_the_version_of_a_library_that_a_users_module_imports_is_in_its_key(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lab_versions.py").write_text("import lightgbm\n")
    monkeypatch.setattr(registry, "version", lambda name: {"lightgbm": "4.1"}.get(name, ""))
    registry.source.cache_clear()
    before = registry.source("lab_versions")
    monkeypatch.setattr(registry, "version", lambda name: {"lightgbm": "4.2"}.get(name, ""))
    registry.source.cache_clear()
    assert registry.source("lab_versions") != before
    registry.source.cache_clear()


def test_keys_follow_what_a_part_imports_and_nothing_else(monkeypatch):
    """scfe stands on the helpers of its folder; the text of a report, and another explainer, change no number of it."""
    texts = {}
    original = registry.imports.source
    monkeypatch.setattr(registry.imports, "source", lambda name: original(name) + texts.get(name, ""))

    def fresh(changed=""):
        texts.clear()
        texts[f"jali.{changed}"] = "\n# edited\n"
        registry.source.cache_clear()
        registry.code.cache_clear()
        return registry.key(registry.build("explain", "scfe"))

    first = fresh()
    assert fresh("explain.growing_spheres") == fresh("report.audit.html") == first
    below = ("explain.scfe", "explain._recourse.task", "core.encoding", "audit.one_model")
    assert len({first, *map(fresh, below)}) == 1 + len(below)
    registry.source.cache_clear()
    registry.code.cache_clear()


@pytest.mark.parametrize("text", ["committee(" * 3000, "[" * 5000, "lira(" * 101])
def test_brackets_without_end_are_one_sentence(text):
    with pytest.raises(JaliError, match="more than 100 brackets"):
        registry.build("model", text)


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("query_attack", "replay", "minimality"),
        ("knowledge", "census", "population_register"),
        ("game", "visitors", "outsiders"),
        ("game", "fixed", "given_model"),
        ("game", "fixed_offline", "given_model_offline"),
    ],
)
def test_an_old_name_is_answered_with_the_new_one(kind, old, new):
    with pytest.raises(JaliError, match=f"'{old}' is now called '{new}'"):
        registry.build(kind, old)


def test_the_version_of_another_library_is_in_the_key_of_a_part_that_names_it(monkeypatch):
    """What `json.decoder` computes may change with its library although its own text does not."""
    registry.source.cache_clear()
    before = registry.source("json.decoder")
    plain = registry.version
    monkeypatch.setattr(registry, "version", lambda name: "9.9" if name == "json" else plain(name))
    registry.source.cache_clear()
    try:
        assert registry.source("json.decoder") != before
    finally:
        registry.source.cache_clear()


@pytest.mark.parametrize(
    "line",
    [
        'importlib.import_module("lab_deep.inner")',
        'importlib.import_module(".inner", "lab_deep")',
        "from lab_deep import *",
    ],
)
def test_keys_follow_modules_that_are_named_in_texts(tmp_path, monkeypatch, line):
    """Also through `__all__` of a package, which names modules that a star imports."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "lab_deep").mkdir()
    (tmp_path / "lab_deep" / "__init__.py").write_text('__all__ = ["inner"]\n')
    (tmp_path / "lab_deep" / "inner.py").write_text("X = 1\n")
    (tmp_path / "lab_names.py").write_text(f"import importlib\n{line}\n" if "*" not in line else f"{line}\n")
    importlib.invalidate_caches()
    registry.source.cache_clear()
    before = registry.source("lab_names")
    (tmp_path / "lab_deep" / "inner.py").write_text("X = 2\n")
    registry.source.cache_clear()
    assert registry.source("lab_names") != before
