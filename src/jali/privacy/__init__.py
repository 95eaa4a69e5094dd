"""Declared mechanisms, the accounting of several private answers, and a ledger that keeps a privacy budget."""
