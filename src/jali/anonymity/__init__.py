"""Regions of rows that k people share: who fits them, what they lose, how pure they are, and solvers."""
