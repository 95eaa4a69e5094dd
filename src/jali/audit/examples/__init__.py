"""Example answers and pictures, for a reader who asked for values."""
