"""What explainers share that answer with training rows, and what an explainer may ask of a model."""
