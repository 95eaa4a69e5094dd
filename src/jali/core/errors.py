"""The error that a user can fix; in a module of its own, so that `jali --help` does not import numpy."""


class JaliError(ValueError):
    """One sentence: what was expected, what came, what to do."""
