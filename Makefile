# Every target sets up what it needs; a second call finds it done. `make` alone lists the targets.

VENV  := .venv
BIN   := $(VENV)/bin
READY := $(VENV)/.ready
ALL   := $(VENV)/.ready-all
DEMO  := $(if $(wildcard $(READY)),$(VENV),.venv-demo)
TOOLS := .make/tools
FRAMEWORKS := .venv-frameworks
AGENTS := claude codex gemini copilot goose
AGENTS_DIR := .agents
TYPED := src tests docs/generate.py scripts/demo.py live $(if $(wildcard bench/*.py),bench)

# Compiled files are kept, whatever the shell says: without them every run of the tests compiles all of them again.
unexport PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all frameworks live lint docs bench scale clean

help:
	@echo "make demo        a walk through one project with hooks of all five dialects"
	@echo "make test        lint, types, generated pages, and the tests"
	@echo "make test-all    the same with the slow tests: whole agents, a browser, a cluster (about five minutes more)"
	@echo "make frameworks  hooks in five agent frameworks, which it installs (about 1 GB) into $(FRAMEWORKS)"
	@echo "make live        real agents ($(AGENTS); or AGENTS=...), which it installs into $(AGENTS_DIR) (about 1.5 GB)"
	@echo "make lint        ruff and mypy only"
	@echo "make docs        write the generated pages anew"
	@echo "make bench       measure, as ratios within one run"
	@echo "make scale       measure the journal's verbs over a million records (about 2 GB of disk for the time, ten minutes)"
	@echo "make setup       only install what the others need, into $(VENV)"
	@echo "make clean       remove everything that these targets made"

$(READY): pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh $(VENV) dev
	@touch $@

# With what only the slow tests need: a database and a cluster, a quarter of the whole.
$(ALL): $(READY)
	@sh scripts/setup.sh $(VENV) dev-all
	@touch $@

# The command and the three packages it needs. The demo itself adds what its agent needs, when it comes to it.
.venv-demo/.ready: pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh .venv-demo
	@touch $@

# Programs that the documents' own example hooks call. Where they are missing and cannot be installed, the vectors that
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

# That the generated pages are current is one of the tests. Three workers for two cores: one of them waits with the tests
# that wait.
test: $(READY) $(TOOLS)
	@sh scripts/test.sh $(MAKE) $(BIN)/python -n 3 -m "not slow"

test-all: $(ALL) $(TOOLS)
	@sh scripts/test.sh $(MAKE) $(BIN)/python -n 3 --cold --hypothesis-profile=search

# The frameworks are too large for everybody's development environment. Their own deprecations are no errors of ours.
$(FRAMEWORKS)/.ready: pyproject.toml scripts/setup.sh
	@sh scripts/setup.sh $(FRAMEWORKS) test,openai-agents,langchain,claude-agent-sdk,google-adk,strands
	@touch $@

frameworks: $(FRAMEWORKS)/.ready
	$(FRAMEWORKS)/bin/python -m pytest -W default tests/frameworks

# Real agents, from npm and PyPI, driven without a network. What was seen goes into the capability matrix, and from there into
# the docs. It fails where that is not what the tables promise.
live: $(READY)
	sh scripts/agents.sh $(AGENTS_DIR) $(AGENTS)
	$(BIN)/python -m live $(AGENTS); seen=$$?; $(BIN)/python docs/generate.py; exit $$seen

docs: $(READY)
	$(BIN)/python docs/generate.py

bench: $(READY)
	$(BIN)/python -m bench

scale: $(READY)
	$(BIN)/python -m bench.scale

clean:
	rm -rf $(VENV) .venv-demo $(FRAMEWORKS) $(AGENTS_DIR) .make .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
