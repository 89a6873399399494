"""verbose tells what happens while it happens."""

import pickle
import time

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from supple import SVC


def slow(A, B):
    time.sleep(0.004)
    return rbf_kernel(A, B, gamma=0.5)


def test_a_long_fit_reports_iterations_and_gap(capsys):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.arange(400) % 2
    SVC(kernel=slow, C=10.0, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("[SVC]") and "iterations, gap" in line for line in lines[:-1])
    assert lines[-1].startswith("[SVC] fit 400: smo")


def test_a_short_or_silent_fit_does_not(capsys):
    X, y = np.eye(4), [0, 1, 0, 1]
    SVC(verbose=1).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == 1
    model = SVC().fit(X, y)
    assert capsys.readouterr().out == ""
    model.verbose = 1
    model.partial_fit(X + 1.0, y)
    assert "partial_fit 4" in capsys.readouterr().out
    pickle.dumps(model)
