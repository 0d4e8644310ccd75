# All commands of the project. Each sets up what it needs, inside this folder only: .venv, .tools and target, and
# .venv-peers for the comparison with other solvers.
# Needed beforehand: Python >= 3.10 with pip, a C compiler, Rust (cargo).
#
#   PYTHON=python3.12 make test     with that interpreter
#   SLOW=1 make test                the slow tests too
#   JOBS=8 make test                Python tests in 8 processes
#   SERVICE=1 make test             those of the service too (make lint, make docs and make valgrind as well)
#   SERVICE=1 make demo             netnum with netnum.endpoint (the next build without it has none)
#   FULL=1 make bench               the largest sizes too
#   MINUTES=60 make fuzz            for an hour
#   COUNT=1000000 make random-problems
#   SECONDS_OF_SOAK=600 make soak   for ten minutes

PYTHON ?= python3
PY     := .venv/bin/python
slow   := $(filter-out 0,$(SLOW))
MINUTES ?= 10
COUNT   ?= 100000
SEED    ?= 1
JOBS    ?= 2
SECONDS_OF_SOAK ?= 3600
# Tests, lints and reference are of the whole workspace: with the features of one crate all dependencies are compiled
# again. The service, whose QUIC and TLS nobody else needs, is left out, but where SERVICE=1 asks for it.
SERVICE ?= 0
service := $(filter-out 0,$(SERVICE))
ALL  := --workspace $(if $(service),--features netnum-python/service,--exclude netnum-service)
LOOM := --features netnum-parallel/loom
# Ranks of MPI spin where they wait for each other: beside other tests they take ten times as long as alone.
RANKS := python/tests/test_distributed.py python/tests/test_allocator_over_ranks.py
# Cargo runs test programs under memcheck. Undefined values are not reported: optimized Rust reads both variants of an
# `Option` before it tests which one is present, which memcheck reports for safe code.
memcheck := 'valgrind', '-q', '--error-exitcode=9', '--undef-value-errors=no'
MEMCHECK := cargo --config "target.'cfg(all())'.runner = [$(memcheck)]" test

# Builds use the environment in .venv, whatever environment is active outside.
unexport CONDA_PREFIX PYTHONHOME
export VIRTUAL_ENV := $(CURDIR)/.venv
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
export PIP_USER := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# A virtual environment breaks when the checkout moves or PYTHON changes: both are in the name of its stamp.
key   := $(shell { echo "$(CURDIR)"; $(PYTHON) -VV; } 2>&1 | cksum | cut -d' ' -f1)
VENV  := .venv/.made-$(key)
TOOLS := .venv/.build-tools
TESTS := .venv/.test-tools
DOCS  := .venv/.docs-tools
BUILT := .venv/.netnum-built$(if $(service),-with-service)

# Folders are listed too: their time changes when a file is added or removed.
sources := $(wildcard crates/*/Cargo.toml crates/*/src crates/*/src/* crates/*/src/*/* crates/*/src/*/*/*) \
           $(wildcard Cargo.toml Cargo.lock pyproject.toml)

, := ,
say = @printf '\n\033[1m== %s\033[0m\n' '$(1)'

.PHONY: help demo test torch service soak testbed fuzz random-problems valgrind lint packages bench peers wide-area \
        derivatives reproductions docs clean need-cargo
.NOTPARALLEL:

help:
	@echo 'make demo    set everything up in .venv, build netnum, run examples/quickstart.py'
	@echo 'make test    all tests: Rust, Python, stubs, pages, examples (SLOW=1: the slow ones too)'
	@echo 'make torch   PyTorch into .venv (5 GB with its libraries), and the tests of its layer'
	@echo 'make service tests and lints of the allocator as a daemon, crates/num-service (SLOW=1: the slow tests too)'
	@echo 'make soak    the allocator and 20 endpoints over loopback, for an hour'
	@echo 'make testbed its experiments in network namespaces, into docs/testbed.md (Linux, as root, 7 minutes)'
	@echo 'make fuzz    damaged inputs of every kind, for MINUTES=10; failures are kept in target/fuzz'
	@echo 'make random-problems  COUNT=100000 problems, with SEED=1, judged by a second implementation;' \
		'failures are kept in target/random-problems'
	@echo 'make valgrind  tests of each crate under memcheck'
	@echo 'make lint    formatting, clippy, rustdoc, ruff, line lengths, licences'
	@echo 'make packages  each published crate built and tested from its packed files'
	@echo 'make bench   the benchmarks, into docs/benchmarks.md (FULL=1: the largest sizes too)'
	@echo 'make peers   netnum beside other solvers, in .venv-peers (long; benches/peers.py --help says how to have less)'
	@echo 'make wide-area  netnum beside other solvers on wide-area networks, into docs/wide_area.md' \
		'(long; in .venv-peers)'
	@echo 'make derivatives  gradients of netnum beside those of CVXPY with diffcp (in .venv-peers)'
	@echo 'make reproductions  figures of the papers measured again, into docs/reproductions.md (long)'
	@echo 'make docs    the site, in target/site: every notebook runs, and the Rust reference lies beside it'
	@echo 'make clean   remove everything the other commands made'

