"""Limits on a batch fit: memory by cache_size, time by max_iter and by Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import supple

# ----------------------------------------------------------------------------- memory

# Not getrusage: a child's ru_maxrss begins with what its parent held.
MEMORY = """
import sys
import numpy as np
import supple

def peak():
    status = open("/proc/self/status").read()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 10))
y = (X[:, 0] + 0.5 * np.sin(3 * X[:, 1]) + 0.5 * rng.normal(size=6000) > 0).astype(int)
supple.SVC().fit(X[:200], y[:200])  # loads what every fit loads
before = peak()
model = supple.SVC(C=100.0, gamma=0.02, cache_size=float(sys.argv[1])).fit(X, y)
grown = peak() - before
assert model.kkt_violation_ <= 1e-8
margin = np.count_nonzero(np.abs(model.dual_coef_) < 100.0 * (1 - 1e-12))
print(grown, margin)
"""


def memory(cache_size):
    """MB by which a fit of 6000 examples raises the peak, and the size of its margin."""
    out = subprocess.run(
        [sys.executable, "-c", MEMORY, str(cache_size)], capture_output=True, text=True, check=True
    ).stdout.split()
    return float(out[0]), int(out[1])


def allowance(n, d, margin):
    """MB that a fit needs beside its cache of rows."""
    points = n * d * (8 + 4 + 4 + 8)  # as held; all, active and support vectors for blocks
    state = n * 8 * 30  # x, its box, gradients, and a few copies of them
    working_sets = 2 * 1024**2 * 4  # kernel values among the present and the last one
    polish = 3 * 8 * margin**2  # K_SS, its factor, a copy
    pages = 4 * 2**20  # the cache comes in whole pages of 2 MB
    return (points + state + working_sets + polish + pages) / 2**20


@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps memory of its own"
)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc/self/status")
def test_memory_stays_within_the_cache_size():
    small, margin = memory(10)
    large, _ = memory(200)
    assert small < large
    assert small <= 10 + allowance(6000, 10, margin)
    assert large <= 200 + allowance(6000, 10, margin)


# Machines of many classes: what they keep from update to update counts as one.
MANY = """
import sys
import numpy as np
import supple

def held():
    status = open("/proc/self/status").read()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024

rng = np.random.default_rng(0)
centres = rng.normal(size=(16, 8))
y = np.arange(4060) % 16
X = centres[y] + rng.normal(size=(4060, 8))
params = dict(C=10.0, gamma=0.1, multi_class=sys.argv[1], cache_size=float(sys.argv[2]))
supple.SVC(**params).fit(X[:400], y[:400]).partial_fit(X[400:401], y[400:401])
model = supple.SVC(**params).fit(X[:4000], y[:4000])
machines = model._model.state.head_states.values()
before = held()
for k in range(4000, 4060):
    model.partial_fit(X[k : k + 1], y[k : k + 1])
