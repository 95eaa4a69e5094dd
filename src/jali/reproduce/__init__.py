"""A paper's experiments run again: its claims, our numbers, and a verdict on each."""
