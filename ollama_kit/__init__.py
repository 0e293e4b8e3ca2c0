"""ollama-kit: a local model described once, and every call to it built, bounded, guarded and checked."""

__version__ = "0.1.0"
