"""A plug-in for ollama-kit, one entry of each kind."""
