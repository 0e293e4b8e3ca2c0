"""A real Ollama 0.9.3 for the tests and for `make demo`: fetched from the package index, run, stopped.

Scaffolding, not product: nothing in `ollama_kit` imports it. See `install` for what is fetched, `process` for
how it runs, `api` for the few requests that put a model on it.
"""
