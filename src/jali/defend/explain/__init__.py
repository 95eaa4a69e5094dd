"""Private explainers, one file each."""
