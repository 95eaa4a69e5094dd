"""Query attacks: what can be learnt by querying a model or its explainer, one file each."""
