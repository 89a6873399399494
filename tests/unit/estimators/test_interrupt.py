"""A real Ctrl-C in a long update: it ends soon, and the model is the one from before."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

from supple import RVC, RVR, SVC, SimpleSVC, progress
from supple.progress import Progress

SCRIPT = """
import os, signal, sys, threading, time
import numpy as np
import supple

rng = np.random.default_rng(0)
X = rng.normal(size=(6000, 20))
y = rng.integers(0, 2, len(X))  # noise: every example becomes a support vector
model = supple.SVC(C=100.0, gamma=0.05).fit(X[:200], y[:200])
before = model.decision_function(X[:50])
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.{call}
except KeyboardInterrupt:
    pass
else:
    sys.exit("the update ended before the signal came")
assert len(model.ids_) == 200
assert np.array_equal(model.decision_function(X[:50]), before)
model.partial_fit(X[200:205], y[200:205]).forget([0, 1])
assert model.kkt_violation_ <= 1e-8
print("usable")
"""


def interrupted(call):
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.replace("{call}", call)],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_an_interrupted_update_leaves_the_model_as_it_was():
    result = interrupted("partial_fit(X[200:], y[200:])")
    assert result.stdout.strip() == "usable", result.stderr


def test_an_interrupted_fit_leaves_the_earlier_model():
    result = interrupted("fit(X, y)")
    assert result.stdout.strip() == "usable", result.stderr


MANY_STEPS = """
import os, signal, sys, threading
import numpy as np
import supple

rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 5))
y = rng.integers(0, 2, len(X))
model = supple.{kind}(budget=60, gamma=0.5).partial_fit(X[:100], y[:100])
before = model.decision_function(X[:50])
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.partial_fit(X[100:], y[100:])
except KeyboardInterrupt:
    pass
else:
    sys.exit("the update ended before the signal came")
assert len(model.ids_) == 60 and model.n_samples_seen_ == 100
assert np.allclose(model.decision_function(X[:50]), before, rtol=0, atol=1e-12)
model.partial_fit(X[100:120], y[100:120])
assert model.kkt_violation_ <= 1e-8
print("usable")
"""


@pytest.mark.parametrize("kind", ["BudgetSVC", "BudgetSVDD"])
def test_a_long_stream_can_be_interrupted(kind):
    result = subprocess.run(
        [sys.executable, "-c", MANY_STEPS.replace("{kind}", kind)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.stdout.strip() == "usable", result.stderr


HARD = {"C": 1000.0, "gamma": 0.1}


@pytest.fixture
def handled():
    """Let a signal raise KeyboardInterrupt, as it does outside of workers that run tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("wanted", "model", "n"),
    [
        ("solving", SVC(**HARD), 1500),
        ("kernel", SVC(**HARD), 1500),
        ("factoring", SVC(**HARD), 1500),
        ("finishing", SVC(**HARD), 1500),
        ("solving", SVC(kernel="sigmoid", gamma=0.01, C=100.0), 1500),
        ("admitting", SimpleSVC(C=10.0, gamma=0.1), 1500),
        ("searching", RVC(), 60),
        ("dropping functions", RVC(), 60),
        ("searching", RVR(gamma=0.001), 60),
    ],
)
def test_every_phase_can_be_interrupted(wanted, model, n, monkeypatch, handled):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 10)), rng.integers(0, 2, n)
    model = clone(model).set_params(verbose=1).fit(X[:40], y[:40])
    before = model.predict(X)
    hear, say, stopped = Progress.__call__, Progress.say, []

    def stop(found):
        if found == wanted and not stopped:
            stopped.append(found)
            signal.raise_signal(signal.SIGINT)

    def stop_and_hear(self, phase, *news):
        stop(phase.name)
        hear(self, phase, *news)

    def stop_and_say(self, sentence):
        stop(sentence.split(":")[0])
        say(self, sentence)

    monkeypatch.setattr(progress, "PAUSE", 0.0)
    monkeypatch.setattr(Progress, "__call__", stop_and_hear)
    monkeypatch.setattr(Progress, "say", stop_and_say)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert stopped
    assert np.array_equal(model.predict(X), before)
    assert model.partial_fit(X[40:50], y[40:50]).n_samples_seen_ == 50


PREDICTING = """
import os, signal, sys, threading
import numpy as np
import supple

rng = np.random.default_rng(0)
X = rng.normal(size=(3000, 20))
model = supple.SVC(n_jobs={threads}).fit(X, rng.integers(0, 2, len(X)))
before = model.predict(X)
many = rng.normal(size=(500_000, 20))
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(100):
        model.decision_function(many)
except KeyboardInterrupt:
    pass
else:
    sys.exit("the prediction ended before the signal came")
assert np.array_equal(model.predict(X), before)
print("usable")
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_prediction_can_be_interrupted(threads):
    script = PREDICTING.replace("{threads}", str(threads))
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert result.stdout.strip() == "usable", result.stderr


AT_THE_END = """
import signal
import numpy as np
import supple

class Late(supple.SVC):
    def _learn(self, model, batch, *, whole):
        step = super()._learn(model, batch, whole=whole)
        if len(batch.targets) == 30:
            signal.raise_signal(signal.SIGINT)
        return step

X = np.random.default_rng(0).normal(size=(30, 4))
y = np.arange(30) % 2
model = Late().fit(X[:20, :3], y[:20])
try:
    model.fit(X, y)
except KeyboardInterrupt:
    pass
else:
    raise SystemExit("the signal was lost")
n, d = model.shape_fit_
assert (n, d) in ((20, 3), (30, 4)), (n, d)
assert model.support_vectors_.shape[1] == model.n_features_in_ == d
assert len(model.predict(X[:, :d])) == 30
print("usable")
"""


def test_an_interrupt_at_the_end_of_fit_leaves_one_model_with_its_features():
    result = subprocess.run(
        [sys.executable, "-c", AT_THE_END], capture_output=True, text=True, timeout=120
    )
    assert result.stdout.strip() == "usable", result.stderr
