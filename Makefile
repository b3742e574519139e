# Every target uses the environment that `make setup` makes in .venv; a second run installs nothing.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
JS_STAMP := node_modules/.installed
JS_FILES := src/butfor/_web/static tests/js package.json tsconfig.json

# Packages are not compiled when they are installed: few of their modules are imported, and these are compiled then,
# once, even where that is switched off: without it every process would compile them anew.
unexport PYTHONDONTWRITEBYTECODE
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup spark s3 models manifests demo test checks loops nightly lint js bench comparisons study docs site dist review clean

help:  ## show the targets
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

setup: $(STAMP)  ## make .venv with everything a developer needs

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "butfor needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv .venv
	$(PIP_INSTALL) 'pip>=25.1'  # the first that knows dependency groups
	$(PIP_INSTALL) -e . --group dev
	@touch $@

spark: .venv/.spark  ## add Spark to .venv, which is large and needs Java, so that its tests run

.venv/.spark: $(STAMP)
	$(PIP_INSTALL) -e '.[spark]'
	@touch $@

# The clients of S3 ask for an older python-dateutil than constraints.txt has. So they are installed apart, into a folder
# that only the tests of object stores see.
s3: .venv/.s3  ## install s3fs and moto's S3 server beside .venv, and run the tests of object stores
	PYTHONPATH=.venv/s3 $(BIN)/python -m pytest -n 0 tests/batch/test_object_store.py

.venv/.s3: $(STAMP) tests/batch/s3-requirements.txt
	@grep -v '^python-dateutil==' constraints.txt > .venv/s3-constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --upgrade --target .venv/s3 \
		-c .venv/s3-constraints.txt -r tests/batch/s3-requirements.txt
	@touch $@

models: .venv/.models  ## add PyTorch, Hugging Face, ONNX, spaCy, … to .venv, which are large, so that their tests run

.venv/.models: $(STAMP)
	$(PIP_INSTALL) --group models
	@touch $@

manifests: .venv/.manifests  ## add the schemas of Kubernetes to .venv, which are many files, and test deploy/ with them
	$(BIN)/python -m pytest -n 0 tests/deploy

.venv/.manifests: $(STAMP)
	$(PIP_INSTALL) --group manifests
	@touch $@

demo: $(STAMP)  ## explain rows of the two data sets that ship with butfor, write build/demo.html
	$(BIN)/butfor demo --out build/demo.html

PYTEST := $(BIN)/python -m pytest -n auto --dist loadgroup

test: checks  ## lint, types, tests, doctests, and those of the page's JavaScript where node is there
	$(PYTEST)

# Side by side, as each takes one core. Loops are compiled once here, and not by every process of the tests.
checks: $(STAMP)
	@$(MAKE) --no-print-directory --jobs=2 --output-sync lint js loops

loops: $(STAMP)
	@$(BIN)/python -m butfor.models.compiled

nightly: checks .venv/.manifests  ## the tests with many random examples, random models against brute force, 1,000 kills of the batch
	HYPOTHESIS_PROFILE=nightly $(PYTEST)
	$(BIN)/python -m benchmarks.fuzz --cases 20000 --seed $$(date +%Y%m%d)
	$(BIN)/python -m benchmarks.fuzz --cases 20000 --seed $$(date +%Y%m%d) --dense
	$(BIN)/python -m benchmarks.soak --kills 1000 --seed $$(date +%Y%m%d)
	$(BIN)/python -m benchmarks.soak --kills 50 --on dask --seed $$(date +%Y%m%d)
	@$(MAKE) --no-print-directory s3
	PYTHONPATH=.venv/s3 $(BIN)/python -m benchmarks.soak --kills 100 --on s3 --seed $$(date +%Y%m%d)

lint: $(STAMP)  ## ruff and mypy only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The page runs as it is written: node is for checks alone. Its tests need no packages. Types and format need two, which
# are installed once; where that fails, as without a network, they are skipped, and the next run tries again.
ifeq ($(shell command -v node),)
js:
	@echo "Skipped: JavaScript of the page, as there is no node on the path."
else
js:  ## unit tests, types and format of the page's JavaScript; `npm run format` formats it
	node --test --test-reporter=./tests/js/summary.js tests/js/*.test.js
	@$(MAKE) --silent $(JS_STAMP)
	@if ! [ -e $(JS_STAMP) ]; then \
		echo "Skipped: types and format of JavaScript, as npm cannot install what package.json names."; \
	else \
		echo "tsc && prettier --check $(JS_FILES)"; \
		node_modules/.bin/tsc && node_modules/.bin/prettier --check --log-level=warn $(JS_FILES); \
	fi
endif

$(JS_STAMP): package.json
	@rm -f $@
	@npm install --no-package-lock --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 --loglevel=error > /dev/null && touch $@ || true

bench: $(STAMP)  ## how fast butfor is, in 15 minutes; tables in build/bench, `make bench PUBLISH=--publish` puts them in place
	$(BIN)/python -m benchmarks.tables $(PUBLISH)

comparisons: $(STAMP)  ## how it compares with other libraries, searches and settings, in about an hour; tables as above
	$(BIN)/python -m benchmarks.tables --comparisons $(PUBLISH)

study: $(STAMP)  ## the paper's comparison, in small, on the data that ships; writes build/study/report/report.html
	$(BIN)/butfor study run --quick --out build/study
	$(BIN)/butfor study report build/study

docs: $(STAMP)  ## run the tutorials and render them, take the pictures of the page; needs Chromium
	$(BIN)/python docs/render_tutorials.py
	$(BIN)/python docs/screens.py

site: .venv/.site  ## build the documentation as a site with search, in build/site; needs no network once installed
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet --fresh-env --builder html docs build/site
	@echo "The site: build/site/index.html"

.venv/.site: $(STAMP)
	$(PIP_INSTALL) --group site
	@touch $@

.venv/.release: $(STAMP)
	$(PIP_INSTALL) --group release
	@touch $@

dist: .venv/.release  ## build sdist and wheel, check them, and try each extra in an environment of its own
	$(BIN)/python -m tools.dist $(DIST_OPTIONS)

review: .venv/.release  ## what repo-review, zizmor, actionlint, cffconvert and pre-commit say of the repository
	$(BIN)/python -m tools.review

clean:  ## remove what the other targets made
	rm -rf .venv node_modules build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
