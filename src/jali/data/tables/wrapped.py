"""Data sets that are derived from another one and pass on its origin, licence and files."""

from __future__ import annotations

from jali.core.protocols import Source
from jali.data.tables.files import Remote


class Wrapped:
    """A data set derived from `source`: with its licence and files; `derived` describes its origin."""

    source: Source

    def derived(self, origin: str) -> str:
        """The origin of the source and what was done to it, in one sentence."""
        return origin

    @property
    def origin(self) -> str:
        """Where the source comes from, and what was done to it."""
        return self.derived(str(getattr(self.source, "origin", "a data set of your own")))

    @property
    def licence(self) -> str:
        """The licence of the source."""
        return str(getattr(self.source, "licence", "yours"))

    @property
    def files(self) -> tuple[Remote, ...]:
        """The files of the source."""
        return getattr(self.source, "files", ())
