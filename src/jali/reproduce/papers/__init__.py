"""One TOML per paper, with the numbers it published."""
