# One command per job, the same on a developer's machine and in CI. `make` alone lists them.
.DEFAULT_GOAL := help
.PHONY: help run test test-fast test-shuffled check format lint types imports locks web lock bench nightly mutation sbom clean setup setup-dev

# The Python that makes the environment; afterwards everything runs in .venv.
PYTHON ?= python3
BIN := .venv/bin
# Compiled tests are kept, also where the environment says not to: they take ten seconds to compile.
PYTEST ?= PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
# Processes that run tests side by side, a file in one of them; 0 runs all in one, as a debugger wants.
# One more than two cores have work for: servers are waited for; four browsers at once are slower.
WORKERS ?= 3
# The fast ones wait for nobody.
FAST_WORKERS ?= 2
# Of the order of files; another every day.
SEED ?= $(shell date +%j)
# A process that dies ends the run with the name of its test; one that is replaced leaves it waiting.
SIDE_BY_SIDE := --dist loadfile --no-loadscope-reorder --max-worker-restart=0
# Such as ARGS="-k claim -x".
ARGS ?=
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-header

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: setup ## Start the server; settings come from the environment and .env
	@if [ -f scripts/build_web.py ]; then $(BIN)/python -m scripts.build_web; fi
	@exec $(BIN)/python app.py

test: setup-dev ## Run every test
	@$(BIN)/python -m scripts.test_tools
	@if [ -f scripts/build_web.py ]; then $(BIN)/python -m scripts.build_web; fi
	$(PYTEST) $(if $(ARGS),,-p tests.line_coverage) -n $(WORKERS) $(SIDE_BY_SIDE) --hypothesis-profile=ci $(ARGS)

test-fast: setup-dev ## Run, in a minute, the tests that need no browser, no Azurite and no model
	$(PYTEST) -n $(FAST_WORKERS) $(SIDE_BY_SIDE) -m "not slow" $(ARGS)

test-shuffled: setup-dev ## Run the fast tests with their files in another order; SEED=7 repeats one
	$(PYTEST) -n $(FAST_WORKERS) $(SIDE_BY_SIDE) -m "not slow" --shuffle-files $(SEED) $(ARGS)

check: setup-dev lint types imports locks web ## Check format, lint, types, imports, locks and the web client

lint: setup-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup-dev
	$(BIN)/mypy .

imports: setup-dev
	$(BIN)/lint-imports

locks: setup-dev
	$(BIN)/python -m scripts.check_locks

web: setup-dev
	$(BIN)/python -m scripts.check_web

format: setup-dev ## Format the code and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/python -m scripts.check_web format

lock: setup-dev ## Renew the locks from requirements/*.in and package.json; UPGRADE=1 for newer versions
	for name in uv runtime dev node; do \
		$(COMPILE) $(if $(UPGRADE),--upgrade) requirements/$$name.in -o requirements/$$name.txt || exit 1; \
	done
	$(COMPILE) --no-deps requirements/model.in -o requirements/model.txt
	for folder in tests/tools web; do \
		if [ -f $$folder/package.json ]; then $(BIN)/python -m scripts.node npm --prefix $$folder \
			install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved \
			--no-audit --no-fund || exit 1; fi; \
	done
	$(BIN)/python -m scripts.check_locks

bench: setup-dev ## Measure a turn
	$(BIN)/python -m bench.turn

# Large runs take as long as they take.
UNTIMED := --timeout=0 -o faulthandler_timeout=0

# A folder of a night's run; the same night goes on where it was.
NIGHT ?= dist/evals

nightly: setup-dev ## Run every evaluation: the built-in rules, the scripted model, and your own if one is configured
	$(PYTEST) -m "hypothesis or large" -q -n $(WORKERS) $(SIDE_BY_SIDE) --hypothesis-profile=long $(UNTIMED)
	ROUNDS_FILTER_EXAMPLES=100000 $(PYTEST) tests/services/language/test_inert.py -q -n0 $(UNTIMED)
	$(PYTEST) tests/services/scenarios/test_migration_properties.py tests/services/scenarios/test_case.py \
		tests/durability/test_isolation_machine.py tests/e2e/test_real_model.py \
		-q -n $(WORKERS) --hypothesis-profile=nightly $(UNTIMED)
	$(BIN)/python -m evals run --suite all --model offline --out $(NIGHT)/offline
	$(BIN)/python -m evals run --suite all --model scripted --out $(NIGHT)/scripted
	@if [ -n "$$OPENAI_BASE_URL$$OPENAI_API_KEY$$AZURE_OPENAI_ENDPOINT" ]; then \
		$(BIN)/python -m evals run --suite all --model configured --out $(NIGHT)/configured; fi

mutation: setup-dev ## Break lines of what must not break and list those that no test notices; takes hours
	$(BIN)/python -m scripts.mutate $(ARGS)

sbom: ## Write what the image is made of, as CycloneDX, into dist/
	@$(PYTHON) -m scripts.sbom

clean: ## Remove everything that was made here, the environment included; data stays
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache web/dist web/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@$(PYTHON) -m scripts.bootstrap runtime

setup-dev:
	@$(PYTHON) -m scripts.bootstrap dev
