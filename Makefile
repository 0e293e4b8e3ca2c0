# Everything here needs Python 3.10 or later, make and a package index; the environment is made in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check

# The wheels of the real test server exist for this platform only.
REAL_PLATFORM := $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m))

# llm-guard runs on Python 3.10 to 3.12 only and brings PyTorch: 1.5 GB, so it has an environment of its own. Where the
# package index has the CUDA build (Linux), give TORCH the arguments by which pytorch.org installs the CPU one.
GUARD_VENV := .venv-llm-guard
GUARD_PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.10,$(shell $(name) -c 'print("$(name)")' 2>/dev/null)))
TORCH ?= torch==2.13.0

# Python keeps what it compiled, whatever the shell says: the tests and the processes they start take half the time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup setup-test demo lint quick test test-system nightly nightly-parts report test-llm-guard \
  smoke-llm-guard bench clean

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

demo: setup ## summarize a shipped group chat with a real model
ifdef REAL_PLATFORM
	@$(BIN)/python -m tests.realserver run -- $(BIN)/ollama-kit demo
else
	@$(BIN)/ollama-kit demo
endif

lint: setup-test ## format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# One worker a core; the real server's tests share one of them (tests/conftest.py).
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

quick: lint ## the loop: lint, types, and every test that is quick and starts no process; under two minutes
	OLLAMA_KIT_TEST_INTENSITY=quick $(PYTEST) -q --durations=5 --durations-min=1 \
	  -m "not real and not slow and not process and not kills and not nightly"

test: lint ## everything but what is only in nightly; no test of the real server may be skipped
	OLLAMA_KIT_REQUIRE_REAL=1 $(PYTEST) -q -m "not nightly"

# `apt-get install $(.venv/bin/python -m tests.needs)` brings what is missing on Debian and Ubuntu, as .ci/run does.
# pytest's 5 says that no test needs any of it.
test-system: setup-test ## what needs programs of the system (tests/needs.py); none may be skipped
	OLLAMA_KIT_REQUIRE=test-system $(PYTEST) -q -m "system and not nightly" || test $$? -eq 5

nightly-parts: setup-test ## the parts of nightly, and what of them has passed
	@$(BIN)/python -m tests.nightly --list

nightly: setup-test ## everything whole, in parts that go on where they stopped: make nightly PART=kills
	OLLAMA_KIT_REQUIRE_REAL=1 $(BIN)/python -m tests.nightly $(PART)

report: setup-test ## the shape of the package: longest modules, most branches, single importers
	$(BIN)/python -m tests.report

$(GUARD_VENV)/.installed: pyproject.toml
	@test -n '$(GUARD_PYTHON)' || { echo 'llm-guard needs Python 3.10, 3.11 or 3.12: GUARD_PYTHON=…' >&2; exit 2; }
	$(GUARD_PYTHON) -m venv $(GUARD_VENV)
	$(GUARD_VENV)/bin/python -m pip --quiet --disable-pip-version-check install $(TORCH)
	$(GUARD_VENV)/bin/python -m pip --quiet --disable-pip-version-check install -e '.[llm-guard]' pytest hypothesis
	@touch $@

test-llm-guard: $(GUARD_VENV)/.installed ## the tests of llm-guard's scanners, with it; none may be skipped
	OLLAMA_KIT_REQUIRE=llm-guard $(GUARD_VENV)/bin/python -m pytest tests/guard/scanners ollama_kit/guard/scanners

smoke-llm-guard: $(GUARD_VENV)/.installed ## one test of each kind of llm-guard's scanners
	OLLAMA_KIT_REQUIRE=llm-guard $(GUARD_VENV)/bin/python -m pytest -q -m smoke tests/guard/scanners

bench: setup-test ## the benchmarks
	$(BIN)/python -m benchmarks

clean: ## remove the environments and what tools left; the tests' cache folder stays
	rm -rf $(VENV) $(GUARD_VENV) .nightly dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
