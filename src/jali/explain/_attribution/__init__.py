"""What attribution explainers share."""
