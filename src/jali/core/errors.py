"""The error that a user can fix; in a module of its own, so that `jali --help` does not import numpy."""

LONGEST = 900  # characters of a sentence; what it quotes of a file may be longer
END = 200  # of them at the end, where it says what to do


class JaliError(ValueError):
    r"""One sentence: what was expected, what came, what to do.

    It may quote a file that somebody else wrote: control characters are replaced, and what is too long is cut out.

    >>> ascii(str(JaliError("no column \x1b[31mage")))
    "'no column \\ufffd[31mage'"
    """

    def __str__(self) -> str:
        return one_sentence(super().__str__())


def one_sentence(text: str) -> str:
    """A text without control characters, with its middle left out where it is long."""
    plain = "".join(
        sign if sign.isprintable() else " " if sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text
    )
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - END]} … {plain[-END:]}"
