"""Query attacks: what can be learnt by asking a model or its explainer, one file each."""
