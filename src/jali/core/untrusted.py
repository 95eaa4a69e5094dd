"""Files that somebody else may have written: a specification is refused if it would run code outside jali."""

from __future__ import annotations

from jali.core import registry
from jali.core.errors import JaliError
from jali.core.imports import ForeignCodeError

KINDS: dict[str, tuple[registry.PartKind, ...]] = {
    "attack": ("attack", "query_attack"),
    "defend": ("explain", "model"),
}  # settings that take several kinds


def vet(file: str, setting: str, text: str) -> None:
    """Refuse a specification in a file that would import a module outside jali.

    >>> vet("audit.toml", "model", "logistic(C=10.0)")
    """
    if module := foreign(setting, text):
        raise JaliError(
            f"{file} would run the module {module!r}, which its {setting} {text!r} names: "
            "add --trust (in Python, trust=True) if you trust both."
        )


def foreign(setting: str, text: str) -> str:
    """The module outside jali that a specification would import, empty where there is none; nothing is imported.

    Other errors in the specification are left to `registry.build`, which stops at the same place.

    >>> foreign("model", "logistic(C=10.0)"), foreign("model", "my_lab:Trainer(3)")
    ('', 'my_lab')
    """
    for kind in KINDS.get(setting, (setting,)):
        try:
            registry.build(kind, text, modules=())  # type: ignore[arg-type]
        except ForeignCodeError as error:
            return error.module
        except JaliError:
            continue
    return ""
