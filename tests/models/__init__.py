"""Tiny models and real vocabularies for the tests, written once into the tests' cache folder."""
