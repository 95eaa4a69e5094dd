"""Data sets that are derived from another one and pass on its origin, licence and files."""

from __future__ import annotations

from jali.core.protocols import Source
from jali.data.tables.files import Documented, Remote


class Wrapped:
    """A data set derived from `source`: with its licence and files; `derived` describes its origin."""

    source: Source

    def derived(self, origin: str) -> str:
        """The origin of the source and what was done to it, in one sentence."""
        return origin

    @property
    def origin(self) -> str:
        """Where the source comes from, and what was done to it."""
        return self.derived(self.source.origin if isinstance(self.source, Documented) else "a data set of your own")

    @property
    def licence(self) -> str:
        """The licence of the source."""
        return self.source.licence if isinstance(self.source, Documented) else "yours"

    @property
    def files(self) -> tuple[Remote, ...]:
        """The files of the source."""
        return self.source.files if isinstance(self.source, Documented) else ()
