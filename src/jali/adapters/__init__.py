"""A user's own model, explainer or table as parts."""
