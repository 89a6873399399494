"""The fuzzer's own parts: its certificate, its second solver, its watch over workers."""

import os
import signal

import numpy as np
import oracle
import pytest
from fuzzing import runner
from fuzzing.certificate import BAR, Problem, certify
from fuzzing.interior import better_objective
from fuzzing.kernels import WIDE, PythonKernel, diagonal, kernel_matrix
from fuzzing.reading import Held, decisions, problems
from ledger import Ledger

RNG = np.random.default_rng(3)
Y = np.where(np.arange(30) % 2 == 0, 1, -1)
X = RNG.normal(size=(30, 3)) + Y[:, None] + 3.0  # the origin is outside, the classes are apart
W = RNG.uniform(0.2, 2.0, 30)
T = X[:, 0] + 0.3 * RNG.normal(size=30)
KERNELS = {
    "linear": {},
    "rbf": {"gamma": 0.5},
    "poly": {"gamma": 0.5, "degree": 3, "coef0": 1.0},
    "laplacian": {"gamma": 0.5},
    "matern32": {"gamma": 0.5},
    "matern52": {"gamma": 0.5},
}
NAMES = ("SVC", "NuSVC", "SVR", "OneClassSVM", "SVDD")


def wide(qp: oracle.QP, x, mu) -> Problem:
    arrays = (np.asarray(v, dtype=WIDE) for v in (qp.targets, qp.lo, qp.hi, x, mu))
    K = qp.K.astype(WIDE)
    return Problem(K, np.abs(K), qp.c.astype(WIDE), qp.groups, *arrays)


def fitted(name: str, kernel: str) -> tuple[Ledger, Held]:
    y = T if name == "SVR" else Y
    ledger = Ledger.new(name, kernel, KERNELS[kernel]).fit(X, y, W)
    params = {"kernel": kernel, **ledger.params, **KERNELS[kernel], "multi_class": "ovo"}
    return ledger, Held(name, X, y, W, params)


@pytest.mark.parametrize("kernel", [*KERNELS, "sigmoid"])
def test_kernel_values_agree_with_plain_ones(kernel):
    params = KERNELS.get(kernel, {"gamma": 0.2, "coef0": 0.1})
    plain = {
        "linear": oracle.linear,
        "rbf": oracle.rbf(0.5),
        "poly": oracle.poly(0.5, 3, 1.0),
        "laplacian": oracle.laplacian(0.5),
        "matern32": oracle.matern32(0.5),
        "matern52": oracle.matern52(0.5),
        "sigmoid": lambda A, B: np.tanh(0.2 * A @ B.T + 0.1),
    }[kernel]
    K, size = kernel_matrix(kernel, params, X, X[:7])
    np.testing.assert_allclose(K.astype(float), plain(X, X[:7]), rtol=1e-12, atol=1e-14)
    assert (np.abs(K) <= size * (1 + 1e-15)).all()
    np.testing.assert_allclose(diagonal(kernel, params, X), np.diagonal(plain(X, X)), rtol=1e-13)


def test_rbf_values_do_not_depend_on_the_origin():
    far = np.round(X * 2**20) / 2**20 + 2.0**23
    near, _ = kernel_matrix("rbf", KERNELS["rbf"], far - 2.0**23, far - 2.0**23)
    np.testing.assert_array_equal(kernel_matrix("rbf", KERNELS["rbf"], far, far)[0], near)


def test_python_kernels_do_not_depend_on_the_block():
    kernel = PythonKernel("affine", 0.7)
    rows = np.vstack([kernel(X[i : i + 1], X) for i in range(len(X))])
    np.testing.assert_array_equal(kernel(X, X), rows)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", NAMES)
