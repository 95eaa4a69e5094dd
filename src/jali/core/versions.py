"""Versions of installed packages, by the names that code imports them by."""

from __future__ import annotations

import functools
import sys
from importlib import metadata


def version(package: str) -> str:
    """The version of a package, empty if it is not installed; some are installed by another name.

    >>> version("sklearn") == "scikit-learn " + version("scikit-learn"), version("json"), version("no_such_package")
    (True, '', '')
    """
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        named = () if package in sys.stdlib_module_names else _installed().get(package, ())
        return " ".join(f"{name} {metadata.version(name)}" for name in sorted(set(named)))


@functools.cache
def _installed() -> dict[str, tuple[str, ...]]:
    """Names by which packages are installed, by the names that they are imported by."""
    return {name: tuple(found) for name, found in metadata.packages_distributions().items()}
