"""The pages of the docs that are made from the code: docs/glossary.md and docs/api.md.

python benchmarks/make_docs.py [folder]. A test compares the pages with what this makes.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import jali
from jali.core import metrics
from jali.report.audit import controls

ROOT = Path(__file__).parents[1]
GROUPS = {
    "Guesses about membership": metrics.GUESSES,
    "Attacks that set their own threshold": metrics.DECISIONS,
    "People named, and values disclosed": metrics.IDENTITY,
    "What a query attack had to work with": metrics.ADVERSARY,
    "The model": metrics.MODEL,
    "Explanations": metrics.EXPLANATIONS,
}
WORSE = {"higher": "higher is worse", "lower": "lower is worse", "neither": ""}
TERMS = {
    "Member": "A record that was used to train the model.",
    "Target": "The model that is attacked.",
    "Shadow model": "A model that the adversary trains to learn how members and non-members look.",
    "Channel": "What the adversary sees of a record: the decision, the score, the explanation, or several together.",
    "Quasi-identifier": "A column by which somebody outside can find a person, such as age or postcode.",
    controls.TERM: controls.SAYS,
}


def glossary() -> str:
    """Terms, and the metric table."""
    parts = ["# Glossary\n\nMade from the metric table (`core/metrics.py`) by `benchmarks/make_docs.py`.\n"]
    parts += [f"**{term}.** {says}\n" for term, says in TERMS.items()]
    for title, table in GROUPS.items():
        parts.append(f"## {title}\n\n| metric | in files | meaning |\n|---|---|---|")
        for metric in table:
            text = f"{metric.name}@…" if "{" in metric.label else metric.name
            name = metric.label.replace("{percent}", "α").replace("{count:,.0f}", "n").replace("{count:.0f}", "c")
            worse = f" ({WORSE[metric.worse]})" if WORSE[metric.worse] else ""
            parts.append(f"| {name} | `{text}` | {metric.says}{worse} |")
        parts.append("")
    return "\n".join(parts)


def interface() -> str:
    """Every public name with its signature and its docstring."""
    parts = [
        "# Python interface\n\nEvery public name of `jali`, made from the docstrings by `benchmarks/make_docs.py`. "
        "What this list promises: [stability](stability.md).\n"
    ]
    for name in jali.__all__:
        if name.startswith("__"):
            continue
        found = getattr(jali, name)
        given = getattr(__import__("jali.api", fromlist=[name]), name) if inspect.ismodule(found) else found
        parts.append(f"## jali.{name}\n\n{_described(name, given)}")
        if inspect.isclass(given):
            parts += [f"### {name}.{m}\n\n{_described(m, f)}" for m, f in _methods(given)]
    return "\n".join(parts)


def _methods(kind: type) -> list[tuple[str, object]]:
    """Public methods and properties, those of parents too."""
    found = [(n, inspect.getattr_static(kind, n)) for n in dir(kind) if not n.startswith("_")]
    return [(n, f) for n, f in found if inspect.isfunction(f) or isinstance(f, property | classmethod)]


def _described(name: str, given: object) -> str:
    """Signature and docstring; doctests as code."""
    target = given.fget if isinstance(given, property) else given
    target = target.__func__ if isinstance(target, classmethod) else target
    doc = inspect.getdoc(target) or ""
    text, mark, example = doc.partition("\n>>> ")
    code = f"\n```python\n>>> {example.strip()}\n```\n" if mark else ""
    signature = "" if isinstance(given, property) else f"```python\n{name}{_signature(target)}\n```\n\n"
    return f"{signature}{text.strip()}\n{code}"


def _signature(target: object) -> str:
    try:
        made = str(inspect.signature(target))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(…)"
    made = re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", made)  # an address is another one each time
    return made.replace("(self, ", "(").replace("(self)", "()").replace("(cls, ", "(")


def pages() -> dict[str, str]:
    """The pages by name."""
    return {"glossary.md": glossary(), "api.md": interface()}


def main(folder: Path) -> None:
    """Write the pages."""
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs")
