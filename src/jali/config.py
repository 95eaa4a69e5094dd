"""The settings of an audit, as options or as TOML; one declaration for both."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jali.core import files
from jali.core.alternatives import written_out
from jali.core.errors import JaliError
from jali.core.untrusted import foreign, vet
from jali.text import toml
from jali.text.characters import SURROGATES, UNSEEN

OWN = (
    "target",
    "favourable",
    "quasi",
    "groups",
    "sensitive",
    "drop",
    "immutable",
    "kind",
    "bounds",
)  # settings of a file of one's own
SPECIFICATIONS = ("data", "model", "game", "explain", "attack", "knowledge", "signal", "defend")  # they name parts
FILES = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet")
HIDDEN = re.compile(f"(?!\n){UNSEEN.pattern}|[\u2028\u2029]")  # of a TOML text, whose own line breaks stay


class Config(BaseModel):
    """A named experiment: specifications of parts and a seed. The defaults are the embedded audit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: str = "lending"
    target: str = ""
    favourable: str = ""
    quasi: list[str] = Field(default_factory=list)
    groups: str = ""
    sensitive: str = ""
    drop: list[str] = Field(default_factory=list)
    immutable: list[str] = Field(default_factory=list)
    kind: list[str] = Field(default_factory=list)
    bounds: list[str] = Field(default_factory=list)
    declare: str = ""
    model: str = "logistic"
    game: str = "rotate"
    explain: list[str] = Field(default_factory=list)
    attack: list[str] = Field(default_factory=list)
    knowledge: str = ""
    signal: list[str] = Field(default_factory=list)
    defend: list[str] = Field(default_factory=list)  # what `jali frontier` compares; an audit does not read it
    seed: int = Field(default=0, ge=0, lt=2**32)
    evidence: str = ""
    as_released: str = ""
    file: str = Field(default="", exclude=True)
    base: str = Field(default="", exclude=True)

    def title(self) -> str:
        """What the report is about."""
        if self.evidence:
            return self.model or "evidence"
        return f"{Path(self.data).name if self.is_file() else self.data}, {self.model}"

    def is_file(self) -> bool:
        """Whether the data are a user's own file."""
        return self.data.lower().endswith(FILES)

    def specifications(self, setting: str) -> list[str]:
        """What a setting says, as specifications of parts; a path of data is none."""
        value = getattr(self, setting)
        texts = value if isinstance(value, list) else [value]
        if setting == "defend":
            texts = [one for text in texts for one in written_out(text)]
        return [text for text in texts if text and not (setting == "data" and self.is_file())]

    def vet(self, trust: bool | Collection[str]) -> None:
        """Refuse modules that are named in settings without trust."""
        trusted = SPECIFICATIONS if trust is True else trust or ()
        for setting in SPECIFICATIONS:
            for text in self.specifications(setting) if setting not in trusted else ():
                vet(self.file or "The configuration", setting, text)

    def source(self) -> str:
        """The specification of the data source; a relative path counts from `base`."""
        if not self.is_file():
            if given := [f"--{name}" for name in OWN if getattr(self, name)]:
                goes = "goes" if len(given) == 1 else "go"
                raise JaliError(
                    f"{' and '.join(given)} {goes} with a file of your own (.csv, .tsv or .parquet), and {self.data!r} "
                    "is none; a named data set has its own."
                )
            return f"declared({self.data}, schema={_quoted(self._path(self.declare))})" if self.declare else self.data
        if not self.target and not self.declare:
            raise JaliError(f"{self.data} needs a target: name the column to predict with --target.")
        fields = {"path": self._path(self.data)} | {name: getattr(self, name) for name in OWN}
        if self.declare:
            fields["schema"] = self._path(self.declare)
        return f"table({', '.join(f'{k}={_quoted(v)}' for k, v in fields.items() if v)})"

    def _path(self, given: str) -> str:
        """A path, which counts from `base` where it is relative."""
        return str(Path(self.base) / given)

    def toml(self, folder: Path = Path()) -> str:
        """The same configuration as a file in a folder, from where it finds the data again."""
        values = self.model_dump()
        paths = ["declare"] * bool(self.declare) + ["data"] * self.is_file()
        values |= {name: os.path.relpath(self._path(values[name]), folder) for name in paths}
        given = {key: value for key, value in values.items() if value not in ("", [])}
        own = any(foreign(setting, text) for setting in SPECIFICATIONS for text in self.specifications(setting))
        return f"# Repeat with: jali audit audit.toml{' --trust' if own else ''}\n{written(given)}"


DEFAULT = Config(
    data="lending(n=6000)",
    model="logistic(C=10.0)",
    game="rotate(models=32)",
    explain=["linear_recourse", "input_x_gradient"],
)


def read(path: Path) -> Config:
    """A configuration from a TOML file."""
    if path.name.lower().endswith(FILES):
        raise JaliError(f"{path} is a table, not a configuration: write --data {path} and name the --target.")
    try:
        settings = toml.parsed(files.content(path).decode("utf-8"))
        return checked(settings | {"file": str(path), "base": str(path.parent)})
    except OSError as error:
        raise JaliError(f"Cannot read {path}: {error.strerror}.") from None
    except JaliError as error:
        raise JaliError(f"{path}: {error}") from None
    except ValueError as error:  # not UTF-8, or not TOML
        raise JaliError(f"{path} is not valid TOML: {error}.") from None


def written(values: Mapping[str, Any]) -> str:
    """Values as TOML in which every character can be seen; what is None is left to its default.

    A lone surrogate, which no UTF-8 file can hold, becomes the replacement character.

    >>> print(written({"seed": 1, "data": {"source": "adult"}}))
    seed = 1
    <BLANKLINE>
    [data]
    source = "adult"
    """
    text = SURROGATES.sub("\N{REPLACEMENT CHARACTER}", tomli_w.dumps(_given(values)))
    # Hidden characters occur only inside quotes, where TOML reads the escape as the character.
    return HIDDEN.sub(lambda hidden: f"\\u{ord(hidden[0]):04X}", text).strip()


def _given(value: Any) -> Any:
    """The same values without those that are None."""
    if isinstance(value, Mapping):
        return {key: _given(item) for key, item in value.items() if item is not None}
    return [_given(item) for item in value if item is not None] if isinstance(value, (list, tuple)) else value


def checked(values: dict[str, Any]) -> Config:
    """A configuration, or one sentence about the first thing that is wrong with it."""
    known = [name for name, field in Config.model_fields.items() if not field.exclude]
    for name in values:
        if name not in (*known, "file", "base"):
            near = difflib.get_close_matches(name, known, n=1)
            raise JaliError(
                f"There is no setting {name!r}{f'; did you mean {near[0]!r}' if near else ''}? "
                f"There are {', '.join(known)}."
            )
    for name, value in values.items():
        if any(SURROGATES.search(text) for text in (value if isinstance(value, list) else [value]) if _is_text(text)):
            raise JaliError(f"{name} is no text in UTF-8, and audit.toml could not name it: rename the file or folder.")
    try:
        return Config(**values)
    except ValidationError as error:
        first = error.errors()[0]
        raise JaliError(f"{'.'.join(str(p) for p in first['loc'])}: {first['msg']}, not {first['input']!r}.") from None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _quoted(value: str | list[str]) -> str:
    """A text or a list of texts as specifications write them."""
    if isinstance(value, list):
        return f"[{', '.join(map(_quoted, value))}]"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
