"""What users bring, as parts: their models, and their explainers."""
