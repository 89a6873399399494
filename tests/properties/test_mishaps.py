"""Ctrl-C and want of memory at random moments; `make stress` does the same for longer."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from crowd import ESTIMATORS

from supple.store import Store

SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
import mishaps
ended = 0
for name in {names!r}:
    found = mishaps.{kind}(name, {trials})
    assert found.count == {trials} and not found.failures, (name, found.failures)
    ended += found.failed_calls
assert ended
print("sound")
"""


def trials(kind, names, count, **environment):
    """Make calls that end early, in a process of their own."""
    tests = str(Path(__file__).resolve().parents[1])
    script = SCRIPT.format(tests=tests, names=names, kind=kind, trials=count)
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | environment,
    )
    assert done.stdout.strip() == "sound", done.stderr


def test_interrupts():
    trials("interrupts", [name for name in ESTIMATORS if not name.startswith("RV")], 20)


def test_interrupted_relevance_vector_machines():
    trials("interrupts", ["RVC", "RVR"], 4)


@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer itself runs out of memory"
)
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS binds on Linux only")
def test_want_of_memory():
    names = [name for name in ESTIMATORS if not name.startswith("RV")]
    trials("shortages", names, 6, PYTHONMALLOC="malloc")  # it would keep some for itself


@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer has allocations of its own"
)
@pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD works on Linux only")
def test_failing_allocations(tmp_path):
    """Allocations of the core fail one at a time, down to those of a few bytes."""
    library, source = tmp_path / "short.so", Path(__file__).parents[1] / "short_of_memory.cpp"
    compiler = os.environ.get("CXX", "c++")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True, timeout=120)
    names = [name for name in ESTIMATORS if not name.startswith("RV")]
    trials("faults", names, 20, LD_PRELOAD=str(library))


@pytest.mark.parametrize("column", range(6))
def test_want_of_memory_for_one_column_of_the_table(column, monkeypatch):
    """The columns grow together or not at all."""
    store, some = Store(), np.arange(16)
    store.append(some * 1.0, np.ones(16), some)
    zeros, calls = np.zeros, itertools.count()

    def short(*args, **kwargs):
        if next(calls) == column:
            raise MemoryError
        return zeros(*args, **kwargs)

    with monkeypatch.context() as patched:
        patched.setattr(np, "zeros", short)
        with pytest.raises(MemoryError):
            store.append(some * 2.0, np.ones(16), some + 16)
    assert len(store) == 16
    store.append(some * 2.0, np.ones(16), some + 16)
    np.testing.assert_array_equal(store.y, np.concatenate([some * 1.0, some * 2.0]))
    np.testing.assert_array_equal(store.ids, np.arange(32))


WAITING = """
import os, signal, threading, time
import numpy as np
from supple import SVC

inside, go_on = threading.Event(), threading.Event()

def kernel(A, B):
    if threading.current_thread().name == "writer":
        inside.set()
        go_on.wait(60)
    return A @ B.T

X = np.random.default_rng(0).normal(size=(30, 2))
y = np.arange(30) % 2
model = SVC(kernel=kernel).fit(X[:20], y[:20])
writer = threading.Thread(target=model.partial_fit, args=(X[20:], y[20:]), name="writer")
writer.start()
inside.wait(60)
for call in (lambda: model.predict(X), lambda: model.fit(X, y), lambda: model.forget(0)):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        call()
    except KeyboardInterrupt:
        continue
    raise SystemExit("the call did not wait")
go_on.set()
writer.join()
assert len(model.forget(0).ids_) == 29
print("usable")
"""


def test_ctrl_c_while_waiting_for_another_thread():
    done = subprocess.run(
        [sys.executable, "-c", WAITING], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "usable", done.stderr
