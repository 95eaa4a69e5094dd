"""Renderings of results: they read rows and compute nothing."""
