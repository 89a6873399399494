"""Ctrl-C and want of memory at random moments: the model is the one before or after the call.

Each trial takes a fresh copy of a model, lets one call fail somewhere on its way, and compares all
that can be seen of the model with what it was before, and with what the call makes of it when
nothing happens. Then the call is made again, which must work.
"""

import contextlib
import ctypes
import itertools
import pickle
import random
import resource
import signal
import time
import warnings

import numpy as np
import pytest
from crowd import EXACT, METHODS, attributes, look, make, rows

import supple
from supple.engine import head

_EXACT_OPERATIONS = ("fit", "partial_fit", "new class", "forget", "reweight", "retune")
# glibc's mallopt: little that is freed stays at hand for the next allocation.
_STINGY = {-1: 0, -2: 0, -3: 1024, -4: 1_000_000}  # trim threshold, top pad, mmap threshold and max
_FIRST = 40  # rows of the model; those that come are as many times more as the size says


def operations(name, size):
    """Return calls that change a model of this kind, by name."""
    more = rows(name, _FIRST * size, 3, 2, 5)
    other = rows(name, _FIRST * size, 4, 3, 6)
    third = rows(name, _FIRST * size, 3, 3, 7)
    ids = np.arange(0, _FIRST, 3)
    tuned = {"nu": 0.25} if name in ("NuSVC", "OneClassSVM") else {"C": 3.0}
    calls = {
        "fit": lambda model: model.fit(*other),
        "partial_fit": lambda model: model.partial_fit(*more),
        "new class": lambda model: model.partial_fit(*third),
        "forget": lambda model: model.forget(ids),
        "reweight": lambda model: model.reweight(ids, 0.5),
        "retune": lambda model: model.retune(**tuned, gamma=0.7),
        "finish": lambda model: model.finish(),
        "refine": lambda model: model.refine(*more, ids=np.arange(1000, 1000 + _FIRST * size)),
    }
    if name in EXACT:
        return {what: calls[what] for what in _EXACT_OPERATIONS}
    can = ["fit", "partial_fit", "new class"]
    can += ["finish"] * (name == "LASVC") + ["refine", "retune"] * name.startswith("SVInc")
    return {what: calls[what] for what in can}


def portrait(model, probe):
    """Return all that can be seen of a model."""
    looks = [*attributes(model), *(m for m in METHODS if hasattr(model, m))]
    seen = {what: look(model, what, probe) for what in looks if what != "n_kernel_evals_"}
    return seen | {"params": str(model.get_params())}


def differences(a, b):
    """Return the names of what differs; the same model may differ in rounding."""

    def alike(one, other):
        if isinstance(one, str | dict) or isinstance(other, str | dict):
            return type(one) is type(other) and one == other
        if isinstance(one, tuple):  # records, in which NaN is the same as NaN
            return repr(one) == repr(other)
        one, other = np.asarray(one), np.asarray(other)
        if one.shape != other.shape:
            return False
        if one.dtype.kind == "f":
            return np.allclose(one, other, rtol=1e-6, atol=1e-6, equal_nan=True)
        return np.array_equal(one, other)

    return [what for what in a if not alike(a[what], b[what])]


@contextlib.contextmanager
def broken_solver(at, error):
    """Let the solver do its work and then fail, the `at`-th time that it brings a head home."""
    calls = itertools.count(1)

    def solve(*args, **kwargs):
        outcome = whole(*args, **kwargs)
        if next(calls) == at:
            if error is KeyboardInterrupt:
                signal.raise_signal(signal.SIGINT)
            raise error("in the middle")
        return outcome

    whole = head.solve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(head, "solve", solve)
        yield


class Trials:
    """Calls of one kind of model that fail, and what became of the model."""

    def __init__(self, name, seed, size):
        self.name, self.size = name, size
        self.choose = random.Random(seed)
        self.count = self.failed_calls = 0
        self.failures = []
        self._probe = rows(name, 12, 3, 2, 3)[0]
        self._calls = operations(name, size)
        self._start = pickle.dumps(make(name).fit(*rows(name, _FIRST, 3, 2, 1)))
        self._before = portrait(self._model(), self._probe)
        self._after, self._seconds = {}, {}
        for what, call in self._calls.items():
            model, start = self._model(), time.perf_counter()
            call(model)
            self._seconds[what] = time.perf_counter() - start
            self._after[what] = portrait(model, self._probe)

    def _model(self):
        return pickle.loads(self._start)

    def run(self, trials, mishap):
        """Make calls under mishap(call, seconds that it takes), which says whether they failed."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", supple.NotReadyWarning)
            for _ in range(trials):
                what = self.choose.choice(list(self._calls))
                try:
                    self._trial(what, mishap)
                except Exception as error:
                    self.failures.append(f"{what}: later {type(error).__name__}: {error}")
        return self

    def _trial(self, what, mishap):
        model, call = self._model(), self._calls[what]
        self.count += 1
        self.failed_calls += mishap(lambda: call(model), self._seconds[what])
        seen = portrait(model, self._probe)
        unlike_before = differences(self._before, seen)
        unlike_after = differences(self._after[what], seen)
        if unlike_before and unlike_after:
            self.failures.append(
                f"{what}: between, {unlike_before} are not as before, {unlike_after} not as after"
            )
            return
        if not unlike_before:
            call(model)
            unlike = differences(self._after[what], portrait(model, self._probe))
            if unlike and unlike != ["n_iter_"]:  # the way may be another one now
                self.failures.append(f"{what}: made again, {unlike} are others")


def interrupts(name, trials, seed=0):
    """Send SIGINT at random moments of calls."""
    found = Trials(name, seed, 1 if name.startswith("RV") else 2)

    def interrupt(call, seconds):
        delay = max(1e-6, found.choose.uniform(0.0, 1.1) * seconds)
        try:
            try:
                signal.setitimer(signal.ITIMER_REAL, delay)
                call()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                time.sleep(0)
        except KeyboardInterrupt:
            return True
        return False

    handlers = {
        signal.SIGALRM: lambda *_: signal.raise_signal(signal.SIGINT),
        signal.SIGINT: signal.default_int_handler,  # a shell may have it ignored
    }
    earlier = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        return found.run(trials, interrupt)
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def shortages(name, trials, seed=0):
    """Let calls run out of memory; for a process of its own (Linux)."""
    size = {"R": 1, "B": 4}.get(name[0], 20)  # RVC and RVR are slow, budgets go row by row
    found = Trials(name, seed, size)
    libc = ctypes.CDLL(None)
    for option, value in _STINGY.items():
        libc.mallopt(option, value)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]

    def shorten(call, seconds):
        libc.malloc_trim(0)
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        room = int(2 ** found.choose.uniform(12.0, 22.0))
        resource.setrlimit(resource.RLIMIT_AS, (used + room, hard))
        try:
            with contextlib.suppress(supple.NotReadyWarning):
                call()
        except MemoryError:
            return True
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
        return False

    return found.run(trials, shorten)


def faults(name, trials, seed=0):
    """Let single allocations of the core fail; `short_of_memory.cpp` must be loaded."""
    found = Trials(name, seed, 1)
    fail_allocation = ctypes.CDLL(None).fail_allocation

    def fault(call, seconds):
        fail_allocation(ctypes.c_long(int(2 ** found.choose.uniform(0.0, 10.0))))
        try:
            call()
        except MemoryError:
            return True
        finally:
            fail_allocation(ctypes.c_long(0))
        return False

    return found.run(trials, fault)
