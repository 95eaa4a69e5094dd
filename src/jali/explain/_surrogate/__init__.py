"""Helpers that surrogate explainers share: neighbourhoods, trees and their rules."""
