"""The data sets are there without an import of their own, but only when asked for."""

import subprocess
import sys


def test_data_sets_come_with_the_package_when_asked_for():
    code = (
        "import sys, supple; assert 'supple.datasets' not in sys.modules; "
        "print(supple.datasets.load('sonar').X.shape, hasattr(supple, 'nothing'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(208, 60) False"
