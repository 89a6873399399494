"""A fixed memory: exact on what is held, the right example leaves, no kernel value twice."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from mishaps import broken_solver
from numpy.testing import assert_allclose, assert_array_equal

from supple import (
    SVC,
    SVDD,
    BudgetSVC,
    BudgetSVDD,
    DuplicateIdError,
    InvalidInputError,
    NotReadyWarning,
)

M = 15
CLOSE = {"atol": 1e-7}


def stream(n=90, classes=3, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    centres = np.array([[0.0, 0.0], [2.0, 0.5], [0.5, 2.0]])
    return rng.normal(size=(n, 2)) + centres[y], y


def refit(model, X, y, **weights):
    """Return SVC fitted to the examples that `model` holds; its ids are row numbers."""
    held = model.ids_
    params = {k: v for k, v in model.get_params().items() if k not in ("budget", "rule")}
    weights = {name: value[held] for name, value in weights.items()}
    return SVC(**params).fit(X[held], y[held], **weights)


def slow_budget(X, y, budget, weight=None, **params):
    """Return the ids that remain by the rule as it is stated, with a new SVC at every step."""
    held = []
    for i in range(len(X)):
        held.append(i)
        if len(held) <= budget:
            continue
        model = SVC(**params).fit(X[held], y[held], None if weight is None else weight[held])
        size, margin = np.zeros(len(held)), np.full(len(held), np.inf)
        state = model._model.state
        for (key, head), f in zip(state.heads.items(), state.decision(X[held]).T, strict=True):
            labels = [model._model.labels.label(code) for code in key]
            positive = y[held] == labels[0]
            member = np.isin(y[held], labels) if len(labels) == 2 else np.ones(len(held), bool)
            size[head.slots] = np.maximum(size[head.slots], np.abs(head.coef))
            margin[member] = np.minimum(margin, np.where(positive, f, -f))[member]
        held.pop(min(range(len(held)), key=lambda k: (size[k], -margin[k], held[k])))
    return held


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_least_relevant_leaves(classes, multi_class):
    X, y = stream(60, classes)
    params = {"C": 5.0, "gamma": 0.5, "multi_class": multi_class}
    model = BudgetSVC(budget=M, rule="relevance", **params).fit(X, y)
    assert sorted(model.ids_) == slow_budget(X, y, M, **params)
    assert model.kkt_violation_ <= 1e-8
    again = refit(model, X, y)
    assert_allclose(model.decision_function(X), again.decision_function(X), **CLOSE)


def test_weights():
    X, y = stream(60, 2)
    weight = np.random.default_rng(3).uniform(0.2, 3.0, len(y))
    params = {"C": 2.0, "gamma": 0.5, "class_weight": {0: 2.0}}
    model = BudgetSVC(budget=M, rule="relevance", **params).fit(X, y, sample_weight=weight)
    assert sorted(model.ids_) == slow_budget(X, y, M, weight, **params)
    again = refit(model, X, y, sample_weight=weight)
    assert_allclose(model.decision_function(X), again.decision_function(X), **CLOSE)


def test_until_it_is_full_it_is_an_svc():
    X, y = stream(M)
    model = BudgetSVC(budget=M, rule="relevance", gamma=0.5).fit(X, y)
    exact = SVC(gamma=0.5).fit(X, y)
    assert_array_equal(np.sort(model.ids_), np.arange(M))
    assert_allclose(model.decision_function(X), exact.decision_function(X), **CLOSE)


def test_batches_do_not_matter():
    X, y = stream()
    whole = BudgetSVC(budget=M, rule="relevance", gamma=0.5).partial_fit(X, y)
    parts = BudgetSVC(budget=M, rule="relevance", gamma=0.5)
    for start, stop in ((0, 1), (1, 2), (2, 30), (30, 31), (31, 90)):
        parts.partial_fit(X[start:stop], y[start:stop])
    assert set(parts.ids_) == set(whole.ids_)
    assert_allclose(parts.decision_function(X), whole.decision_function(X), **CLOSE)
    assert parts.n_samples_seen_ == whole.n_samples_seen_ == 90
    # Until a call has succeeded the examples that it lets go are there as well.
    assert whole.n_kernel_evals_ <= parts.n_kernel_evals_ <= 2 * whole.n_kernel_evals_


# ---------------------------------------------------------------------- kernel values


def one_row_each(n):
    """Every example costs its values with those held when it comes, and with itself."""
    return int((np.minimum(np.arange(n), M) + 1).sum())


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_no_kernel_value_is_computed_twice(form, multi_class):
    X, y = stream()
    model = BudgetSVC(budget=M, rule="relevance", C=50.0, gamma=0.5, multi_class=multi_class).fit(
        form(X), y
    )
    assert model.n_kernel_evals_ == one_row_each(len(y))
    model.kkt_violation_, model.dual_objective_, model.predict(X)
    assert model.n_kernel_evals_ == one_row_each(len(y))


def test_a_callable_kernel_is_asked_for_each_pair_once():
    X, y = stream()
    asked = []

    def kernel(A, B):
        asked.append(len(A) * len(B))
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    model = BudgetSVC(budget=M, rule="relevance", kernel=kernel).fit(X, y)
    # The diagonal comes before the row, hence once more.
    assert sum(asked) == model.n_kernel_evals_ == one_row_each(len(y)) + len(y)
    same = BudgetSVC(budget=M, rule="relevance", gamma=0.5).fit(X, y)
    assert_array_equal(model.ids_, same.ids_)


def test_the_window_computes_one_row_for_each_example():
    X, _ = stream()
    model = BudgetSVDD(budget=M, C=0.2, gamma=0.5).fit(X)
    assert model.n_kernel_evals_ <= 1.25 * one_row_each(len(X))
    for row in X[:20]:
        before = model.n_kernel_evals_
        model.partial_fit([row])
        assert model.n_kernel_evals_ == before + M + 1


def test_a_small_cache_size_does_not_matter():
    X, y = stream()
    model = BudgetSVC(budget=M, rule="relevance", gamma=0.5, cache_size=1e-4).fit(X, y)
    assert model.n_kernel_evals_ == one_row_each(len(y))


# ---------------------------------------------------------------------- a stream


def test_a_class_may_come_late_and_a_stream_start_with_one():
    X, y = stream()
    order = np.argsort(y, kind="stable")
    model = BudgetSVC(budget=M, rule="relevance", gamma=0.5)
    model.partial_fit(X[order[:20]], y[order[:20]])
    assert_array_equal(np.sort(model.ids_), np.arange(5, 20))  # the oldest left
    assert_array_equal(model.predict(X[:3]), [0, 0, 0])
    model.partial_fit(X[order[20:]], y[order[20:]])
    assert_array_equal(model.classes_, [0, 1, 2])
    again = refit(model, X[order], y[order])
    assert_allclose(model.decision_function(X), again.decision_function(X), **CLOSE)


def test_saved_and_resumed():
    X, y = stream()
    model = BudgetSVC(budget=M, rule="relevance", gamma=0.5).partial_fit(X[:50], y[:50])
    for resumed in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        resumed.partial_fit(X[50:], y[50:])
        straight = BudgetSVC(budget=M, rule="relevance", gamma=0.5).partial_fit(X, y)
        assert_array_equal(np.sort(resumed.ids_), np.sort(straight.ids_))
        assert_allclose(resumed.decision_function(X), straight.decision_function(X), **CLOSE)


def test_exact_updates_of_what_is_held():
    X, y = stream()
    model = BudgetSVC(budget=M, rule="relevance", gamma=0.5).fit(X, y)
    weight = np.ones(len(y))
    some = model.ids_[:3]
    weight[some[1:]] = 0.5
    model.forget(some[0]).reweight(some[1:], 0.5).retune(C=3.0)
    again = refit(model, X, y, sample_weight=weight)
    assert_allclose(model.decision_function(X), again.decision_function(X), **CLOSE)
    assert len(model.partial_fit(X[:5], y[:5]).ids_) == M


# ---------------------------------------------------------------------- failures


def state(model, X):
    return (np.sort(model.ids_), model.n_samples_seen_, model.decision_function(X), model.classes_)


def assert_as_before(model, X, before):
    for now, then in zip(state(model, X), before, strict=True):
        assert_allclose(now, then, rtol=0, atol=1e-12)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("at", [1, 2, 17, 40])
def test_a_call_that_breaks_off_changes_nothing(error, at):
    X, y = stream()
    model = BudgetSVC(budget=M, rule="relevance", gamma=0.5).partial_fit(X[:40], y[:40])
    before = state(model, X)
    with broken_solver(at, error), pytest.raises(error):
        model.partial_fit(X[40:], [*y[40:89], 7])
    assert_as_before(model, X, before)
    model.partial_fit(X[40:], y[40:])
    straight = BudgetSVC(budget=M, rule="relevance", gamma=0.5).partial_fit(X, y)
    assert_array_equal(np.sort(model.ids_), np.sort(straight.ids_))


def test_a_kernel_that_overflows_in_the_middle_changes_nothing():
    X, y = stream()
    model = BudgetSVC(budget=M, rule="relevance", kernel="poly", gamma=1.0).partial_fit(
        X[:40], y[:40]
    )
    before = state(model, X)
    far = X[40:].copy()
    far[20] = 1e60
    with pytest.raises(InvalidInputError, match="overflows"):
        model.partial_fit(far, y[40:])
    assert_as_before(model, X, before)


def test_ids():
    X, y = stream()
    model = BudgetSVC(budget=M, rule="relevance", gamma=0.5).partial_fit(X[:40], y[:40])
    before = state(model, X)
    for ids in ([1000, 1000], [1000, int(model.ids_[0])]):
        with pytest.raises(DuplicateIdError):
            model.partial_fit(X[40:42], y[40:42], ids=ids)
        assert_as_before(model, X, before)


@pytest.mark.parametrize("budget", [1, 0, -3, 2.5, "10", None])
def test_bad_budgets(budget):
    X, y = stream()
    with pytest.raises(ValueError, match="'budget' parameter of BudgetSVC"):
        BudgetSVC(budget=budget).fit(X, y)


def test_a_changed_budget_is_not_applied_silently():
    X, y = stream()
    model = BudgetSVC(budget=M, rule="relevance", gamma=0.5).partial_fit(X[:40], y[:40])
    model.set_params(budget=10)
    with pytest.raises(InvalidInputError, match="'budget' parameter"):
        model.partial_fit(X[40:], y[40:])


# ---------------------------------------------------------------------- novelty


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_window_is_svdd_on_the_latest_examples(kernel, form):
    X, _ = stream()
    params = {"C": 0.15, "kernel": kernel, "gamma": 0.5}
    model = BudgetSVDD(budget=M, **params)
    for start in range(0, 90, 18):
        model.partial_fit(form(X[start : start + 18]))
        last = X[max(0, start + 18 - M) : start + 18]
        exact = SVDD(**params).fit(last)
        assert_allclose(model.score_samples(form(X)), exact.score_samples(X), **CLOSE)
        assert model.radius_ == pytest.approx(exact.radius_)
    assert_array_equal(np.sort(model.ids_), np.arange(75, 90))


def test_own_ids_do_not_decide_who_is_oldest():
    X, _ = stream()
    ids = np.random.default_rng(0).permutation(90)
    model = BudgetSVDD(budget=M, C=0.2, gamma=0.5).partial_fit(X, ids=ids)
    assert set(model.ids_) == set(ids[-M:])


def test_the_window_waits_until_it_has_a_solution():
    X, _ = stream()
    model = BudgetSVDD(budget=M, C=0.1, gamma=0.5)
    with pytest.warns(NotReadyWarning):
        model.partial_fit(X[:9])
    model.partial_fit(X[9:10])
    assert set(model.predict(X)) <= {-1, 1}
