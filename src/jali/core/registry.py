"""Names <-> parts. The folders are the registry: `lira` of kind `attack` is the one public class of jali.attacks.lira.

A specification is one safe grammar for command line, TOML, rows and cache keys:
`lira(spread="shrunken", prior=11.0)`, `my_lab.attacks:Mine(k=3)`, `k_anonymous(nice(), k=10)`.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import hashlib
import importlib
import inspect
import pkgutil
import re
import uuid
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, Literal

from jali.core import imports, own_modules
from jali.core.errors import JaliError
from jali.core.fields import fitting
from jali.core.literals import differs, literal
from jali.core.versions import version

PartKind = Literal["data", "game", "model", "explain", "signal", "attack", "query_attack", "knowledge"]
FOLDERS: dict[str, tuple[str, ...]] = {
    "data": ("data",),
    "game": ("games",),
    "model": ("models", "defend.models"),
    "explain": ("explain", "defend.explain", "adapters.explainers.libraries"),
    "signal": ("signals",),
    "attack": ("attacks",),
    "query_attack": ("query_attacks",),
    "knowledge": ("knowledge",),
}
ROOT = Path(__file__).parents[1]
PROTOCOLS = {
    "Source": "data",
    "Design": "game",
    "Trainer": "model",
    "Explainer": "explain",
    "Signal": "signal",
    "Attack": "attack",
    "QueryAttack": "query_attack",
    "Knowledge": "knowledge",
}
TOKEN = re.compile(
    r"\s*(?:(?P<string>\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|(?P<number>-?\d[\w.+-]*|-?\.\d[\w.+-]*)"
    r"|(?P<name>[A-Za-z_][\w.]*(?::[A-Za-z_]\w*)?)|(?P<mark>[()\[\],=]))"
)
PLAIN_IMPORT = re.compile(r"^[ \t]*import (jali[\w.]*)", re.MULTILINE)
FROM_IMPORT = re.compile(r"^[ \t]*from (jali[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
DEEPEST = 100  # brackets of one specification
RUN = uuid.uuid4().hex
LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "shap", "captum", "opacus", "transformers", "lime", "dice-ml")
RENAMED = {  # parts, since edition 1
    "replay": "minimality",
    "census": "population_register",
    "visitors": "outsiders",
    "fixed": "given_model",
    "fixed_offline": "given_model_offline",
    "attribution_peak": "attribution_perturbation",
    "confidence_peak": "confidence_perturbation",
}
WORDS = {"true": True, "false": False, "none": None, "True": True, "False": False, "None": None}


def names(kind: PartKind) -> tuple[str, ...]:
    """Every built-in part of a kind.

    >>> "lira" in names("attack")
    True
    """
    found: list[str] = []
    for folder in FOLDERS[kind]:
        package = importlib.import_module(f"jali.{folder}")
        modules = [m for m in pkgutil.iter_modules(package.__path__) if not m.ispkg]
        found += [m.name for m in modules if not m.name.startswith("_")]
    return tuple(sorted(found))


def build(kind: PartKind, text: str, modules: Collection[str] | None = None) -> Any:
    """The part a specification names; where `modules` are given, it may import no others, except from scikit-learn.

    >>> build("attack", 'lira(spread="shrunken")').spread
    'shrunken'
    """
    tokens = _tokens(text)
    if sum(word in "([" for _, word in tokens) > DEEPEST:
        raise JaliError(f"Cannot read {text[:40]!r}…: it has more than {DEEPEST} brackets.")
    part, rest = _value(kind, tokens, _Specification(text, modules))
    if rest:
        raise JaliError(f"Cannot read {text!r}: {rest[0][1]!r} is left over.")
    if isinstance(part, (str, int, float, bool, list, type(None))):
        raise JaliError(f"{text!r} does not name a part of kind {kind}.")
    return part


def spec(part: Any, every: bool = False) -> str:
    """The specification of a part: fields that differ from their defaults, or every field.

    >>> spec(build("attack", "lira"))
    'lira'
    """
    try:
        return _written(part, every)
    except RecursionError:
        raise JaliError(f"A field of {name_of(part)} leads back to itself, so no text of it can be written.") from None


def _written(part: Any, every: bool) -> str:
    if not dataclasses.is_dataclass(part) or isinstance(part, type):
        return _literal(part)
    given = []
    for f in dataclasses.fields(part):
        value = getattr(part, f.name)
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        if every or differs(value, default):
            given.append(f"{f.name}={_written(value, every)}")
    name = name_of(part)
    return f"{name}({', '.join(given)})" if given else name


def name_of(part: Any) -> str:
    """The name of a part: its file for a built-in one, an import path for any other."""
    module = type(part).__module__
    folder, _, name = module.rpartition(".")
    built_in = any(folder == f"jali.{known}" for folders in FOLDERS.values() for known in folders)
    return name if built_in else f"{module}:{type(part).__name__}"


def distinct(parts: Iterable[Any]) -> list[Any]:
    """Each part once; those with the same specification are one."""
    return list({spec(part): part for part in parts}.values())


def summary(kind: PartKind, name: str) -> str:
    """First sentence of a part's docstring."""
    return (inspect.getdoc(find(kind, name)) or "").split("\n")[0]


