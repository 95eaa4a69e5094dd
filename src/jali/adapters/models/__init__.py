"""A user's model as an estimator with classes_ and predict_proba, and how its shadow models are trained."""
