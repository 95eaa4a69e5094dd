"""Data sets made from another one, which pass on where that comes from."""

from __future__ import annotations

from jali.core.protocols import Source
from jali.data.tables.files import Documented, Remote


class Wrapped:
    """What a data set made from `source` says about itself: licence and files of the source, origin as `told`."""

    source: Source

    def told(self, origin: str) -> str:
        """The origin of the source and what was done to it, in one sentence."""
        return origin

    @property
    def origin(self) -> str:
        """Where the source comes from, and what was done to it."""
        return self.told(self.source.origin if isinstance(self.source, Documented) else "a data set of your own")

    @property
    def licence(self) -> str:
        """The licence of the source."""
        return self.source.licence if isinstance(self.source, Documented) else "yours"

    @property
    def files(self) -> tuple[Remote, ...]:
        """The files of the source."""
        return self.source.files if isinstance(self.source, Documented) else ()
