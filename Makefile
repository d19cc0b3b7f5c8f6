# `make help` lists the targets.

.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
BOOK := _build/html/index.html
CACHE := JUPYTERCACHE=_build/.jupyter_cache $(BIN)/jcache
# Numbers come out alike on any machine, and two processes do not fight for two cores.
export PYTHONHASHSEED := 0
export OMP_NUM_THREADS := 1

.PHONY: help book test serve lock clean address

help:  ## this list
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 10

$(STAMP): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(None if (3, 11) <= v <= (3, 13) else f"Python {v[0]}.{v[1]} is not supported: use 3.11 to 3.13, as in make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable .
	@# A kernel warns, once for each chapter, that its sockets on this machine are plain.
	mkdir -p .venv/etc/ipython
	echo 'c.IPKernelApp.log_level = "ERROR"' > .venv/etc/ipython/ipython_kernel_config.py
	touch $(STAMP)

# Chapters run again if a file of the package or a requirement changed, came or went, and
# not only if they did. They run two or more at a time, into the cache that the build
# reads; one that fails is run again by the build, which stops with its traceback. After
# a warning nothing is kept, or the next build would pass over the page and succeed.
book: $(STAMP)  ## run every chapter and build the HTML
	@mkdir -p _build
	@find annotated_transformer requirements.txt -type f -not -name '*.pyc' | LC_ALL=C sort | xargs cksum > _build/sources.now
	@cmp -s _build/sources.now _build/sources || rm -rf _build/.jupyter_cache _build/.doctrees _build/html
	@mv _build/sources.now _build/sources
	@yes | $(CACHE) notebook clear --force > _build/cache.log
	@$(CACHE) notebook add notebooks/*.ipynb > _build/cache.log
	@$(CACHE) project execute --executor temp-parallel --timeout 600 > _build/cache.log
	$(BIN)/jupyter-book build . --toc book/_toc.yml -W --keep-going --quiet || { rm -rf _build/.doctrees _build/html; exit 1; }
	@test -s $(BOOK)
	@echo "The book is built. Open file://$(CURDIR)/$(BOOK)"

test: $(STAMP)  ## lint, types, unit tests, chapters, and the built pages in a browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy annotated_transformer
	$(MAKE) --no-print-directory book
	$(BIN)/pytest -n 2 --dist loadfile tests
	$(BIN)/pytest -n 2 --nbmake --nbmake-timeout=600 notebooks

serve: $(STAMP)  ## the book at http://127.0.0.1:8000, built again when a file changes
	$(BIN)/python book/serve.py

lock: $(STAMP)  ## requirements.txt from pyproject.toml
	$(BIN)/pip-compile --quiet --all-extras --strip-extras --no-header --no-annotate \
	  --unsafe-package pip --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
	  --output-file requirements.txt pyproject.toml
	sed -i 's/+cpu$$//; /^#/d' requirements.txt

address: $(STAMP)  ## write the address in _config.yml into the chapters
	$(BIN)/python book/address.py

clean:  ## remove the environment and all that was built
	rm -rf .venv _build build dist *.egg-info
