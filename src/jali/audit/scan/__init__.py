"""Training rows in explainers, models, files and documents: where they lie and how many, never what they say."""
