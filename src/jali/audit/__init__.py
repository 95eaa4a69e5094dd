"""What leaks: an experiment, its attacks and what they achieved, with intervals and sanity checks."""
