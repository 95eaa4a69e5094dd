"""What the pages of reproductions know beside what all templates know."""

from __future__ import annotations

from jinja2 import Environment

from jali.report import templates
from jali.report.reproduction import compared, mirror, outcomes, studies
from jali.reproduce.placing import items_in


def environment() -> Environment:
    """The templates, for pages of reproductions."""
    made = templates.environment()
    made.globals.update(compared=compared, studies=studies, outcomes=outcomes.outcomes, mirror=mirror)
    made.globals.update(items_in=items_in)
    return made