def test_optimum_is_certified_and_another_point_is_not(name, kernel):
    qp = fitted(name, kernel)[0].qp()
    best = qp.solve()
    good = certify(wide(qp, best.x, best.mu))
    assert good.violation <= 1e-11
    assert good.own <= 1e-11
    assert good.gap <= 1e-9
    i, j = np.flatnonzero((qp.groups == 0) & (qp.hi > qp.lo))[:2]
    x = best.x.copy()
    step = 1e-3 * (qp.hi - qp.lo)[[i, j]].min()
    sign = 1.0 if x[i] + step <= qp.hi[i] and x[j] - step >= qp.lo[j] else -1.0
    x[i] += sign * step
    x[j] -= sign * step
    assert certify(wide(qp, x, best.mu)).violation > 100 * BAR


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", NAMES)
def test_attributes_are_read(name, kernel):
    ledger, held = fitted(name, kernel)
    (problem,) = problems(ledger.model, held)
    x, mu = ledger.machine.read(ledger.model, ledger.qp())
    np.testing.assert_allclose(problem.x.astype(float), x, rtol=1e-13)
    np.testing.assert_allclose(problem.mu.astype(float), mu, rtol=1e-12)
    found = certify(problem)
    assert max(found.violation, found.own) <= found.allowed
    assert found.objective == pytest.approx(ledger.model.dual_objective_, rel=1e-9)
    f, _ = decisions(ledger.model, held, X[:5])
    np.testing.assert_allclose(f[:, 0].astype(float), ledger.decide(X[:5]), atol=1e-10)


@pytest.mark.parametrize("plan", ["ovo", "ovr"])
@pytest.mark.parametrize("labels", [2, 3, 4])
def test_machines_of_several_classes_are_read(plan, labels):
    from supple import SVC

    y = np.arange(30) % labels
    weight = {0: 2.0, 1: 0.5}
    params = {
        "C": 3.0,
        "kernel": "rbf",
        "gamma": 0.5,
        "class_weight": weight,
        "multi_class": plan,
        "decision_function_shape": plan,
    }
    model = SVC(**params).fit(X, y, sample_weight=W)
    held = Held("SVC", X, y, W, params)
    for problem in problems(model, held):
        found = certify(problem)
        assert max(found.violation, found.own) <= found.allowed
    f, _ = decisions(model, held, X[:5])
    got = model.decision_function(X[:5])
    np.testing.assert_allclose(f.astype(float), got.reshape(5, -1), atol=1e-12)


def test_rule_for_an_intercept_without_margin():
    x = np.array([0.5, -0.5])  # at their bounds: the labels alone decide, mu may be in [-1, 1]
    K = np.full((2, 2), 1e-3)
    qp = oracle.csvc(K, [1, -1], 0.5)
    found = certify(wide(qp, x, [0.25]))
    assert found.own == 0.0
    np.testing.assert_allclose(found.mu_middle.astype(float), [0.0], atol=1e-15)
    np.testing.assert_allclose(found.mu_width.astype(float), [2.0])


def test_scale_counts_open_boxes_only():
    qp = oracle.epssvr(np.eye(3), [1.0, 2.0, 1e6], [1.0, 1.0, 0.0], 0.5)
    assert certify(wide(qp, np.zeros(6), [0.0])).scale == 2.5


@pytest.mark.parametrize("name", NAMES)
def test_clarabel_finds_the_optimum_and_nothing_better(name):
    pytest.importorskip("clarabel")
    ledger, held = fitted(name, "rbf")
    (problem,) = problems(ledger.model, held)
    ours, theirs = certify(problem).objective, better_objective(problem)
    assert theirs == pytest.approx(ours, rel=1e-6)
    assert theirs <= ours + 1e-8 * abs(ours)


# A seed stands for what the worker does with it.
def _walk(seed, announce):
    announce(f"step {seed}")
    if seed == 1:
        while True:
            pass
    if seed == 2:
        os._exit(3)
    return runner.Result(seed, "scene", [])


def _work(connection, patience):
    runner.run_walk = _walk
    runner._work(connection, patience)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the watch needs POSIX timers")
def test_runner_reports_calls_that_hang_or_end_the_process(monkeypatch):
    monkeypatch.setattr(runner, "TARGET", _work)
    results = {r.seed: r for r in runner.run(iter(range(4)), 2, 600.0, 0.5)}
    assert sorted(results) == [0, 1, 2, 3]
    assert [f.kind for f in results[1].failures] == ["a call takes too long"]
    assert "step 1" in results[1].failures[0].text
    assert [f.kind for f in results[2].failures] == ["the process died"]
    assert not results[0].failures
    assert not results[3].failures
