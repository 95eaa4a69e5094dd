"""Helpers that attribution explainers share."""
