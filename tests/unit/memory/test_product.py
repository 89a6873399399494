"""Every problem with every memory: at any time the exact optimum on the examples held.

Who is held, with which weight, is read from the model; the optimum on these examples comes from
the oracle, which shares no code with the library.
"""

import copy
import pickle

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
from ledger import DECISION_BAR, KKT_BAR, MACHINES, kernel_function, quiet_until_ready
from mishaps import broken_solver
from numpy.testing import assert_allclose, assert_array_equal

import supple
from supple.errors import InvalidInputError
from supple.memory import AdaptiveWindow, Budget, Decay, KeepAll, SupportVectors, Window

N, FIRST = 60, 24
GAMMA = 0.5
PARAMS = {
    "SVC": {"C": 2.0},
    "NuSVC": {"nu": 0.3},
    "SVR": {"C": 2.0, "epsilon": 0.1},
    "OneClassSVM": {"nu": 0.3},
    "SVDD": {"C": 0.15},
}
MEMORIES = {
    "KeepAll": KeepAll(),
    "Budget": Budget(16),
    "Budget relevance": Budget(16, rule="relevance"),
    "Budget oldest": Budget(16, rule="oldest"),
    "SupportVectors": SupportVectors("ruping"),
    "Window": Window(16),
    "Window batches": Window(14, unit="batches"),
    "Decay": Decay(12.0),
    "Decay batches": Decay(9.0, unit="batches"),
    "AdaptiveWindow": AdaptiveWindow("leave_one_out", n_estimated=12, longest=20),
}
every_problem = pytest.mark.parametrize("problem", PARAMS)
every_pair = pytest.mark.parametrize(
    ("problem", "memory"),
    [
        (problem, memory)
        for problem in PARAMS
        for memory in MEMORIES
        # Without labels there is no error to choose a window by.
        if memory != "AdaptiveWindow" or problem not in ("OneClassSVM", "SVDD")
    ],
)


def stream(problem):
    rng = np.random.default_rng(4)
    label = rng.choice([-1.0, 1.0], N)
    X = rng.normal(size=(N, 3)) + 0.8 * label[:, None]
    return X, (np.sin(X[:, 0]) if problem == "SVR" else label), rng.uniform(0.5, 1.5, N)


def make(problem, memory):
    return getattr(supple, problem)(gamma=GAMMA, memory=MEMORIES[memory], **PARAMS[problem])


def learn(model, X, y, weight, form, *, start=False):
    target = {"y": y} if isinstance(model, supple.SVR | supple.SVC | supple.NuSVC) else {}
    with quiet_until_ready():
        (model.fit if start else model.partial_fit)(form(X), sample_weight=weight, **target)


def held(model, form):
    """Return points, targets and weights of the examples held, as the model tells them."""
    state = model._model.state
    X = state.points(np.arange(state.n))
    y = state.y
    if isinstance(model, supple.SVC | supple.NuSVC):
        y = np.array([model._model.labels.label(int(code)) for code in y], dtype=float)
    return np.asarray(X.toarray() if sp.issparse(X) else X), y, model.sample_weight_


def assert_exact(problem, model, form, probe):
    X, y, weight = held(model, form)
    kernel = kernel_function("rbf", GAMMA)
    machine = MACHINES[problem]
    qp = machine.qp(kernel(X, X), y, weight, PARAMS[problem])
    x, mu = machine.read(model, qp)
    assert oracle.kkt_violation(qp.K, qp.c, qp.groups, qp.targets, qp.lo, qp.hi, x, mu) <= KKT_BAR
    assert model.kkt_violation_ <= KKT_BAR
    with quiet_until_ready():
        plain = getattr(supple, problem)(gamma=GAMMA, **PARAMS[problem])
        learn(plain, X, y, weight, np.asarray, start=True)
    f, expected = (
        each.predict(p) if problem == "SVR" else each.decision_function(p)
        for each, p in ((model, form(probe)), (plain, probe))
    )
    size = max(1.0, np.abs(expected).max())
    assert_allclose(f, expected, rtol=0, atol=DECISION_BAR * size)


@every_pair
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("size", [1, 9], ids=["single", "batch"])
def test_the_model_is_the_optimum_on_the_examples_held(problem, memory, form, size):
    X, y, weight = stream(problem)
    model = make(problem, memory)
    learn(model, X[:FIRST], y[:FIRST], weight[:FIRST], form, start=True)
    assert_exact(problem, model, form, X)
    for start in range(FIRST, N, size):
        part = slice(start, start + size)
        learn(model, X[part], y[part], weight[part], form)
        capacity = MEMORIES[memory].capacity
        assert capacity is None or len(model.ids_) <= capacity
        if start % 4 == 0:
            assert_exact(problem, model, form, X)
    assert_exact(problem, model, form, X)
    assert model.n_samples_seen_ == N
    # What only exact machines can do goes on as ever.
    some = model.ids_[:3]
    with quiet_until_ready():
        model.forget(some[0]).reweight(some[1:], 0.7)
    assert_exact(problem, model, form, X)


