"""`python -m ollama_kit`: the command line."""

from ollama_kit.cli.main import run

if __name__ == "__main__":
    run()
