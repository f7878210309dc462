# Thin recipes; the README's two commands are `make demo` and `make test`.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types imports sql location tests lock docs clean
SHELL := /bin/bash
PYTHON ?= python3.11
BIN := .venv/bin
export UV_PYTHON_DOWNLOADS := never

help:  ## List the recipes
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: .venv/.ready  ## Make .venv with the locked versions

# uv installs the lock in seconds; pip would take minutes. The lock holds every
# package's hash, so nothing that was not reviewed gets in.
.venv/.ready: requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "skillmap needs Python 3.11: $(PYTHON) not found (set PYTHON=...)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@test -x $(BIN)/uv || $(BIN)/pip install --quiet --disable-pip-version-check "$$(sed -nE 's/^(uv==[^ ]+).*/\1/p' requirements.lock)"
	VIRTUAL_ENV=.venv UV_COMPILE_BYTECODE=1 $(BIN)/uv pip sync --quiet --require-hashes requirements.lock
	VIRTUAL_ENV=.venv $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup  ## Set up, and run the main job on the bundled starter suite
	$(BIN)/skillmap demo

test: setup check tests  ## Set up, and run every check and test

check: lint types imports sql location

lint types imports sql location tests: setup

lint:
	$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
types:
	$(BIN)/basedpyright --level error
imports:
	$(BIN)/lint-imports --no-logo
sql:
	$(BIN)/sqlfluff lint --disable-progress-bar -q skillmap/sql skillmap/report/queries
location:
	$(BIN)/dagster definitions validate -w workspace.yaml --log-level warning
tests:
	$(BIN)/pytest -q

lock:  ## Resolve again: exact versions and hashes, and no URL
	cd "$$(mktemp -d)" && cp $(CURDIR)/pyproject.toml . && touch README.md \
	  && $(CURDIR)/$(BIN)/uv export --quiet --no-emit-project --all-groups --no-annotate --no-header --format requirements-txt > $(CURDIR)/requirements.lock

docs: setup  ## Write docs/tables.md from the contracts
	$(BIN)/python -m skillmap.contracts.documentation > docs/tables.md

clean:  ## Remove the environment and local state
	rm -rf .venv .skillmap
