# Every target uses the environment that `make setup` makes in .venv; a second run installs nothing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help setup spark demo test lint bench study docs clean

help:  ## show the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

setup: $(STAMP)  ## make .venv with everything a developer needs

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "butfor needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' -c constraints.txt
	@touch $@

spark: .venv/.spark  ## add Spark to .venv, which is large and needs Java, so that its tests run

.venv/.spark: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[spark]' -c constraints.txt
	@touch $@

demo: $(STAMP)  ## explain rows of the two data sets that ship with butfor, write build/demo.html
	$(BIN)/butfor demo --out build/demo.html

test: lint  ## lint, types, tests, doctests
	$(BIN)/python -m pytest -n auto --dist loadgroup

lint: $(STAMP)  ## ruff and mypy only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)  ## speed and proofs against a naive search, lime and shap; writes build/bench.json and two figures
	$(BIN)/python -m benchmarks --out build/bench.json
	$(BIN)/python -m benchmarks.growth --out build/growth
	$(BIN)/python -m benchmarks.choosing --out build/choosing
	$(BIN)/python -m benchmarks.rows --out build/rows.json
	$(BIN)/python -m benchmarks.rows --million
	$(BIN)/python -m benchmarks.load
	$(BIN)/python -m benchmarks.table
	$(BIN)/python -m benchmarks.page

study: $(STAMP)  ## the paper's comparison, in small, on the data that ships; writes build/study/report/report.html
	$(BIN)/butfor study run --quick --out build/study
	$(BIN)/butfor study report build/study

docs: $(STAMP)  ## run the tutorials and render them, take the pictures of the page; needs Chromium
	$(BIN)/python docs/render_tutorials.py
	$(BIN)/python docs/screens.py

clean:  ## remove what the other targets made
	rm -rf .venv build .mypy_cache .pytest_cache .ruff_cache .hypothesis