def key(*ingredients: Any) -> str:
    """Content key of anything: parts by full specification and source, nested ones too, the rest by text.

    Where `core.contents.untold` says something of a part, its specification is not enough, and nothing is stored.
    """
    digest = hashlib.sha256(code().encode())
    for item in ingredients:
        text = _everything(item) if dataclasses.is_dataclass(item) else repr(item)
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()[:40]


def _everything(part: Any) -> str:
    """All that decides the numbers of a part, as text."""
    return spec(part, every=True) + "".join(map(source, sorted(modules(part))))


def modules(value: Any, texts: bool = True) -> set[str]:
    """Modules behind a part: its own, those of parts inside it, and those that its texts name as import paths.

    >>> sorted(modules(build("model", 'sklearn(estimator="lab.trees:Mine")')))
    ['jali.models.sklearn', 'lab.trees']
    """
    if isinstance(value, str):
        path = re.fullmatch(r"([A-Za-z_][\w.]*):[A-Za-z_]\w*", value)
        return {path[1]} if path and texts else set()
    if isinstance(value, list | tuple):
        return set().union(*(modules(item, texts) for item in value))
    if not dataclasses.is_dataclass(value):
        return set()
    ours = _ours(type(value).__module__)  # our parts declare which texts name code: a column may be called "a:b"
    inside = ((getattr(value, f.name), not ours or _names_code(f)) for f in dataclasses.fields(value))
    return {type(value).__module__}.union(*(modules(item, texts) for item, texts in inside))


@functools.cache
def code() -> str:
    """Digest of the code that every number depends on and of the library versions, so that a change makes keys stale.

    Code that only some parts use is digested with those parts, so that editing it keeps the other stored numbers.
    """
    versions = repr([version(name) for name in LIBRARIES])
    return hashlib.sha256((versions + source("jali.audit.one_model")).encode()).hexdigest()


# --- reading ---------------------------------------------------------------------------------------------------

