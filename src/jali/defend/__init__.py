"""Defences: wrappers that are parts of the kind they wrap, by that kind."""