assert model.exact_
factors = sum(8 * (1.2 * machine.core.n_margin + 24) ** 2 for machine in machines)
print(held() - before, factors / 2**20, len(machines))
"""


@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps memory of its own"
)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc/self/status")
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_memory_of_many_machines_stays_within_the_cache_size(multi_class):
    command = [sys.executable, "-c", MANY, multi_class, "10"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    grown, factors, machines = map(float, out)
    places = machines * 4060 * 8 / 2**20  # of each example among the members
    copies = 2 * 15 * 4060 * 8 * 8 / 2**20  # of vectors, to go back to
    assert grown <= 10 + factors + places + copies + 8  # and some pages


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_kernel_values_of_all_machines_share_the_cache_size(multi_class):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(10, 6))
    y = np.arange(2540) % 10
    X = centres[y] + rng.normal(size=(len(y), 6))
    params = {"C": 10.0, "gamma": 0.1, "multi_class": multi_class}
    small = supple.SVC(cache_size=4, **params).fit(X[:2500], y[:2500])
    large = supple.SVC(cache_size=200, **params).fit(X[:2500], y[:2500])
    grams = [model._model.state.gram.core for model in (small, large)]
    for k in range(2500, 2540):
        for model in (small, large):
            model.partial_fit(X[k : k + 1], y[k : k + 1]).forget([k - 2500])
        assert grams[0].held_bytes <= 4 * 2**20
    assert 4 * 2**20 < grams[1].held_bytes <= 200 * 2**20  # it would have used more
    assert small.exact_
    np.testing.assert_allclose(
        small.decision_function(X[:100]), large.decision_function(X[:100]), atol=1e-7
    )


def test_machines_that_go_give_back_their_part():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 4)), np.arange(600) % 3
    model = supple.SVC(gamma=0.3).fit(X, y).partial_fit(X[:1], [1])
    gram = model._model.state.gram.core
    before = gram.held_bytes
    model.forget(np.flatnonzero(y == 2))
    assert 0 < gram.held_bytes < before


# ----------------------------------------------------------------------------- iterations


def stream(n=2600):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5)) + 1.0
    t = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=n)
    return X, t, (t > np.median(t)).astype(int)


MACHINES = {
    "SVC": {},
    "NuSVC": {"nu": 0.7},
    "SVR": {},
    "OneClassSVM": {"nu": 0.5},
    "SVDD": {"C": 0.001},
}


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("name", MACHINES)
def test_stopped_by_max_iter(name, kernel, judge):
    X, t, y = stream()
    y = {"SVR": t, "SVC": y, "NuSVC": y}.get(name, np.zeros(len(X)))
    model = getattr(supple, name)(
        kernel=kernel, gamma=0.3, coef0=1.0, max_iter=50, **MACHINES[name]
    )
    with pytest.warns(supple.NotConvergedWarning, match="max_iter=50"):
        model.fit(X, y)
    assert np.all(model.n_iter_ <= 50)
    assert model.fit_status_ == 1
    assert not model.exact_
    assert np.isfinite(model.predict(X)).all()
    dual = judge.dual(model, X, y)  # not optimal, but feasible, and honest about it
    if name != "NuSVC":  # whose margin may still be negative, and is then not scaled to 1
        assert model.kkt_violation_ == pytest.approx(dual.violation, rel=1e-3)
    rounding = 1e-15 * np.abs(dual.x).max()  # decision values of NuSVC come divided
    assert np.all(dual.x >= dual.lo - rounding)
    assert np.all(dual.x <= dual.hi + rounding)
    assert np.abs(dual.sums).max() <= 1e-9 * np.abs(dual.x).sum()
    with pytest.warns(supple.NotConvergedWarning):
        model.partial_fit(X[:1], y[:1])
    assert np.all(model.n_iter_ <= 50)


@pytest.mark.parametrize("name", MACHINES)
def test_each_update_comes_closer(name):
    """A model that was stopped goes on from where it is."""
    X, t, y = stream()
    y = {"SVR": t, "SVC": y, "NuSVC": y}.get(name, np.zeros(len(X)))
    model = getattr(supple, name)(gamma=0.3, max_iter=300, **MACHINES[name])
    with pytest.warns(supple.NotConvergedWarning):
        model.fit(X, y)
    before = model.dual_objective_
    with pytest.warns(supple.NotConvergedWarning):
        model.reweight([0], 1.0)
    assert model.dual_objective_ > before


@pytest.mark.parametrize("max_iter", [0, 1])
def test_hardly_any_iterations(max_iter):
    X, _, y = stream()
    with pytest.warns(supple.NotConvergedWarning):
        model = supple.SVC(max_iter=max_iter).fit(X, y)
    assert np.all(model.n_iter_ <= max_iter)
    assert np.isfinite(model.decision_function(X)).all()


def test_enough_iterations(judge):
    X, _, y = stream()
    judge(supple.SVC(gamma=0.3, max_iter=10**6).fit(X, y), X, y)


# ----------------------------------------------------------------------------- Ctrl-C

INTERRUPTED = """
import sys
import numpy as np
import supple

n, C, gamma = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
rng = np.random.default_rng(0)
X = rng.normal(size=(n, 8))
y = rng.integers(0, 2, n)  # noise: many support vectors
model = supple.SVC(C=C, gamma=gamma).fit(X[:200], y[:200])
before = model.decision_function(X[:50])
print("fitting", flush=True)
try:
    model.{call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    sys.exit("the fit ended before the signal came")
assert len(model.ids_) == 200
assert np.array_equal(model.decision_function(X[:50]), before)
model.partial_fit(X[200:203], y[200:203]).forget([0, 1])
assert model.kkt_violation_ <= 1e-8
print("usable")
"""


def interrupted(call, seconds, *problem):
    """Ctrl-C so many seconds after the start of a call ends it and leaves the model usable."""
    script = INTERRUPTED.replace("{call}", call)
    with subprocess.Popen(
        [sys.executable, "-c", script, *map(str, problem)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline().strip() == "fitting"
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert out.split() == ["interrupted", "usable"]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child")
@pytest.mark.parametrize(
    "call", ["fit(X, y)", "set_params(n_jobs=2).partial_fit(X[200:], y[200:])"]
)
def test_ctrl_c_in_the_block_solver(call):
    interrupted(call, 0.3, 20_000, 1000, 0.05)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a child")
def test_ctrl_c_in_the_polish():
    """Thousands of variables join the margin, each of which takes a while."""
    interrupted("fit(X, y)", 3.0, 8000, 1000, 0.05)
