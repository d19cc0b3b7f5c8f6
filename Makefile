# `make help` lists the targets.

.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
BOOK := _build/html/index.html
SOURCES := $(shell find annotated_transformer -type f -not -name '*.pyc')
# Numbers come out alike, and two test processes do not fight for two cores.
export PYTHONHASHSEED := 0

.PHONY: help book test serve lock clean address

help:  ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

$(STAMP): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else f"Python {v[0]}.{v[1]} is not supported: use 3.11 to 3.13, as in make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	touch $(STAMP)

# Chapters run again if any of the package changed, not only if they did.
_build/sources: $(SOURCES)
	rm -rf _build/.jupyter_cache
	mkdir -p _build && touch $@

book: $(STAMP) _build/sources  ## run every chapter and build the HTML
	$(BIN)/jupyter-book build . --toc book/_toc.yml -W --keep-going --quiet
	@test -s $(BOOK)
	@echo "The book is built. Open file://$(CURDIR)/$(BOOK)"

test: book  ## lint, types, unit tests, chapters, and the built pages in a browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy annotated_transformer
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile tests
	$(BIN)/pytest -n 2 --nbmake --nbmake-timeout=600 notebooks

serve: $(STAMP)  ## the book at http://127.0.0.1:8000, built again when a file changes
	$(BIN)/python book/serve.py

lock: $(STAMP)  ## requirements.txt from pyproject.toml
	$(BIN)/pip-compile --quiet --all-extras --strip-extras --no-header --no-annotate \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	  --output-file requirements.txt pyproject.toml
	sed -i 's/+cpu$$//' requirements.txt

address: $(STAMP)  ## write the address in _config.yml into the chapters
	$(BIN)/python book/address.py

clean:  ## remove the environment and all that was built
	rm -rf .venv _build build dist *.egg-info
