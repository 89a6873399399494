# Every target sets up what it needs: a virtual environment, the build tools, the package.
# Needed beforehand: Python >= 3.11, a C++20 compiler, make.

PYTHON ?= python3
VENV   ?= .venv
RUN     = $(VENV)/bin/python
PIP     = $(RUN) -m pip --quiet --quiet --disable-pip-version-check
SOURCES = pyproject.toml CMakeLists.txt $(shell find src/core -type f 2>/dev/null)
READY   = $(VENV)/.supple-ready
LIGHT   = $(VENV)/.supple-demo
ASAN    = .venv-asan

# Each peer may be missing from a registry or refuse to build; the runner says which are there.
PEERS = scikit-learn-intelex libsvm-official thundersvm-cpu
RVM_PEERS = fastrvm dlib-bin sklearn-rvm
CONFORMAL_PEERS = online-cp numba

.PHONY: demo test test-simd lint bench bench-batch bench-online bench-memory bench-estimates bench-ids bench-rvm bench-serving bench-streams dropin exactness endurance fuzz interrupts stress asan docs install clean help

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

# A development environment, if there is one, has all that the demo needs.
demo: $(if $(wildcard $(READY)),$(READY),$(LIGHT)) ## stream a data set, forget a part, draw a picture, compare machines
	@$(RUN) examples/demo.py

test: lint ## all checks: lint, types, layers, tests
	$(RUN) -m pytest -n 2

test-simd: $(READY) ## the tests of the core and of exactness with the instruction sets of older machines
	for set in avx2 baseline; do \
	    SUPPLE_SIMD=$$set $(RUN) -m pytest -n 2 tests/core tests/exactness || exit 1; \
	done

lint: $(READY) ## ruff, mypy, import-linter
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports

bench: $(READY) ## time per update against refitting scikit-learn and against pyonlinesvr
	@$(PIP) install swig wheel 'setuptools<70' && PATH="$(abspath $(VENV))/bin:$$PATH" \
	    $(PIP) install --no-build-isolation --no-deps pyonlinesvr \
	    || echo "pyonlinesvr cannot be installed here; its published figures stand in"
	$(RUN) benchmarks/speed.py
	$(RUN) benchmarks/forgetting.py

bench-batch: $(READY) ## time of a batch fit and a prediction against four peers (SUPPLE_DATA: more sets)
	@for peer in $(PEERS); do $(PIP) install $$peer || echo "$$peer cannot be installed here"; done
	$(RUN) benchmarks/batch.py
	$(RUN) benchmarks/batch.py --scaling
	$(RUN) benchmarks/batch.py --warm
	$(RUN) benchmarks/batch.py --imports
	$(RUN) benchmarks/growth.py
	$(RUN) benchmarks/batch.py --docs docs/benchmarks.md

bench-online: $(READY) ## LASVC beside scikit-learn and SimpleSVC beside SVC (SUPPLE_DATA: a9a.npz, usps.npz, letter.csv.gz, ijcnn1.npz)
	$(RUN) benchmarks/simple.py
	$(RUN) benchmarks/lasvm.py

bench-memory: $(READY) ## small memories beside the papers' tables and on overlapping classes (SUPPLE_DATA: more sets)
	$(RUN) benchmarks/sv_incremental.py
	$(RUN) benchmarks/budget.py
	$(RUN) benchmarks/memories.py
	$(RUN) benchmarks/memories.py --endless

bench-estimates: $(READY) ## leave-one-out, probabilities, conformal prediction and influence against refitting scikit-learn and a peer (SUPPLE_DATA: spambase)
	@for peer in $(CONFORMAL_PEERS); do $(PIP) install $$peer || echo "$$peer cannot be installed here"; done
	$(RUN) benchmarks/estimates.py
	$(RUN) benchmarks/probabilities.py
	$(RUN) benchmarks/conformal.py
	$(RUN) benchmarks/influence.py

bench-streams: $(READY) ## windows, novelty, alarms and whole learners on streams that change (SUPPLE_DATA: text, EEG, elec2)
	$(RUN) benchmarks/drift.py
	$(RUN) benchmarks/drift.py --search
	$(RUN) benchmarks/novelty.py
	$(RUN) benchmarks/drift_watch.py
	$(RUN) benchmarks/prequential.py

