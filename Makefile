# Everything here needs Python 3.10 or later, make and a package index; the environment is made in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# The wheels of the real test server exist for this platform only.
REAL_PLATFORM := $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m))

.DEFAULT_GOAL := help
.PHONY: help setup setup-test demo lint test bench clean

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

setup: $(VENV)/.installed ## make .venv with ollama-kit in it

setup-test: $(VENV)/.installed-test ## the same, with what the tests need

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# A stamp is newer than pyproject.toml once its install has succeeded, so a second `make` installs nothing.
$(VENV)/.installed: $(VENV)/.created pyproject.toml
	$(PIP) install -e .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.created pyproject.toml
	$(PIP) install -e '.[test]'
	@touch $@ $(VENV)/.installed

demo: setup ## summarise a shipped group chat with a real model
ifdef REAL_PLATFORM
	@$(BIN)/python -m tests.realserver run -- $(BIN)/ollama-kit demo
else
	@$(BIN)/ollama-kit demo
endif

lint: setup-test ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint ## everything CI runs; no test of the real server may be skipped
	OLLAMA_KIT_REQUIRE_REAL=1 $(BIN)/python -m pytest

bench: setup-test ## the benchmarks
	$(BIN)/python -m benchmarks

clean: ## remove .venv and what tools left; the tests' cache folder stays
	rm -rf $(VENV) dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
