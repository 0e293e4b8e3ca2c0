"""Builds a model from a spec, and shows how the server's copy differs from it."""
