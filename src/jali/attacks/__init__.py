"""Attacks on evidence: plain arithmetic on arrays, one file each."""
