"""Counterfactuals and rules as sentences that people can read."""