@every_problem
@pytest.mark.parametrize("memory", ["KeepAll", "Window", "Decay"])
def test_the_batches_do_not_matter(problem, memory):
    X, y, weight = stream(problem)
    whole, parts = make(problem, memory), make(problem, memory)
    learn(whole, X, y, weight, np.asarray, start=True)
    for part in np.split(np.arange(N), [1, 2, 30, 47]):
        learn(parts, X[part], y[part], weight[part], np.asarray)
    order, other = np.argsort(whole.ids_), np.argsort(parts.ids_)
    assert_array_equal(whole.ids_[order], parts.ids_[other])
    assert_allclose(whole.sample_weight_[order], parts.sample_weight_[other], rtol=1e-12)


@every_pair
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("at", [1, 2, 5])
def test_a_call_that_breaks_off_changes_nothing(problem, memory, error, at):
    X, y, weight = stream(problem)
    model = make(problem, memory)
    learn(model, X[:FIRST], y[:FIRST], weight[:FIRST], np.asarray, start=True)
    before = pickle.loads(pickle.dumps(model))
    remembered = vars(model.memory_).copy()
    broken = False
    with broken_solver(at, error):
        try:
            learn(model, X[FIRST:], y[FIRST:], weight[FIRST:], np.asarray)
        except error:
            broken = True
    if not broken:  # fewer moves than that
        assert at > 1
        return
    assert_array_equal(model.ids_, before.ids_)
    assert_array_equal(model.sample_weight_, before.sample_weight_)
    assert model.n_samples_seen_ == before.n_samples_seen_
    assert vars(model.memory_).keys() == remembered.keys()
    assert_exact(problem, model, np.asarray, X)
    for each in (model, before):
        learn(each, X[FIRST:], y[FIRST:], weight[FIRST:], np.asarray)
    assert set(model.ids_.tolist()) == set(before.ids_.tolist())


@every_pair
def test_one_step_tells_of_all(problem, memory):
    X, y, weight = stream(problem)
    model = make(problem, memory)
    learn(model, X[:FIRST], y[:FIRST], weight[:FIRST], np.asarray, start=True)
    steps = []
    model._model.engine.run.listeners.append(steps.append)
    held = set(model.ids_.tolist())
    learn(model, X[FIRST:40], y[FIRST:40], weight[FIRST:40], np.asarray)
    (step,) = steps
    assert step.action == "learn"
    assert step.ids.tolist() == list(range(FIRST, 40))
    gone = set(step.forgotten.tolist())
    merged = {i for i in model.ids_.tolist() if i < 0}
    assert set(model.ids_.tolist()) == (held | set(step.ids.tolist()) | merged) - gone


@pytest.mark.parametrize("memory", MEMORIES)
def test_saved_and_resumed(memory):
    X, y, weight = stream("SVC")
    model = make("SVC", memory)
    learn(model, X[:40], y[:40], weight[:40], np.asarray, start=True)
    twins = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for each in (model, *twins):
        learn(each, X[40:], y[40:], weight[40:], np.asarray)
    for twin in twins:
        assert set(twin.ids_.tolist()) == set(model.ids_.tolist())
        assert_allclose(twin.decision_function(X), model.decision_function(X), atol=1e-7)


# ---------------------------------------------------------------------- parameters


def test_the_size_can_be_searched():
    from sklearn.model_selection import GridSearchCV

    X, y, _ = stream("SVC")
    search = GridSearchCV(
        supple.SVC(gamma=GAMMA, memory=Window(10)), {"memory__size": [5, 20]}, cv=2
    ).fit(X, y)
    assert set(search.cv_results_["param_memory__size"]) == {5, 20}
    assert search.best_estimator_.memory_.size == search.best_params_["memory__size"]


def test_the_memory_given_is_not_changed():
    X, y, _ = stream("SVC")
    given = SupportVectors()
    model = supple.SVC(gamma=GAMMA, memory=given).fit(X, y)
    assert given.n_batches_ == 0
    assert model.memory is given
    assert model.memory_.n_batches_ == 1


def test_a_changed_memory_is_not_applied_silently():
    X, y, _ = stream("SVC")
    model = supple.SVC(gamma=GAMMA, memory=Window(10)).fit(X[:30], y[:30])
    model.set_params(memory__size=12)
    with pytest.raises(InvalidInputError, match="'memory' parameter of SVC is Window"):
        model.partial_fit(X[30:], y[30:])
    assert len(model.fit(X, y).ids_) == 12


@pytest.mark.parametrize("memory", [Window, "window", 30, Window(0), Budget(1), Decay(-1.0)])
def test_bad_memories(memory):
    X, y, _ = stream("SVC")
    with pytest.raises(ValueError, match=r"The '(memory|size|half_life)' parameter of"):
        supple.SVC(memory=memory).fit(X, y)


def test_a_precomputed_kernel_takes_no_memory():
    X, y, _ = stream("SVC")
    with pytest.raises(InvalidInputError, match="'memory' parameter of SVC cannot be Window"):
        supple.SVC(kernel="precomputed", memory=Window(5)).fit(X @ X.T, y)
