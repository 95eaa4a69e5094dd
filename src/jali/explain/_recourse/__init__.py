"""Helpers that counterfactual searches share: legal rows, boxes, steps and samples."""
