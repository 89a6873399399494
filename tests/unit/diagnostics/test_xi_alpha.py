"""Joachims' estimates: the counts they are made of, and what they refuse."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

import supple
from supple.diagnostics import xi_alpha
from supple.engine import radius


def two_classes(n=80, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + rng.normal(size=n) > np.quantile(X[:, 0], share), "yes", "no")
    return X, y


def by_the_book(model, X, y, K, rho, positive):
    """Return error, recall, precision, F1 from dual_coef_ and decision_function."""
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    sign = np.where(y == positive, 1.0, -1.0)
    xi = np.maximum(0.0, 1.0 - sign * model.decision_function(X))
    R2 = (K.diagonal()[:, None] - K).max()
    wrong = rho * alpha * R2 + xi >= 1.0
    n, missed, taken = (sign > 0).sum(), (wrong & (sign > 0)).sum(), (wrong & (sign < 0)).sum()
    return (
        [wrong.mean(), 1 - missed / n, (n - missed) / (n - missed + taken),
         2 * (n - missed) / (2 * n - missed + taken)],
        R2,
    )  # fmt: skip


@pytest.mark.parametrize("rho", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "callable"])
def test_counts_are_those_of_the_definition(kernel, rho):
    X, y = two_classes(share=0.3)
    K = {
        "rbf": rbf_kernel(X, gamma=0.4),
        "linear": X @ X.T,
        "poly": polynomial_kernel(X, gamma=0.4, degree=2, coef0=1.0),
        "callable": rbf_kernel(X, gamma=0.4),
    }[kernel]
    own = (lambda A, B: rbf_kernel(A, B, gamma=0.4)) if kernel == "callable" else kernel
    model = supple.SVC(C=0.7, kernel=own, gamma=0.4, degree=2, coef0=1.0).fit(X, y)
    rates, R2 = by_the_book(model, X, y, K, rho, "yes")
    found = xi_alpha(model, rho=rho)
    np.testing.assert_allclose([found.error, found.recall, found.precision, found.f1], rates)
    assert found.radius == pytest.approx(R2, rel=1e-12)
    assert not found.bounded
    (head,) = found.heads
    assert (head.positive, head.negative, head.n) == ("yes", "no", 80)
    assert (head.error, head.recall) == (found.error, found.recall)


def test_sparse_input_gives_the_same():
    X, y = two_classes()
    dense = xi_alpha(supple.SVC(gamma=0.5).fit(X, y))
    thin = xi_alpha(supple.SVC(gamma=0.5).fit(sparse.csr_matrix(X), y))
    assert (dense.error, dense.recall, dense.precision) == (thin.error, thin.recall, thin.precision)


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_bound_of_the_radius_is_one(kernel, monkeypatch):
    X, y = two_classes()
    model = supple.SVC(kernel=kernel, gamma=0.5).fit(X, y)
    exact = xi_alpha(model)
    monkeypatch.setattr(radius, "_MOST", 10)
    bound = xi_alpha(model)
    assert bound.bounded
    assert bound.radius >= exact.radius
    assert bound.error >= exact.error
    assert "radius=<=" in repr(bound)
    assert "radius=<=" not in repr(exact)


def test_last_batch_only():
    X, y = two_classes()
    model = supple.SVC(gamma=0.5).partial_fit(X[:50], y[:50]).partial_fit(X[50:], y[50:])
    late, early = xi_alpha(model, ids=range(50, 80)), xi_alpha(model, ids=range(50))
    assert (late.n, early.n) == (30, 50)
    assert 30 * late.error + 50 * early.error == pytest.approx(80 * xi_alpha(model).error)


def test_subset_without_positives_has_no_recall():
    X, y = two_classes()
    found = xi_alpha(supple.SVC(gamma=0.5).fit(X, y), ids=np.flatnonzero(y == "no"))
    assert np.isnan(found.recall)
    assert found.n == (y == "no").sum()


def test_weights_enter_through_alpha():
    X, y = two_classes()
    light = supple.SVC(C=1.0, gamma=0.5).fit(X, y, sample_weight=np.full(80, 0.25))
    small = supple.SVC(C=0.25, gamma=0.5).fit(X, y)
    assert xi_alpha(light).error == xi_alpha(small).error


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_vote_of_several_machines(multi_class):
    X, y = load_iris(return_X_y=True)
    model = supple.SVC(C=1.0, gamma=0.1, multi_class=multi_class).fit(X, y)
    one, two = xi_alpha(model), xi_alpha(model, rho=2.0)
    assert len(one.heads) == 3
    assert 0.0 < one.error <= two.error < 0.5
    assert two.recall == pytest.approx(1.0 - two.error)  # classes of one size
    if multi_class == "ovr":
        assert [head.negative for head in one.heads] == [None] * 3
        assert one.error >= max(head.error for head in one.heads)
    else:
        assert {head.n for head in one.heads} == {100}
        # An example has two machines of its own, and loses if one of them turns (with the third).
        assert one.error <= sum(head.error * head.n for head in one.heads) / one.n


def test_only_example_of_its_class_counts():
    X, y = two_classes(20)
    X, y = np.vstack([X, [[9.0, 9.0, 9.0]]]), np.append(y, "zebra")
    for multi_class in ("ovo", "ovr"):
        model = supple.SVC(C=0.1, gamma=0.5, multi_class=multi_class).fit(X, y)
        assert xi_alpha(model, ids=20).error == 1.0


def test_break_ties_counts_ties_against_the_example():
    X, y = load_iris(return_X_y=True)
    plain = supple.SVC(C=1.0, gamma=0.1).fit(X, y)
    careful = supple.SVC(C=1.0, gamma=0.1, break_ties=True).fit(X, y)
    assert xi_alpha(careful, rho=2.0).error >= xi_alpha(plain, rho=2.0).error


def test_model_is_unchanged():
    X, y = two_classes()
    model = supple.SVC(gamma=0.5).fit(X, y)
    before = pickle.dumps(model)
    xi_alpha(model)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    "model",
    [
        supple.SimpleSVC(gamma=0.5),
        supple.BudgetSVC(gamma=0.5, budget=40),
        supple.SVIncrementalSVC(gamma=0.5),
    ],
    ids=lambda model: type(model).__name__,
)
def test_other_machines_with_the_hinge_loss(model):
    X, y = two_classes()
    model.partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    assert xi_alpha(model).n == len(model.ids_)


def test_repr():
    X, y = two_classes()
    found = xi_alpha(supple.SVC(gamma=0.5).fit(X, y))
    assert repr(found).startswith(f"XiAlpha(error={found.error:.3f}, recall={found.recall:.3f}, ")
    assert repr(found).endswith("heads=1)")
    assert repr(found.heads[0]).startswith("MachineXiAlpha('yes' against 'no': error=")


@pytest.mark.parametrize("rho", [0.0, -1.0, np.nan, np.inf, "1", True, None])
def test_bad_rho(rho):
    X, y = two_classes()
    with pytest.raises(supple.InvalidInputError, match=r"'rho' .* > 0\. Got .* instead"):
        xi_alpha(supple.SVC().fit(X, y), rho=rho)


def test_bad_ids():
    X, y = two_classes()
    model = supple.SVC().fit(X, y)
    with pytest.raises(supple.UnknownIdError, match=r"'ids' given to xi_alpha: \[800\]"):
        xi_alpha(model, ids=[3, 800])
    with pytest.raises(supple.DuplicateIdError, match="Repeated: 3"):
        xi_alpha(model, ids=[3, 3])
    with pytest.raises(supple.InvalidInputError, match="at least one example"):
        xi_alpha(model, ids=[])


def test_bad_models():
    X, y = two_classes()
    sign = np.where(y == "yes", 1, -1)
    for other in (supple.NuSVC(nu=0.2), supple.SVR(), supple.OneClassSVM(), supple.SVDD()):
        with pytest.raises(supple.InvalidInputError, match="hinge loss: SVC, SimpleSVC"):
            xi_alpha(other.fit(X, sign))
    for stranger in (supple.LASVC(random_state=0).fit(X, y), supple.SVC, 3):
        with pytest.raises(supple.InvalidInputError, match="'model' given to xi_alpha must be"):
            xi_alpha(stranger)
    with pytest.raises(supple.InvalidInputError, match="exact_=False"):
        xi_alpha(supple.SVC(kernel="sigmoid", gamma=0.1).fit(X, y))
    with pytest.raises(supple.PrecomputedUpdateError, match="precomputed"):
        xi_alpha(supple.SVC(kernel="precomputed").fit(X @ X.T, y))
    with pytest.raises(supple.InvalidInputError, match="two classes"):
        xi_alpha(supple.SVC().partial_fit(X[:3], ["a"] * 3))
    with pytest.raises(AttributeError, match="not fitted"):
        xi_alpha(supple.SVC())
