"""Table 1 of Tax & Laskov (2003), one column of it; needs usps.npz in the folder SUPPLE_DATA."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from supple import BudgetSVC

USPS = Path(os.environ.get("SUPPLE_DATA", "")) / "usps.npz"


@pytest.mark.slow
@pytest.mark.skipif(not USPS.is_file(), reason="no usps.npz in the folder that SUPPLE_DATA names")
def test_150_examples_are_enough_for_usps():
    with np.load(USPS) as file:
        data = {name: file[name] for name in file.files}
    X, X_test = (
        gaussian_filter(
            data[name].reshape(-1, 16, 16).astype(float), (0, 0.75, 0.75), mode="constant", cval=-1
        ).reshape(-1, 256)
        for name in ("X_train", "X_test")
    )
    decisions = []
    for digit in range(10):
        model = BudgetSVC(budget=150, C=100.0, gamma=1.0 / (0.3 * 256))
        model.partial_fit(X, data["y_train"] == digit)
        assert len(model.ids_) == 150
        assert model.n_kernel_evals_ == sum(min(i, 150) + 1 for i in range(len(X)))
        decisions.append(model.decision_function(X_test))
    assert 100 * np.mean(np.argmax(decisions, axis=0) != data["y_test"]) < 5.2
