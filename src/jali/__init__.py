"""jali: what a model's explanations give away about the people in its training data."""

__version__ = "0.1.0"
