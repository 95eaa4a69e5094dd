"""Answers of releases that return, or fail with, what is wanted."""

from __future__ import annotations

from jali.verify.answers import called


def returning(*values):
    return called([lambda value=value: value for value in values])


def failing(error):
    def call():
        raise error

    return call
