"""The combined attack, step by step: scales, sums over shadow models, ratios, discriminant, boosting, choice."""
