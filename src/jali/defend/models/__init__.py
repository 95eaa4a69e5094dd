"""Private trainers, one file each."""
