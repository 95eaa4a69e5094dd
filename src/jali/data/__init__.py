"""Data sets: one file per source; `jali data` lists them."""
