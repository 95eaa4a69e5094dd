"""What people are told, and pictures, for a reader who asked for values."""
