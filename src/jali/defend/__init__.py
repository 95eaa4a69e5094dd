"""Defences: wrappers that are parts of the kind they wrap, one file each."""
