"""Test a privacy claim: draw many answers from neighbouring data sets, and learn to distinguish them."""
