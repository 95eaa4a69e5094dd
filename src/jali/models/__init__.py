"""Trainers, one per file; each trains an ensemble of models, one per column of the membership matrix."""