demo: $(BUILT)
	$(call say,examples/quickstart.py)
	@$(PY) examples/quickstart.py

test: $(BUILT) $(TESTS)
	$(call say,Rust: unit$(,) integration$(,) documentation tests; the thread team in every order of its threads)
	cargo test $(ALL) $(LOOM) $(if $(slow),-- --include-ignored)
	$(call say,Python: the package$(,) the pages of README and docs$(,) the examples in Rust and in Python)
	$(if $(slow),NETNUM_FUZZ_EXAMPLES=500) $(PY) -m pytest -n $(JOBS) --dist worksteal $(if $(slow),--slow) \
		$(addprefix --ignore=,$(RANKS))
	$(PY) -m pytest $(if $(slow),--slow) $(RANKS)
	@$(PY) -c 'import torch' 2>/dev/null || \
		echo 'PyTorch is not installed in .venv: its layer was not tested, make torch does both'
	$(call say,Stubs: _core.pyi agrees with _core)
	$(PY) -m mypy.stubtest netnum._core
	$(call say,All tests passed)

# Apart from the other tests, as PyTorch comes from PyPI with libraries of CUDA: 5 GB in .venv.
torch: $(BUILT) $(TESTS)
	$(call say,The layer of PyTorch)
	@$(PY) -m pip install --quiet torch
	$(PY) -m pytest $(if $(slow),--slow) python/tests/test_torch.py

# Apart from the other tests, as QUIC and TLS take minutes to build.
service: | need-cargo
	$(call say,The service: tests$(,) clippy$(,) rustdoc)
	$(if $(slow),NETNUM_SCHEDULES=100000) cargo test -p netnum-service $(if $(slow),-- --include-ignored)
	cargo clippy -p netnum-service --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc -p netnum-service --no-deps

# 10 000 flowlets a second. The slow tests have a minute of it.
soak: | need-cargo
	NETNUM_SOAK='$(SECONDS_OF_SOAK) 20 10000' cargo test --release -p netnum-service --test soak -- \
		--ignored --nocapture

# Before all other programs of the machine, whose load would be measured too.
testbed: | need-cargo
	cargo build --release -p netnum-service --bins --example testbed
	chrt -f 5 cargo run --release -q -p netnum-service --example testbed -- all target/testbed docs/testbed.md

# Rust gets half of the time, in five parts, and Python the other half.
fuzz: $(BUILT) $(TESTS)
	$(call say,Fuzzing: Rust)
	NETNUM_FUZZ_SECONDS=$$(($(MINUTES) * 6)) NETNUM_FUZZ_SEED=$${SEED:-$$(date +%s)} \
		cargo test -p netnum-sim --test it fuzz:: -- --ignored --nocapture --test-threads=1
	$(call say,Fuzzing: Python)
	NETNUM_FUZZ_ANEW=1 NETNUM_FUZZ_EXAMPLES=$$(($(MINUTES) * 150)) $(PY) -m pytest python/tests/test_any_input.py

random-problems: $(BUILT) $(TESTS)
	$(PY) python/tests/random_problems.py --count $(COUNT) --seed $(SEED) --jobs $(JOBS) --keep target/random-problems

# The tests chosen here are small programs: closed forms of the core, allocators on threads, and the corpus of the
# fuzzing, which solves, restores and simulates.
valgrind: | need-cargo
	$(call say,valgrind: netnum-core$(,) netnum-parallel$(,) netnum-sim)
	$(MEMCHECK) $(ALL) $(LOOM) --test it -- on_one_link headroom_is_left_alone the_corpus

