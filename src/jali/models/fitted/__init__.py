"""Fitted models: linear, networks, scikit-learn estimators; how they are trained, kept and restored."""
