# Everything runs in .venv, made here from the versions in constraints.txt.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install -qq --disable-pip-version-check --constraint constraints.txt
PEERS := .venv-peers/bin/pip install -qq --disable-pip-version-check
OUT ?= jali-audit
# The core without any extra: what must work with the lowest versions, and on every Python. Every module is imported, the
# combined attack is tried on simulated leaks, and audits are run on the command line, from a table to the report.
QUICK := tests/test_every_module.py tests/core tests/attacks/combined tests/games tests/signals tests/knowledge tests/text \
	tests/data/tables tests/data/test_table.py tests/test_config.py tests/parallel tests/test_store.py \
	tests/test_cli.py
# Old libraries beside new ones announce what will go; that is no mistake of ours.
OLD := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning
.DEFAULT_GOAL := help
.PHONY: help setup audit test check lowest pythons fuzz folders format bench bench-long pages docs release clean

help:
	@echo "make audit   set up, run the demonstration on real people, say where its page is"
	@echo "make test    set up, run all tests"
	@echo "make check   format, lint, types, import layers, sizes"
	@echo "make lowest  set up, run the quick tests with the lowest versions of all dependencies, on Python 3.11"
	@echo "make pythons the quick tests on Python 3.12 and 3.13, where present"
	@echo "make fuzz    minutes of hostile files and values (the suite has seconds of them)"
	@echo "make folders hostile working folders: what every command does in them (minutes)"
	@echo "make pages   reports of every kind in a browser: axe-core, size, printed pages (minutes; needs Chromium)"
	@echo "make docs    build the docs site into site/ (offline; links are checked)"
	@echo "make release build wheel, sdist and SBOM into dist/, install the wheel in a clean environment and try it"
	@echo "make bench   benchmarks, as ratios, into docs/benchmarks.md (about an hour; bench-long: hours)"

# The core is enough for the default audit; tests, checks and networks need the rest as well.
.venv/.core: pyproject.toml constraints.txt
	@echo "Setting up .venv (the core, about half a gigabyte, once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "jali needs Python 3.11 or newer; set PYTHON=...")'
	@$(PYTHON) -m venv .venv
	@$(PIP) --editable .
	@touch $@

.venv/.all: .venv/.core
	@echo "Adding torch, Parquet support and the developers' tools (once) ..."
	@$(PIP) --editable '.[dev]'
	@touch $@

setup: .venv/.all

audit: .venv/.core
	@$(BIN)/jali audit --out $(OUT)

test: setup
	@$(BIN)/pytest -n 2 --dist worksteal

check: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo --no-cache
	@$(BIN)/python tests/sizes.py

.venv-lowest/.done: pyproject.toml constraints-lowest.txt
	@echo "Setting up .venv-lowest (the core at its lowest versions, once) ..."
	@rm -rf .venv-lowest
	@$(PYTHON) -m venv .venv-lowest
	@.venv-lowest/bin/pip install -qq --disable-pip-version-check --constraint constraints-lowest.txt --editable . pytest pytest-xdist hypothesis
	@touch $@

lowest: .venv-lowest/.done
	@.venv-lowest/bin/python -m pytest -n 2 -p no:cacheprovider $(OLD) $(QUICK)

# No versions are pinned where constraints.txt has none for that Python; the core alone, so that no extra is missed.
.venv-python%/.done: pyproject.toml
	@echo "Setting up .venv-python$* (the core, once) ..."
	@rm -rf .venv-python$*
	@python$* -m venv .venv-python$*
	@.venv-python$*/bin/pip install -qq --disable-pip-version-check --editable . pytest pytest-xdist hypothesis
	@touch $@

pythons:
	@for v in 3.12 3.13; do \
		if python$$v -c '' 2>/dev/null; then \
			$(MAKE) --no-print-directory .venv-python$$v/.done && \
			.venv-python$$v/bin/python -m pytest -n 2 -p no:cacheprovider $(OLD) $(QUICK) || exit 1; \
		else echo "Python $$v is not here, so it is not tested."; fi; \
	done

