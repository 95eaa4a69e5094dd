"""Counterfactuals and rules as sentences, and numbers as text."""
