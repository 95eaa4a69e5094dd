from __future__ import annotations

import tomllib

import pytest

from jali import config
from jali.config import Config, written
from tests.report import sample

HOSTILE = {
    "quotes": 'é"\\\'\'\'"""',
    "line breaks": "a\nb\r\nc\td\x85e\u2028f\u2029g\vh\fi",
    "controls": "".join(map(chr, [*range(32), *range(0x7F, 0xA0)])),
    "direction": "\u061c\u200e\u200f\u202a\u202e\u2066\u2069\ufeff\ufff9\ufffe\uffff",
    "looks like an escape": "\\u202e\\x1b\\n",
    "beyond 16 bits": "\U0001f600",
}


def test_what_is_written_can_be_read_back() -> None:
    values = {"seed": 1, "a": {"b": {"c": [1.5, True, "x"]}, "d": 'é"\\'}, "list": [{"k": 'v"'}], "e": {}}
    assert tomllib.loads(written(values)) == values


def test_none_is_left_to_its_default() -> None:
    assert tomllib.loads(written({"a": None, "b": [1, None], "c": {"d": None}})) == {"b": [1], "c": {}}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_comes_back_equal_as_key_value_item_and_table(text: str) -> None:
    values = {text: text, "items": [text, {"inside": text}], "tables": {text: {text: text}}}
    assert tomllib.loads(written(values)) == values


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_configuration_is_saved_and_read_as_the_same(tmp_path, text: str) -> None:
    told = Config(model=text, explain=[text], game="rotate", evidence=text)
    path = tmp_path / "audit.toml"
    path.write_text(told.toml(), encoding="utf-8")
    again = config.read(path)
    assert again.model_dump() == told.model_dump()


def test_a_lone_surrogate_is_replaced_since_no_file_can_hold_it() -> None:
    found = written({"a": "x\ud800y", "b\udfff": 1})
    assert tomllib.loads(found.encode().decode()) == {"a": "x\ufffdy", "b\ufffd": 1}


def test_hidden_characters_are_written_so_that_they_can_be_seen() -> None:
    values = sample.hostile().config
    found = written(values)
    assert tomllib.loads(found) == values
    assert not {"\x1b", "\u202e"} & set(found)
    assert not set(HOSTILE["direction"] + HOSTILE["line breaks"]) & set(written(HOSTILE)) - set("abcdefghi\n")