fuzz: setup
	@$(BIN)/python -m tests.security.fuzz $(or $(TIMES),1) $(or $(SEED),0)

folders: setup
	@$(BIN)/python -m tests.security.folders

format: setup
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

# Peers live in an environment of their own, because what they pin and drag in must not reach ours.
.venv-peers/.done: benchmarks/peers/requirements.txt benchmarks/peers/alone.txt
	@echo "Setting up .venv-peers (libraries to compare with, about 1.3 gigabytes, once) ..."
	@rm -rf .venv-peers
	@$(PYTHON) -m venv .venv-peers
	@$(PEERS) --requirement benchmarks/peers/requirements.txt
	@$(PEERS) --no-deps --requirement benchmarks/peers/alone.txt
	@touch $@

.venv-own_models/.done: benchmarks/peers/own_models.txt pyproject.toml
	@echo "Setting up .venv-own_models (boosted trees, EBM, skorch, ONNX Runtime, once) ..."
	@rm -rf .venv-own_models
	@$(PYTHON) -m venv .venv-own_models
	@.venv-own_models/bin/pip install -qq --disable-pip-version-check --constraint constraints.txt --editable '.[torch]'
	@.venv-own_models/bin/pip install -qq --disable-pip-version-check --requirement $<
	@touch $@

.venv-%/.done: benchmarks/peers/%.txt
	@rm -rf .venv-$*
	@$(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/pip install -qq --disable-pip-version-check --requirement $<
	@touch $@

AXE = $$(ls .venv-axe/lib/python3*/site-packages/axe_playwright_python/axe.min.js)
pages: setup .venv-axe/.done
	@AXE_CORE=$(AXE) $(BIN)/pytest -n 2 -m browser tests/report/test_browser.py
	@$(BIN)/python benchmarks/report_pages.py --axe $(AXE)

.venv-docs/.done: pyproject.toml
	@echo "Setting up .venv-docs (mkdocs-material, once) ..."
	@rm -rf .venv-docs
	@$(PYTHON) -m venv .venv-docs
	@.venv-docs/bin/pip install -qq --disable-pip-version-check 'mkdocs-material>=9.5'
	@touch $@

docs: .venv/.core .venv-docs/.done
	@$(BIN)/python benchmarks/make_docs.py
	@.venv-docs/bin/mkdocs build --quiet --strict
	@echo "Docs: site/index.html"

# The clean environment borrows the libraries of .venv; leave --offline out to fetch them as a user would.
release: setup
	@$(BIN)/python benchmarks/release.py --offline

bench: setup
	@$(MAKE) --no-print-directory .venv-peers/.done || echo "The peers could not be installed; the rest goes on."
	@$(MAKE) --no-print-directory .venv-private/.done || echo "diffprivlib could not be installed; the rest goes on."
	@$(MAKE) --no-print-directory .venv-surrogates/.done || echo "lore_sa could not be installed; the rest goes on."
	@$(MAKE) --no-print-directory .venv-canon/.done || echo "pycanon could not be installed; the rest goes on."
	@$(MAKE) --no-print-directory .venv-engines/.done || echo "Dask could not be installed; the rest goes on."
	@$(MAKE) --no-print-directory .venv-sacroml/.done || echo "SACRO-ML could not be installed; the rest goes on."
	@$(BIN)/python benchmarks/make_page.py $(BENCH); page=$$?; \
		$(MAKE) --no-print-directory .venv-own_models/.done && .venv-own_models/bin/python benchmarks/bench_own_models.py && exit $$page

bench-long:
	@$(MAKE) --no-print-directory bench BENCH=--long

clean:
	rm -rf .venv .venv-peers .venv-private .venv-surrogates .venv-canon .venv-engines .venv-sacroml .venv-own_models .venv-lowest .venv-docs .venv-axe .venv-release .venv-python3.12 .venv-python3.13 $(OUT) report-runs site dist .mypy_cache .ruff_cache .pytest_cache
