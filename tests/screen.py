"""A terminal's screen: what is left on it of the bytes that a program wrote, as far as rich uses control sequences."""

from __future__ import annotations

import re

SEQUENCE = re.compile(r"\x1b\[(?P<numbers>[\d;?]*)(?P<letter>[A-Za-z])|\r|\n|(?P<text>[^\x1b\r\n]+)")
IGNORED = ("m", "h", "l")  # colours, and whether the cursor shows


class Screen:
    """Lines of a given width, all that ever scrolled by; a sequence that is not known is an error."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines = [""]
        self.row = 0
        self.column = 0

    def feed(self, written: str) -> Screen:
        """Show what a program wrote."""
        at = 0
        for match in SEQUENCE.finditer(written):
            assert match.start() == at, f"not understood: {written[at : match.start()]!r}"
            at = match.end()
            if match["letter"]:
                self._control(match["letter"], match["numbers"])
            elif match["text"]:
                for character in match["text"]:
                    self._put(character)
            elif match[0] == "\r":
                self.column = 0
            else:
                self._down()
        assert at == len(written), f"not understood: {written[at:]!r}"
        return self

    def _control(self, letter: str, numbers: str) -> None:
        if letter in IGNORED:
            return
        many = int(numbers or 0)
        if letter == "A":
            self.row = max(0, self.row - max(1, many))
        elif letter == "K":
            line = self.lines[self.row]
            erased = {0: line[: self.column], 1: " " * self.column + line[self.column :], 2: ""}
            self.lines[self.row] = erased[many]
        else:
            raise AssertionError(f"not understood: {letter!r} with {numbers!r}")

    def _put(self, character: str) -> None:
        if self.column == self.width:
            self.column = 0
            self._down()
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[: self.column] + character + line[self.column + 1 :]
        self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")

    def text(self) -> list[str]:
        """The lines, without the blank ones."""
        return [line.rstrip() for line in self.lines if line.strip()]
