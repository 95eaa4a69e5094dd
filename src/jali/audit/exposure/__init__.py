"""What was already sent: people singled out by a log of explanations."""
