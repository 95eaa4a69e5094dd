"""Explainers: one file per way to explain."""
