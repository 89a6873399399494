"""The same numbers in another form give the same model: CSR, float32, other memory layouts."""

import numpy as np
import pytest
from ledger import DECISION_BAR, KERNELS, KKT_BAR, MACHINES
from scipy import sparse
from walks import Walk

import supple


def streamed(name, kernel, X, y, w, form, params):
    """A model that learned in three batches, forgot some examples and reweighted others."""
    name = MACHINES[name].name
    model = getattr(supple, name)(kernel=kernel, **params)
    target = {"y": y} if name in ("SVC", "NuSVC", "SVR") else {"y": None}
    for part in (slice(0, 30), slice(30, 31), slice(31, None)):
        batch = {key: None if value is None else value[part] for key, value in target.items()}
        model.partial_fit(form(X[part]), **batch, sample_weight=w[part])
    model.forget([2, 3, 17]).reweight([5, 6], [0.7, 2.0])
    return model


def data(name, kernel):
    walk = Walk(name, kernel, seed=5, size=4)
    X, y, w = walk.draw(50)
    # Sparse-looking, and exact in float32: every form then holds the very same numbers.
    X = np.round(4 * X) / 4 * (np.abs(X) > 0.5)
    return X, y, np.maximum(w, 0.1), walk.ledger.params | walk.ledger.kernel_params


FORMS = {
    "csr": sparse.csr_matrix,
    "csr array": sparse.csr_array,
    "float32": lambda X: X.astype(np.float32),
    "float32 csr": lambda X: sparse.csr_matrix(X.astype(np.float32)),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "list": np.ndarray.tolist,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MACHINES)
def test_form_does_not_matter(name, kernel, form):
    X, y, w, params = data(name, kernel)
    dense = streamed(name, kernel, X, y, w, np.asarray, params)
    other = streamed(name, kernel, X, y, w, FORMS[form], params)
    assert other.kkt_violation_ <= KKT_BAR
    assert other.dual_objective_ == pytest.approx(dense.dual_objective_, rel=1e-9)
    act = "predict" if name == "SVR" else "decision_function"
    want = getattr(dense, act)(X)
    size = max(1.0, np.abs(want).max())
    for Z in (X, FORMS[form](X)):
        np.testing.assert_allclose(getattr(other, act)(Z), want, atol=DECISION_BAR * size, rtol=0)
