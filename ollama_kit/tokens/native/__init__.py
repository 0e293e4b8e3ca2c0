"""Prompts that the engine itself renders: the Jinja template inside the weights, as llama.cpp runs it for Ollama from
0.30 on."""
