"""scikit-learn's tests pass on supple's classes, but for those in a table."""

import subprocess
import sys
from pathlib import Path

import pytest
import sklearn


# In a process of its own, because it replaces classes of scikit-learn.
@pytest.mark.slow
@pytest.mark.skipif(
    not sklearn.__version__.startswith("1.9."),
    reason="the table is that of scikit-learn 1.9; other versions have other tests",
)
def test_tests_of_scikit_learn():
    script = Path(__file__).with_name("run.py")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
