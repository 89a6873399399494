"""Machines without AVX-512 or AVX2, tried out by SUPPLE_SIMD."""

import os
import subprocess
import sys

import numpy as np
import pytest
from supple._core import instruction_set

import supple

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


@pytest.mark.parametrize("wish", ["baseline", "avx2", "avx512"])
def test_same_model(wish):
    answer = run(wish)
    assert answer.returncode == 0, answer.stderr
    name, exact, total = answer.stdout.split()
    if wish == "baseline":
        assert name not in ("AVX2", "AVX-512")
    elif wish == "avx2":
        assert name != "AVX-512"
    elif "SUPPLE_SIMD" not in os.environ:
        assert name == instruction_set()
    assert exact == "True"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 20))
    y = (X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * rng.normal(size=1500) > 0).astype(int)
    here = np.abs(supple.SVC(C=10.0, gamma=0.05).fit(X, y).decision_function(X)).sum()
    np.testing.assert_allclose(float.fromhex(total), here, rtol=1e-7)


def test_unknown_set():
    answer = run("mmx")
    assert answer.returncode != 0
    assert "SUPPLE_SIMD must be baseline, avx2 or avx512" in answer.stderr
