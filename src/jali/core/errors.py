"""The one kind of error that is the user's to put right; apart from `core` so that `jali --help` needs no numpy."""


class JaliError(ValueError):
    """One sentence: what was expected, what came, what to do."""
