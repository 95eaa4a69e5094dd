"""Signals: a number per record from what an adversary sees, one file each."""
