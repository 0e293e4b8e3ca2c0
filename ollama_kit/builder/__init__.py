"""Builds a model from a spec, and tells how the server's copy differs from it."""
