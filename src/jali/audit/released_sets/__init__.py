"""A released set of counterfactuals, attacked without the model: who among the candidates was in the training set."""
