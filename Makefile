# Every target installs what it needs, once. `make` alone lists the targets.

# Another Python: make test PYTHON=python3.13 VENV=.venv-3.13
VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
ALL   := $(VENV)/.ready-all
DEMO  := $(if $(wildcard $(READY)),$(VENV),.venv-demo)
TOOLS := .make/tools
FRAMEWORKS := .venv-frameworks
AGENTS := claude codex gemini copilot goose
AGENTS_DIR := .agents
MINUTES := 60
TESTS := tests
TYPED := src tests docs/generate.py scripts/demo.py scripts/coverage_table.py live $(if $(wildcard bench/*.py),bench)

# Keep compiled files, whatever the shell says: otherwise every test run compiles everything again.
unexport PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED

.DEFAULT_GOAL := help
.PHONY: help wheels setup demo test test-all coverage fuzz fuzz-lines frameworks live lint docs bench scale release clean

help:
	@echo "make demo        a tour of one project with hooks of five dialects"
	@echo "make test        lint, types, generated pages, and the tests"
	@echo "make test-all    the same plus the slow tests: whole agents, a browser, a cluster (about five minutes more)"
	@echo "make coverage    the tests once more, with a table of the lines that they reach, by room"
	@echo "make fuzz        the properties on new examples, again and again, for an hour (or MINUTES=...)"
	@echo "make fuzz-lines  shell lines that nobody wrote, read for an hour (or MINUTES=...): failures, and time"
	@echo "make frameworks  hooks in six agent frameworks; installs them (about 1.2 GB) into $(FRAMEWORKS)"
	@echo "make live        real agents ($(AGENTS); or AGENTS=...); installs them into $(AGENTS_DIR) (about 1.5 GB)"
	@echo "make lint        ruff and mypy only"
	@echo "make docs        build the site into site/, with the generated pages and pictures of today"
	@echo "make bench       measure, as ratios within one run"
	@echo "make scale       measure the journal's verbs on a million records (temporarily 2 GB of disk, ten minutes)"
	@echo "make wheels      build the pure wheel and those with the native launcher, into dist (fetches a compiler, 100 MB)"
	@echo "make release     what is published, built twice from the last commit and tried, into dist; see docs/releasing.md"
	@echo "make setup       only install what the other targets need, into $(VENV)"
	@echo "make clean       remove everything that these targets created"

# The native launcher starts three times as fast if it is linked with musl, as in our wheels.
# A first type check takes a minute, most of it for the packages. mypy keeps what it has read, so later ones take
# seconds. What it finds here does not matter: `make lint` says it again.
$(READY): pyproject.toml hatch_build.py scripts/anyhook scripts/setup.sh $(wildcard native/*)
	@if [ "$$(uname)" = Linux ] && command -v cc >/dev/null; then sh scripts/tools.sh musl-gcc=musl-tools; fi
	@sh scripts/setup.sh $(VENV) dev
	@echo "Reading all types once …"
	@$(BIN)/mypy $(TYPED) >/dev/null || true
	@touch $@

# Adds what only the slow tests need: a database and a cluster, a quarter of the total size.
$(ALL): $(READY)
	@sh scripts/setup.sh $(VENV) dev-all
	@touch $@

# The command and the packages it needs. The demo installs the packages of its agent when it gets there.
.venv-demo/.ready: pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh .venv-demo
	@touch $@

# Programs that example hooks in the documentation call. If they are missing and cannot be installed, the vectors that
# need them are skipped and counted, so this never fails.
$(TOOLS): scripts/tools.sh
	@sh scripts/tools.sh jq bc
	@mkdir -p $(@D) && touch $@

setup: $(READY)

demo: $(DEMO)/.ready
	@$(DEMO)/bin/python scripts/demo.py

lint: $(READY)
	@mkdir -p .make
	$(BIN)/ruff check .
	$(BIN)/ruff format --check -q .
	$(BIN)/lint-imports --no-cache > .make/imports.log 2>&1 || { cat .make/imports.log; exit 1; }
	$(BIN)/mypy $(TYPED)

# One of the tests checks that the generated pages are current. Four workers for two cores, because some tests mostly
# wait. Each begins with a quarter of them in order, so that what takes long to load is loaded by one, and takes from the
# others when it is done.
test: $(READY) $(TOOLS)
	@sh scripts/test.sh $(MAKE) $(BIN)/python -n 4 --dist worksteal

test-all: $(ALL) $(TOOLS)
	@sh scripts/test.sh $(MAKE) $(BIN)/python -n 3 --cold --hypothesis-profile=search -m "slow or not slow"

# Slower than the tests, so not part of them. Many tests fork or start the command; those processes are measured too.
coverage: $(READY) $(TOOLS)
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m coverage run -m pytest -n 2 --dist worksteal $(TESTS); \
		tests=$$?; $(BIN)/python scripts/coverage_table.py; exit $$tests

# Every round looks for new examples: of what projects' files hold, of what agents send, of what hooks answer. The first
# one that breaks a property ends it.
fuzz: $(READY)
	@end=$$(($$(date +%s) + 60 * $(MINUTES))); rounds=0; \
	while [ $$(date +%s) -lt $$end ]; do \
	    $(BIN)/python -m pytest -q -x --timeout=0 --hypothesis-profile=fuzz -m "slow or not slow" tests/laws || exit 1; \
	    rounds=$$((rounds + 1)); \
	done; echo "$$rounds rounds, nothing found"

fuzz-lines: $(READY)
	@$(BIN)/python tests/programs/fuzz.py $(MINUTES)

# The frameworks are too large for the development environment, which has pydantic-ai: `make test` tries that. Their own
# deprecation warnings are not our errors.
$(FRAMEWORKS)/.ready: pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh $(FRAMEWORKS) test,openai-agents,langchain,claude-agent-sdk,google-adk,strands,antigravity
	@touch $@

frameworks: $(FRAMEWORKS)/.ready
	$(FRAMEWORKS)/bin/python -m pytest -W default -m "slow or not slow" tests/extra/frameworks \
		--ignore=tests/extra/frameworks/test_adapter.py

# Real agents, from npm and PyPI, run without a network. The results go into the capability matrix, and from there into
# the docs. It fails if they are not what the tables promise.
live: $(READY)
	sh scripts/agents.sh $(AGENTS_DIR) $(AGENTS)
	$(BIN)/python -m live $(AGENTS); seen=$$?; $(BIN)/python -m live --sabotage $(AGENTS) || seen=1; \
		$(BIN)/python docs/generate.py; exit $$seen

.venv-docs/.ready: pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh .venv-docs docs
	@touch $@

# A link that leads nowhere, or a page that the navigation misses, is an error. The site gets pictures of today; those in
# the repository stay (`scripts/screenshots.py` takes them again).
docs: $(READY) .venv-docs/.ready
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/mkdocs build --quiet
	$(BIN)/python scripts/screenshots.py site/images
	@echo "The site is in site/. Look at it: .venv-docs/bin/mkdocs serve"

bench: $(READY)
	$(BIN)/python -m bench

# `pip install .` builds the launcher with the system's C compiler where it can; these are built with one from PyPI.
wheels: $(READY)
	for target in off x86_64-linux-musl aarch64-linux-musl; do \
	    ANYHOOK_LAUNCHER=$$target $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist . || exit 1; \
	done
	ls dist

# From the last commit, twice, and the same both times. RELEASE=--pure leaves out the wheels with the launcher.
release: $(READY)
	$(BIN)/python scripts/release.py $(RELEASE)

scale: $(READY)
	$(BIN)/python -m bench.scale

clean:
	rm -rf $(VENV) .venv-3.* .venv-demo .venv-docs site .coverage $(FRAMEWORKS) $(AGENTS_DIR) .make .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
