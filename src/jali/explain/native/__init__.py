"""Helpers for explainers that answer with training rows, and checks of what a model can do."""
