"""Numbers from guesses: ROC, intervals, privacy bounds."""
