"""`python -m ollama_kit`: the command line."""

from ollama_kit.cli.main import run

run()
