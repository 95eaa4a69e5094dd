from __future__ import annotations

import tomllib

from jali import toml
from tests.report import sample


def test_what_is_written_can_be_read_back() -> None:
    config = {"seed": 1, "a": {"b": {"c": [1.5, True, "x"]}, "d": 'é"\\'}, "list": [{"k": 'v"'}], "e": {}}
    assert tomllib.loads(toml.dumps(config)) == config


def test_none_is_left_to_its_default() -> None:
    assert tomllib.loads(toml.dumps({"a": None, "b": [1, None]})) == {"b": [1]}


def test_hidden_characters_are_written_so_that_they_can_be_seen() -> None:
    config = sample.hostile().config
    written = toml.dumps(config)
    assert tomllib.loads(written) == config
    assert not {"\x1b", "\u202e"} & set(written)
