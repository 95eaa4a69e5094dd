"""Patterns of control characters, line breaks and lone surrogates, which must not reach a report or a file."""

from __future__ import annotations

import re

UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]")
BREAKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]+")
SURROGATES = re.compile(r"[\ud800-\udfff]")