Tokens = list[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class _Specification:
    """A specification while it is read, and the modules that it may import (None: any)."""

    text: str
    modules: Collection[str] | None

    def __repr__(self) -> str:
        return repr(self.text)


def _tokens(text: str) -> Tokens:
    out, at = [], 0
    while at < len(text.rstrip()):
        match = TOKEN.match(text, at)
        if not match:
            raise JaliError(
                f"Cannot read {text!r} at {text[at : at + 10]!r}; expected something like name(field=value)."
            )
        out.append((str(match.lastgroup), match[0].strip()))
        at = match.end()
    return out


def _value(kind: str | None, tokens: Tokens, specification: _Specification) -> tuple[Any, Tokens]:
    if not tokens:
        raise JaliError(f"Cannot read {specification!r}: it ends too early.")
    what, word = tokens[0]
    rest = tokens[1:]
    if what == "string":
        return re.sub(r"\\(.)", r"\1", word[1:-1]), rest
    if what == "number":
        return _number(word, specification), rest
    if what == "mark":
        if word != "[":
            raise JaliError(f"Cannot read {specification!r}: unexpected {word!r}.")
        return _list(kind, rest, specification)
    if word in WORDS:
        return WORDS[word], rest
    if kind is None:
        raise JaliError(f"Cannot read {specification!r}: {word} must be written as a quoted string here.")
    return _part(kind, word, rest, specification)


def _number(word: str, specification: _Specification) -> int | float:
    try:
        return int(word) if re.fullmatch(r"-?\d+", word) else float(word)
    except ValueError:
        raise JaliError(f"Cannot read {specification!r}: {word!r} is not a number.") from None


def _list(kind: str | None, tokens: Tokens, specification: _Specification) -> tuple[tuple[Any, ...], Tokens]:
    items: list[Any] = []
    while tokens and tokens[0][1] != "]":
        item, tokens = _value(kind, tokens, specification)
        items.append(item)
        if tokens and tokens[0][1] == ",":
            tokens = tokens[1:]
    if not tokens:
        raise JaliError(f"Cannot read {specification!r}: a closing ] is missing.")
    return tuple(items), tokens[1:]


def _part(kind: str, name: str, tokens: Tokens, specification: _Specification) -> tuple[Any, Tokens]:
    if ":" in name and specification.modules is not None:
        imports.admit(name, specification.text, specification.modules)
    cls = find(kind, name)
    fields = {f.name: f for f in dataclasses.fields(cls)}
    given: dict[str, Any] = {}
    if tokens and tokens[0] == ("mark", "("):
        tokens = tokens[1:]
        while tokens and tokens[0][1] != ")":
            named = len(tokens) > 1 and tokens[1] == ("mark", "=")
            field = tokens[0][1] if named else next((f for f in fields if f not in given), "")
            if field not in fields:
                raise JaliError(f"{name} has no field {field or 'left'!r}; it has {_listed(fields) or 'none'}.")
            given[field], tokens = _value(_field_kind(fields[field]), tokens[2:] if named else tokens, specification)
            given[field] = fitting(name, field, _annotation(fields[field]), _field_kind(fields[field]), given[field])
            if _names_code(fields[field]) and specification.modules is not None:
                imports.admit(given[field], specification.text, specification.modules, imports.KNOWN)
            if tokens and tokens[0][1] == ",":
                tokens = tokens[1:]
        if not tokens:
            raise JaliError(f"Cannot read {specification!r}: a closing ) is missing.")
        tokens = tokens[1:]
    missing = [f for f, d in fields.items() if f not in given and _required(d)]
    if missing:
        raise JaliError(f"{name} needs {_listed(missing)}: write {name}({missing[0]}=…).")
    return cls(**given), tokens


def _required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _annotation(field: dataclasses.Field[Any]) -> str:
    """The annotation as text, whether or not the module postpones them."""
    named = isinstance(field.type, type) and not hasattr(field.type, "__args__")
    return field.type.__name__ if named else str(field.type).removeprefix("typing.")  # type: ignore[union-attr]


def _names_code(field: dataclasses.Field[Any]) -> bool:
    return _annotation(field) == "ImportPath"


def _field_kind(field: dataclasses.Field[Any]) -> str | None:
    words = re.findall(r"\w+", _annotation(field))
    return next((PROTOCOLS[w] for w in words if w in PROTOCOLS), None)


def find(kind: str, name: str) -> Any:
    """The class of a part of a kind, by its name or its import path.

    >>> find("attack", "lira").__name__
    'LiRA'
    """
    if ":" in name:
        return _imported(name)
    known = names(kind)  # type: ignore[arg-type]
    if name not in known and RENAMED.get(name) in known:
        raise JaliError(f"The {kind} {name!r} is now called {RENAMED[name]!r}: use that name.")
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
        hint = f"did you mean {' or '.join(near)}" if near else f"there are {_listed(known)}"
        raise JaliError(f"There is no {kind} called {name!r}; {hint}? (A part of your own is package.module:Class.)")
    for folder in FOLDERS[kind]:
        if ROOT.joinpath(*folder.split("."), f"{name}.py").exists():
            return _public(f"jali.{folder}.{name}")
    raise JaliError(f"There is no {kind} called {name!r}.")


def _imported(path: str) -> Any:
    cls = imports.named(path)
    if not dataclasses.is_dataclass(cls):
        raise JaliError(f"{path!r} is not a dataclass; a part is a frozen dataclass with one method.")
    return cls


@functools.cache
def _public(module: str) -> Any:
    """The one public dataclass of a module."""
    loaded = importlib.import_module(module)
    mine = [c for c in vars(loaded).values() if inspect.isclass(c) and c.__module__ == module]
    parts = [c for c in mine if dataclasses.is_dataclass(c) and not c.__name__.startswith("_")]
    if len(parts) != 1:
        raise JaliError(f"{module} must hold exactly one public part, not {len(parts)}.")
    return parts[0]


@functools.cache
def source(module: str) -> str:
    """Digest of a module and of all of jali that it imports; if a source is missing, a digest for this run only.

    A user's own module is digested with all others of their own that it imports. Of another library the version is
    digested too, because most of what it computes stands in other modules of it.
    """
    found: dict[str, str] = {}
    todo = {module}
    while todo:
        name = todo.pop()
        try:
            text = imports.source(name)  # nothing is imported: attacks load large libraries
            found[name] = text if _ours(name) else text + _beyond(name, text)
            own = set() if _ours(name) else own_modules.imported_by(name, text)
        except (OSError, TypeError, ImportError, SyntaxError, ValueError):
            return RUN
        todo |= (_imports(text) | own) - set(found)
    return hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest()


def _beyond(module: str, text: str) -> str:
    """Versions of the libraries that a module which is not ours belongs to or, if it is a user's own, imports."""
    libraries = own_modules.packages(text) if own_modules.is_own(module) else [module.partition(".")[0]]
    return "".join(map(version, libraries))


def _imports(source: str) -> set[str]:
    """Modules of jali that a source imports, at its top or inside its functions; parsing it would take longer."""
    out = set(PLAIN_IMPORT.findall(source))
    for module, names in FROM_IMPORT.findall(source):
        out |= {module} | {f"{module}.{name}" for name in re.findall(r"\w+", names)}
    return {name for name in out if _is_module(name)}


def _ours(module: str) -> bool:
    return module.partition(".")[0] == "jali"


@functools.cache
def _is_module(name: str) -> bool:
    """Whether a dotted name of jali is a module with code in it, not something inside one."""
    path = ROOT.joinpath(*name.split(".")[1:])
    return path.with_suffix(".py").exists()


def _literal(value: Any) -> str:
    return f"[{', '.join(_written(v, False) for v in value)}]" if isinstance(value, (list, tuple)) else literal(value)


def _listed(items: Any) -> str:
    return ", ".join(str(i) for i in items)