lint: $(TESTS)
	$(call say,Rust: rustfmt$(,) clippy$(,) rustdoc)
	cargo fmt --all --check
	cargo clippy $(ALL) --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc $(ALL) --no-deps
	$(call say,Python: ruff)
	$(PY) -m ruff check $(wildcard python crates examples benches docs)
	$(PY) -m ruff format --check $(wildcard python crates examples benches docs)
	$(call say,Python: types)
	$(PY) -m mypy python/netnum
	$(call say,Lines of at most 120 characters)
	@! LC_ALL=C.UTF-8 git grep -nP '$(overlong)' -- $(handwritten)
	$(call say,Dependencies: deny.toml)
	@if command -v cargo-deny >/dev/null; then cargo deny check licenses bans sources; \
		else echo 'cargo-deny is not installed: left to the workflow'; fi

# rustfmt breaks code at 120 characters, but neither comments nor strings. Longer lines are allowed in tables and
# pictures of Markdown, and in pages that scripts write.
overlong    := ^(?![|!])\X{121}
handwritten := '*.rs' '*.py' '*.pyi' '*.md' '*.toml' '*.yml' Makefile .ci \
               ':!docs/benchmarks.md' ':!docs/reproductions.md' ':!docs/wide_area.md'

packages: | need-cargo
	.ci/packages

# Results of earlier runs are removed, so that every ratio is of one run.
bench: | need-cargo
	rm -rf target/criterion
	cargo bench -p netnum-benches
	$(PYTHON) benches/report.py

peers: | need-cargo
	$(PYTHON) benches/peers.py --json target/peers.json
	$(PYTHON) benches/report.py

wide-area: | need-cargo
	$(PYTHON) benches/wide_area.py --write

derivatives: | need-cargo
	$(PYTHON) benches/derivatives.py

reproductions: $(BUILT)
	status=0; for script in $(wildcard examples/reproductions/*_*.py); do $(PY) $$script --write || status=1; done; \
		exit $$status

# Every notebook runs, every warning is an error, and links between pages are checked.
docs: $(BUILT) $(DOCS)
	$(call say,Rust reference)
	RUSTDOCFLAGS='-D warnings' cargo doc $(ALL) --no-deps
	$(call say,Site: notebooks run$(,) links are checked)
	rm -rf target/site target/doctrees
	PYDEVD_DISABLE_FILE_VALIDATION=1 $(PY) -m sphinx --fail-on-warning --keep-going --quiet \
		-d target/doctrees docs target/site
	cp -r target/doc target/site/rust
	@echo 'Open target/site/index.html'

clean:
	rm -rf .venv .venv-peers .tools target dist plots .pytest_cache .mypy_cache .ruff_cache
	rm -f python/netnum/_core*.so

need-cargo:
	@command -v cargo >/dev/null || { echo 'netnum is built with Rust, and there is no cargo on PATH:' \
		'install it from https://rustup.rs, open a new shell, try again.' >&2; exit 1; }

# Where the venv module lacks ensurepip (Debian without python3-venv), virtualenv installs pip.
$(VENV): | need-cargo
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
		{ echo 'netnum needs Python >= 3.10, and $(PYTHON) is older: name another, as in PYTHON=python3.12 make demo.' >&2; \
		exit 1; }
	$(call say,A virtual environment in .venv)
	@rm -rf .venv
	@$(PYTHON) -m venv .venv >/dev/null 2>&1 || { \
		echo '$(PYTHON) -m venv does not work here: using virtualenv, from .tools'; \
		rm -rf .venv; \
		PIP_REQUIRE_VIRTUALENV=0 $(PYTHON) -m pip install --quiet --upgrade --target .tools virtualenv && \
		PYTHONPATH=.tools $(PYTHON) -m virtualenv --quiet .venv; }
	@touch $@

# pip 25.1 is the first that reads dependency groups.
$(TOOLS): $(VENV) pyproject.toml
	@$(PY) -m pip install --quiet --upgrade 'pip>=25.1'
	@$(PY) -m pip install --quiet --group build
	@touch $@

$(TESTS): $(TOOLS)
	$(call say,Tools for tests and lints)
	@$(PY) -m pip install --quiet --group test
	@touch $@

$(DOCS): $(TOOLS)
	$(call say,Tools for the site)
	@$(PY) -m pip install --quiet --group docs
	@touch $@

$(BUILT): $(TOOLS) $(sources)
	$(call say,Building netnum$(if $(service),$(,) with its service))
	@rm -f .venv/.netnum-built*
	@$(PY) -m maturin develop --release --extras plot,frames $(if $(service),--features service)
	@touch $@
