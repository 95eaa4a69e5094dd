"""The frontier: many defences, audited with the same games and people, leakage against utility."""