bench-ids: $(READY) ## integer and string ids: a table of a million, and whole updates (IDS: options)
	$(RUN) benchmarks/ids.py $(IDS)

bench-serving: $(READY) ## predictions of few and many rows against scikit-learn, single updates at their worst (SUPPLE_DATA: more sets)
	$(RUN) benchmarks/serving.py

bench-rvm: $(READY) ## relevance vector classification against three peers
	@for peer in $(RVM_PEERS); do $(PIP) install $$peer || echo "$$peer cannot be installed here"; done
	$(RUN) benchmarks/rvm.py

dropin: $(READY) ## scikit-learn's own tests of its SVMs on the classes of supple
	$(RUN) tests/unit/estimators/dropin/run.py

exactness: $(READY) ## random sequences of operations against the oracle and scikit-learn
	$(RUN) benchmarks/exactness.py

interrupts: $(READY) ## how long after Ctrl-C long operations end
	$(RUN) benchmarks/interrupts.py

stress: $(READY) ## threads, Ctrl-C and want of memory at random moments (half an hour)
	$(RUN) benchmarks/stress.py threads --seconds 60
	$(RUN) benchmarks/stress.py interrupts --trials 2000
	$(RUN) benchmarks/stress.py memory --trials 400

endurance: $(READY) ## 100,000 mixed updates, alone and with memories
	$(RUN) benchmarks/endurance.py
	$(RUN) benchmarks/endurance.py --memory all

fuzz: $(READY) ## random walks on ordinary and wild data, every step certified (FUZZ: its options)
	$(RUN) benchmarks/fuzz.py $(FUZZ)

docs: $(READY) ## run every Python block of README.md and docs/ and every docstring example
	$(RUN) -m pytest tests/docs

# The compiler's own runtimes must be loaded before Python; libstdc++ with them, or exceptions
# thrown by the extension cannot be intercepted. Python is not leak-free, hence detect_leaks=0.
asan: $(ASAN)/.supple-ready ## the whole test suite on an AddressSanitizer + UBSan build
	env LD_PRELOAD="$(foreach lib,asan ubsan stdc++,$(shell $(CXX) -print-file-name=lib$(lib).so))" \
	    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	    PYTHONMALLOC=malloc $(ASAN)/bin/python -m pytest -n 2 -p no:cacheprovider

install: $(READY) ## only set up the virtual environment

ifneq ($(VENV),$(ASAN))
$(ASAN)/.supple-ready: $(SOURCES)
	@$(MAKE) --no-print-directory install VENV=$(ASAN) BUILD_FLAGS="\
	    -Ccmake.define.SUPPLE_SANITIZE=ON -Cbuild-dir=build/asan -Ccmake.build-type=RelWithDebInfo"
endif

# $(call requirements,expression): requirements that pyproject.toml lists at `expression` of p.
requirements = $(shell $(PYTHON) -c 'import tomllib; \
    p = tomllib.load(open("pyproject.toml", "rb")); print(*map(repr, $(1)))')
EXTRA = p["project"]["optional-dependencies"]

# $(call step,what,command): say what is done, do it, say how long it took.
step = printf '%s ... ' '$(1)'; start=$$(date +%s); $(2) && echo "$$(($$(date +%s) - start)) s"

# Rebuilt when a C++ source or pyproject.toml changes; Python files are used where they are.
$(READY): WITH = $(EXTRA)["dev"]
$(LIGHT): WITH = $(EXTRA)["workbench"]
$(READY) $(LIGHT): $(SOURCES) | $(RUN)
	@$(call step,installing the build tools in $(VENV),$(PIP) install --upgrade pip cmake ninja \
	    $(call requirements,p["build-system"]["requires"]))
	@$(call step,installing the libraries that are used,$(PIP) install \
	    $(call requirements,p["project"]["dependencies"] + $(WITH)))
	@$(call step,compiling the core: about a minute on two cores,$(PIP) install --no-build-isolation --no-deps \
	    $(BUILD_FLAGS) --editable .)
	@touch $@

$(RUN):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "supple needs Python >= 3.11; name one: make PYTHON=python3.12"; exit 1; }
	@$(call step,making the environment $(VENV),$(PYTHON) -m venv $(VENV))

clean: ## remove environments, builds and caches
	rm -rf .venv .venv-asan build demo-output .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
