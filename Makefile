# Everything runs in .venv; each target works from a fresh clone with Python 3.11, make and git.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
NPM := $(VENV)/share/memrot/npm/installed
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup npm bench test check seeds perf lock clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "%-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv with the locked packages

# The stamp is written last, so a setup that was interrupted starts again.
$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" && $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "memrot needs Python 3.11 or newer: make PYTHON=/path/to/python3.11" >&2; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing the locked packages into $(VENV) (a minute or two, 2.3 GB)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

npm: $(NPM) ## Install the memory server that the stack mcp runs, from npm's registry

$(NPM): adapters/memrot_adapters/mcp_servers/package-lock.json | $(STAMP)
	@$(BIN)/python -m memrot_adapters.mcp_npm

bench: setup ## Run the default profile and print the leaderboard (ARGS="--profile smoke")
	$(BIN)/memrot run $(ARGS)

test: setup npm ## Run all tests
	$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

check: setup ## Lint, check the format, types and import directions
	$(BIN)/ruff check
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

seeds: setup ## Hold the controls to their scores on 200 seeds of every scenario (half an hour)
	MEMROT_SEEDS=200 $(BIN)/python -m pytest -n 2 tests/scenarios/test_calibration.py

perf: setup ## Measure the harness against the bare stores
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/perf.py $(ARGS)

lock: setup ## Resolve requirements.lock anew (needs uv)
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header \
		--no-emit-index-url --no-annotate --extra all --group dev pyproject.toml -o requirements.lock

clean: ## Remove .venv and all caches
	rm -rf $(VENV) dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
