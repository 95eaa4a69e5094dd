"""Explainers of other libraries by name, for models that are trained here."""
