"""Machines without AVX-512 or AVX2, tried out by SUPPLE_SIMD."""

import os
import subprocess
import sys

import pytest

FIT = """
import numpy as np, supple
from supple._core import instruction_set
rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 20))
y = (X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=1500) > 0).astype(int)
model = supple.SVC(C=10.0, gamma=0.05).fit(X[:1400], y[:1400]).partial_fit(X[1400:], y[1400:])
print(instruction_set(), model.exact_, float(np.abs(model.decision_function(X)).sum()).hex())
"""


def run(wish):
    return subprocess.run(
        [sys.executable, "-c", FIT],
        env=os.environ | {"SUPPLE_SIMD": wish},
        capture_output=True,
        text=True,
        check=False,
    )


def model_of(wish):
    answer = run(wish)
    assert answer.returncode == 0, answer.stderr
    name, exact, total = answer.stdout.split()
    assert exact == "True"
    return name, float.fromhex(total)


@pytest.fixture(scope="module")
def usual():
    return model_of("")


@pytest.mark.parametrize(
    ("wish", "allowed"), [("baseline", {"baseline"}), ("avx2", {"baseline", "AVX2"})]
)
def test_same_model(wish, allowed, usual):
    name, total = model_of(wish)
    assert name in allowed
    assert total == pytest.approx(usual[1], rel=1e-7)


def test_the_best_is_taken(usual):
    assert model_of("avx512") == usual


def test_unknown_set():
    answer = run("mmx")
    assert answer.returncode != 0
    assert "SUPPLE_SIMD must be baseline, avx2 or avx512" in answer.stderr
