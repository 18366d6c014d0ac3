# The two commands: `make run` and `make test`. Everything else is for developers.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Once the tools of `make test-all` are there, they stay.
LOCK := requirements/$(if $(wildcard $(VENV)/.outside),outside,dev).txt
STAMP := $(VENV)/.set-up
# Its auditor has dependencies of its own, which are no part of what it audits.
AUDIT := $(VENV)/audit
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-header --no-annotate --excludes requirements/excludes.txt --quiet

# With its bytecode kept, each of the many processes of the tests starts in half the time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-units test-contracts test-contracts-a-l test-contracts-m-z test-stories test-stories-a-f test-stories-g-o test-stories-p-s test-stories-t-z test-all test-servers check format bench audit setup lock clean

run: setup ## Run the product: the simulator without a token, Telegram with one.
	@echo "Starting: this takes some seconds." >&2
	@$(BIN)/mnemogram run

test: setup ## The whole suite on the embedded real stores; needs nothing but Python.
	@$(MAKE) --no-print-directory --keep-going --jobs=7 test-units test-contracts test-stories

# Each process collects only what it runs. Seven share two cores, because they often wait for their stores.
test-units:
	@$(BIN)/python -m pytest -q -m "not slow" --hypothesis-profile quick tests/unit tests/property

test-contracts: test-contracts-a-l test-contracts-m-z

test-contracts-a-l:
	@$(BIN)/python -m pytest -q -m "not slow" --ignore-glob "*/test_[m-z]*" tests/contract

test-contracts-m-z:
	@$(BIN)/python -m pytest -q -m "not slow" --ignore-glob "*/test_[a-l]*" tests/contract

test-stories: test-stories-a-f test-stories-g-o test-stories-p-s test-stories-t-z

test-stories-a-f:
	@$(BIN)/python -m pytest -q -m "not slow" --ignore-glob "*/test_[g-z]*" tests/story

test-stories-g-o:
	@$(BIN)/python -m pytest -q -m "not slow" --ignore-glob "*/test_[a-fp-z]*" tests/story

test-stories-p-s:
	@$(BIN)/python -m pytest -q -m "not slow" --ignore-glob "*/test_[a-ot-z]*" tests/story

test-stories-t-z:
	@$(BIN)/python -m pytest -q -m "not slow" --ignore-glob "*/test_[a-s]*" tests/story

test-all: setup-outside ## Everything, with branch coverage: also browser, fault and outside cross-checks.
	@$(BIN)/python -m pytest -n 2 --dist worksteal --cov --cov-report=term --cov-fail-under=90
	@$(BIN)/python -m pytest tests/fault tests/outside tests/browser

# TEST_REDIS_URL (an empty server: tests flush it), TEST_QDRANT_URL and TEST_QDRANT_API_KEY name the servers.
test-servers: setup ## The suites of the stores on servers that are given.
	@TEST_REDIS_URL=$(TEST_REDIS_URL) TEST_QDRANT_URL=$(TEST_QDRANT_URL) TEST_QDRANT_API_KEY=$(TEST_QDRANT_API_KEY) \
		$(BIN)/python -m pytest tests/contract tests/property

check: setup-outside ## What CI checks besides the tests; pyright reads the outside tests too.
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/basedpyright
	@$(BIN)/python -m pytest -q -n 2 tests/test_architecture.py -p no:cacheprovider

format: setup
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup-outside ## Every benchmark, one after the other; the scorecard of faults takes hours and is left out.
	@for file in $(filter-out benchmarks/learn_ranker.py benchmarks/moved_in.py benchmarks/standing.py,$(wildcard benchmarks/*.py)); do echo "== $$file"; $(BIN)/python $$file || exit 1; done

# Strict: without it pip-audit succeeds if it could look nothing up, and says "not found on PyPI" of each package.
audit: $(AUDIT)/.set-up ## Look every locked dependency up among known vulnerabilities; fails if their data cannot be reached.
	@$(AUDIT)/bin/pip-audit --strict --require-hashes --disable-pip --progress-spinner=off \
		-r requirements/run.txt -r requirements/outside.txt -r requirements/uv.txt

$(AUDIT)/.set-up: requirements/audit.txt | setup
	@test -x $(AUDIT)/bin/python || $(PYTHON) -m venv --without-pip $(AUDIT)
	@VIRTUAL_ENV=$(CURDIR)/$(AUDIT) $(BIN)/uv pip sync --quiet --require-hashes $<
	@touch $@

setup: $(STAMP)

$(STAMP): $(LOCK) requirements/uv.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Mnemogram needs Python 3.11 or newer; set PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Setting up $(VENV) from $(LOCK) (about 20 seconds to a minute, once) ..." >&2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
		|| { echo "python3 -m venv failed; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip sync --quiet --require-hashes $(LOCK)
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(BIN)/uv pip install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

.PHONY: setup-outside
setup-outside: setup
	@test -e $(VENV)/.outside || { touch $(VENV)/.outside; rm $(STAMP); $(MAKE) --no-print-directory setup; }

lock: setup ## Write the lock files again from pyproject.toml.
	@$(COMPILE) pyproject.toml --extra bot -o requirements/run.txt
	@$(COMPILE) pyproject.toml --extra bot --group dev -c requirements/run.txt -o requirements/dev.txt
	@$(COMPILE) pyproject.toml --extra bot --group dev --group outside -c requirements/dev.txt -o requirements/outside.txt
	@$(COMPILE) requirements/uv.in -c requirements/dev.txt -o requirements/uv.txt
	@$(COMPILE) requirements/audit.in -o requirements/audit.txt

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .coverage* dist build
