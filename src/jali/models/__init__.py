"""Trainers and their ensembles: one file per trainer."""
