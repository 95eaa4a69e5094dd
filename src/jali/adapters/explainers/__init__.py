"""Explainers of other libraries, and functions of a user's own, as explainers of an audit."""
