"""Files that somebody else may have written: what they name is refused where it would run code of other modules."""

from __future__ import annotations

from jali import parts
from jali.core import JaliError
from jali.own import Foreign

KINDS: dict[str, tuple[parts.PartKind, ...]] = {"attack": ("attack", "inquiry")}  # settings that take several kinds


def vet(file: str, setting: str, text: str) -> None:
    """Refuse a specification in a file that would import a module outside jali; what else is wrong, `build` says.

    Reading stops before the import, and a class of scikit-learn is looked at only when a model is trained.

    >>> vet("audit.toml", "model", "logistic(C=10.0)")
    """
    for kind in KINDS.get(setting, (setting,)):
        try:
            parts.build(kind, text, modules=())  # type: ignore[arg-type]
        except Foreign as error:
            raise JaliError(
                f"{file} would run the module {error.module!r}, which its {setting} {text!r} names: "
                "add --trust (in Python, trust=True) if you trust both."
            ) from None
        except JaliError:
            continue
