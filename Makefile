# `make demo` runs the sample tasks, `make quick` tests what computes and reads, below a minute, and `make test` runs the
# whole suite. They install into the active virtual environment, or else into .venv, which they make.
VENV := $(or $(VIRTUAL_ENV),.venv)
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.15 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
DEMO_DB := $(VENV)/demo.duckdb
ifeq ($(MAKELEVEL),0)
$(info Using the virtual environment $(VENV))
endif

# Folders of tests are in memory if at least 8 GB are free there: databases wait for disks at each commit.
TEMPORARY := $(shell test "$$(df --output=avail /dev/shm 2>/dev/null | tail -1)" -gt 8000000 2>/dev/null && echo PYTEST_DEBUG_TEMPROOT=/dev/shm)

# What Python compiles is kept: else each process of the tests compiles all modules anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo quick test lint types suite js thorough conformance validity validity-peers fuzz interchange durability release-check benchmark docs site gallery studies clean

demo: $(VENV)/.installed
	@rm -f $(DEMO_DB)
	$(BIN)/registry run sample_data/entities/task.toml --db $(DEMO_DB) --format table
	$(BIN)/registry run sample_data/translation/task.toml --db $(DEMO_DB) --format table
	$(BIN)/registry run sample_data/relations/task.toml --db $(DEMO_DB) --format table
	$(BIN)/registry run sample_data/collocations/task.toml --db $(DEMO_DB) --format table
	@echo; echo "Up to how many best candidates do two measures differ?"
	@$(BIN)/registry ranking collocations --db $(DEMO_DB) --grid 50:300:50 --format table
	@echo; echo "Which entities did nobody find?"
	@$(BIN)/registry query --db $(DEMO_DB) --format table "SELECT item AS sentence, answer AS tokens, type FROM missed_answer WHERE task = 'entities' ORDER BY sentence LIMIT 5"
	@echo; echo "What did only one of aspen-s (D1) and birch-crf (D2) say, and was it right?"
	@$(BIN)/registry query --db $(DEMO_DB) --format table "SELECT region, answers, true_positives, false_positives FROM regions('entities/test/Aspen/aspen-s', 'entities/test/Birch/birch-crf')"
	@echo; echo "Which types are systems wrong about most often?"
	@$(BIN)/registry query --db $(DEMO_DB) --format table "SELECT type, round(avg(correct::INT), 3) AS precision, count(*) AS spans FROM item_response WHERE task = 'entities' GROUP BY type ORDER BY precision"

quick: $(VENV)/.installed
	$(TEMPORARY) $(BIN)/pytest -n auto --dist worksteal -m "not slow and not simulation and not thorough" tests/test_layers.py \
		tests/manifest tests/metrics tests/readers tests/significance

# All at once; the types are checked while tests wait.
test: $(VENV)/.installed
	@$(MAKE) --no-print-directory --jobs=3 lint types suite

lint: $(VENV)/.installed
	$(BIN)/ruff check .

types: $(VENV)/.installed
	@for platform in linux darwin win32; do \
		nice $(BIN)/mypy --strict --platform $$platform --cache-dir .mypy_cache/$$platform registry || exit 1; done

suite: $(VENV)/.installed
	@$(BIN)/python -m compileall -q -j 0 registry  # once, where each process of the tests would do it in a new checkout
	$(TEMPORARY) $(BIN)/pytest -n logical --dist worksteal

# The scripts of the pages: style, types, unit tests, and new bundles. Tests of `suite` do the same if node is there.
js: node_modules/.installed
	npm run --silent lint
	npm run --silent types
	npm run --silent unit
	npm run --silent bundle

# Also what repeats at length what other tests show: before a release.
thorough: $(VENV)/.installed
	$(TEMPORARY) $(BIN)/pytest -n logical --dist worksteal -m ""

# All that stands in README and docs/ because the program printed it; `make site` holds them to it again.
docs: $(VENV)/.installed
	$(BIN)/python -m tests.generated_docs
	$(BIN)/python -m tests.documentation
	$(BIN)/python -m tests.documentation.picture
	$(BIN)/python -m tests.notebook

site: $(VENV)/.installed
	$(BIN)/python -c 'import zensical, mkdocstrings, mdx_truly_sane_lists' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	$(BIN)/python -m tests.documentation.site

gallery: $(VENV)/.installed
	$(BIN)/python -m tests.gallery

studies: $(VENV)/.installed
	$(BIN)/python -m tests.study_gallery

conformance: $(VENV)/.installed
	$(BIN)/pytest -n auto -m "" tests/metrics tests/readers tests/significance tests/real_data --hypothesis-profile thorough

validity: $(VENV)/.installed
	$(BIN)/python -m tests.validity --write
	$(BIN)/python -m tests.validity.gate --write

validity-peers: .venv/peers/.installed
	.venv/peers/bin/python -m tests.validity.peers --write

fuzz: $(VENV)/.installed
	$(BIN)/python -m tests.fuzz --minutes 10
	$(BIN)/python -m tests.fuzz.importers --minutes 10
	$(BIN)/python -m tests.fuzz.quick --minutes 1
	$(BIN)/python -m tests.competitions.fuzz --minutes 10

# WRITE=--write puts the logs that the programs have written in the place of those of tests/importers.
interchange: $(VENV)/.installed
	$(BIN)/python -m tests.interchange $(WRITE)

durability: $(VENV)/.installed
	$(BIN)/python -m tests.durability
	$(BIN)/python -m tests.faults
	$(BIN)/python -m tests.load
	$(BIN)/pytest -q tests/cli/test_killed.py --hypothesis-profile thorough

release-check: $(VENV)/.installed
	$(BIN)/python -m tests.releases.validators

benchmark: $(VENV)/.installed
	$(BIN)/python -m tests.benchmarks

$(VENV)/.installed: pyproject.toml registry/version.py
	@test -n "$(PYTHON)" || { echo "error: found no Python 3.11 or later: install one (Debian: apt-get install python3 python3-venv) or name it: make $(MAKECMDGOALS) PYTHON=/path/to/python3" >&2; exit 1; }
ifndef VIRTUAL_ENV
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "error: $(PYTHON) lacks the venv module: install it (Debian: apt-get install python3-venv)" >&2; exit 1; }
	$(PYTHON) -m venv .venv
endif
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[test]'
	@$(BIN)/python -m compileall -q -j 0 -x '/tests?/' $(VENV)/lib >/dev/null || true  # by all processors, pip by one
	@touch $@

node_modules/.installed: package-lock.json
	npm ci --silent
	@touch $@

.venv/peers/.installed: tests/validity/peers/requirements.txt
	$(PYTHON) -m venv .venv/peers
	.venv/peers/bin/python -m pip install --quiet --disable-pip-version-check -e . -r tests/validity/peers/requirements.txt
	@touch $@

clean:
	rm -rf .venv node_modules build dist
