"""Leave-one-out leaves the model as it was, whatever happens; and what it refuses."""

import pickle
import re
import signal
import threading
import time

import numpy as np
import pytest

import supple
from supple.diagnostics import leave_one_out


def sample(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] + 0.8 * rng.normal(size=n) > 0).astype(int)


def fingerprint(model):
    """Return all that the heads hold, the margin set of the factor included."""
    names = ("slot", "c", "group", "x", "lo", "hi", "kx", "margin")
    heads = [
        [getattr(head.core, name).tobytes() for name in names]
        + [head.core.mu, head.core.target, head.core.factored, head.record]
        for head in model._model.state.head_states.values()
    ]
    return heads, model.n_kernel_evals_, model._model.state.y.tobytes()


MODELS = [
    supple.SVC(C=1.0, gamma=0.3),
    supple.SVC(C=1.0, gamma=0.3, multi_class="ovr"),
    supple.NuSVC(nu=0.3, gamma=0.3),
    supple.SVR(gamma=0.3),
    supple.OneClassSVM(nu=0.3, gamma=0.3),
    supple.SVDD(nu=0.3, gamma=0.3),
    supple.SimpleSVC(gamma=0.3),
    supple.SVC(kernel="linear"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_to_the_last_bit(model):
    X, y = sample()
    model = type(model)(**model.get_params()).fit(X, y)
    for again in (model, pickle.loads(pickle.dumps(model))):
        before = fingerprint(again), pickle.dumps(again)
        first = leave_one_out(again)
        assert (fingerprint(again), pickle.dumps(again)) == before
        # The kernel values at hand differ, and with them the order of sums.
        np.testing.assert_allclose(leave_one_out(again).decision, first.decision, atol=1e-13)
    twin = pickle.loads(pickle.dumps(model))
    one, other = sample(5, seed=9)
    model.partial_fit(one, other)
    twin.partial_fit(one, other)
    np.testing.assert_allclose(
        model._model.state.decision(X), twin._model.state.decision(X), rtol=1e-9, atol=1e-12
    )


def test_after_an_error_in_the_kernel():
    X, y = sample()
    broken = []

    def kernel(A, B):
        if broken:
            raise RuntimeError("out of order")
        return np.exp(-0.3 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    # A cache without room for rows: the kernel will be asked again.
    model = supple.SVC(kernel=kernel, cache_size=0.001).fit(X, y)
    assert model.exact_
    before = fingerprint(model)
    broken.append(True)
    with pytest.raises(RuntimeError, match="out of order"):
        leave_one_out(model)
    broken.clear()
    assert fingerprint(model) == before
    assert leave_one_out(model).n == 60


def test_ctrl_c():
    X, y = sample(1500)
    model = supple.SVC(C=100.0, gamma=1.0).fit(X, y)
    assert model.exact_
    before = fingerprint(model)
    main = threading.main_thread().ident
    threading.Timer(0.1, lambda: signal.pthread_kill(main, signal.SIGINT)).start()

    def go_on():
        while True:
            leave_one_out(model)

    with pytest.raises(KeyboardInterrupt):
        go_on()
    assert fingerprint(model) == before


def test_readers_never_see_a_model_between():
    X, y = sample(300)
    model = supple.SVC(C=10.0, gamma=0.5).fit(X, y)
    expected = model.decision_function(X)
    stop = time.perf_counter() + 0.5
    wrong = []

    def read():
        while time.perf_counter() < stop:
            if not np.array_equal(model.decision_function(X), expected):
                wrong.append(1)
            if model.dual_objective_ != objective:
                wrong.append(2)

    objective = model.dual_objective_
    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    while time.perf_counter() < stop:
        leave_one_out(model)
    for thread in threads:
        thread.join()
    assert not wrong


def test_progress(capsys, monkeypatch):
    monkeypatch.setattr("supple.progress.PAUSE", 0.0)
    X, y = sample(200)
    leave_one_out(supple.SVC(gamma=0.3).fit(X, y), verbose=True)
    assert re.search(r"\[leave_one_out\] example \d+ of 200", capsys.readouterr().out)
    leave_one_out(supple.SVC(gamma=0.3).fit(X, y))
    assert capsys.readouterr().out == ""


def test_threads_change_nothing():
    X, y = sample()
    model = supple.SVC(gamma=0.3).fit(X, y)
    np.testing.assert_allclose(
        leave_one_out(model, n_jobs=2).decision, leave_one_out(model).decision, atol=1e-13
    )
    with pytest.raises(supple.InvalidInputError, match="'n_jobs' parameter of leave_one_out"):
        leave_one_out(model, n_jobs=0)


def test_bad_input():
    X, y = sample()
    model = supple.SVC(gamma=0.3).fit(X, y)
    before = fingerprint(model)
    with pytest.raises(supple.UnknownIdError, match=r"'ids' given to leave_one_out: \[99\]"):
        leave_one_out(model, ids=[0, 99])
    with pytest.raises(supple.InvalidInputError, match="at least one example"):
        leave_one_out(model, ids=[])
    with pytest.raises(supple.InvalidInputError, match="'ids' must be integers"):
        leave_one_out(model, ids=["a"])
    with pytest.raises(supple.InvalidInputError, match="Neither None"):
        leave_one_out(model, ids=[None])
    assert fingerprint(model) == before
    with pytest.raises(supple.InvalidInputError, match="exact_=False"):
        leave_one_out(supple.SVC(kernel="sigmoid", gamma=0.1).fit(X, y))
    with pytest.raises(supple.PrecomputedUpdateError, match="precomputed"):
        leave_one_out(supple.SVC(kernel="precomputed").fit(X @ X.T, y))
    for stranger in (supple.LASVC(random_state=0).fit(X, y), supple.RVC().fit(X, y), None):
        with pytest.raises(supple.InvalidInputError, match="must be a fitted estimator of supple"):
            leave_one_out(stranger)
    with pytest.raises(AttributeError, match="not fitted"):
        leave_one_out(supple.SVC())
    with pytest.raises(supple.InvalidInputError, match="two classes"):
        leave_one_out(supple.SVC().partial_fit(X[:3], [1, 1, 1]))


def test_no_model_without_an_example():
    X, y = sample(20)
    with pytest.raises(supple.InfeasibleError, match=r"without example 0: C=0\.05"):
        leave_one_out(supple.SVDD(C=0.05, gamma=0.3).fit(X))
    with pytest.raises(supple.InfeasibleError, match="without the only one"):
        leave_one_out(supple.SVR().partial_fit(X[:1], [1.0]))
    y = np.repeat([0, 1], 10)
    with pytest.raises(supple.InfeasibleError, match="without example 0: specified nu"):
        leave_one_out(supple.NuSVC(nu=1.0, gamma=0.3).fit(X, y))
