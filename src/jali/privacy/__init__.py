"""Declared mechanisms, what several private answers cost together, and a ledger for them."""
