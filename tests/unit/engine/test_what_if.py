"""What happens within a `what_if` block leaves no trace, whatever happens."""

import contextlib
import pickle
import signal

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from ledger import quiet_until_ready
from mishaps import broken_solver
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError

import supple
from supple.memory import AdaptiveWindow, Budget, Decay, SupportVectors, Window

PARAMS = {
    "SVC": {"C": 2.0},
    "NuSVC": {"nu": 0.3},
    "SVR": {"C": 2.0, "epsilon": 0.1},
    "OneClassSVM": {"nu": 0.3},
    "SVDD": {"C": 0.2},
    "SVDD nu": {"nu": 0.3},
    "SimpleSVC": {"C": 2.0},
    "BudgetSVC": {"budget": 18},
    "SVIncrementalSVR": {"C": 2.0},
}
MEMORIES = [
    None,
    Window(18),
    Window(2, "batches"),
    Budget(18),
    Decay(10.0),
    Decay(2.0, "batches"),
    SupportVectors("ruping"),
    AdaptiveWindow("leave_one_out", n_estimated=6),
]
FORMS = {"dense": np.asarray, "float32": np.float32, "csr": sp.csr_array}


def data(name, n=30, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 3)) + 0.8 * y[:, None]
    return X, (np.sin(X[:, 0]) if name.endswith("SVR") else y)


def make(name, memory=None):
    kind = getattr(supple, name.split()[0])
    given = {} if memory is None else {"memory": memory}
    return kind(gamma=0.5, **PARAMS[name], **given)


def target(name, y):
    return {} if name.startswith(("OneClass", "SVDD")) else {"y": y}


def arrays(model):
    """Return everything that defines the model, as arrays and plain values."""
    still = model._model.still()
    engine = still.engine
    state = engine["state"]
    out = {f"column {k}": v for k, v in state["store"].__getstate__().items()}
    out["points"] = state["gram"]
    for key, head in state["head_states"].items():
        out |= {f"head {key} {name}": value for name, value in head.items()}
        out[f"head {key} kx"] = model._model.state.head_states[key].core.kx
    out["counts"] = dict(state["per_class"])
    out["memory"] = {k: str(v) for k, v in vars(engine["memory"]).items()}
    out["evaluations"] = state["_evaluated"]
    out["others"] = {k: v for k, v in still.others.items() if k not in ("labels", "cache")}
    held = sorted(set(model._model.state.y.astype(int))) if model._model.labels else []
    out["labels"] = [still.others["labels"].label(code) for code in held]
    out["params"] = str(model.get_params())
    return out


def assert_same(before, after):
    assert before.keys() == after.keys()
    for name, value in before.items():
        other = after[name]
        if sp.issparse(value):
            value, other = value.toarray(), other.toarray()
        if isinstance(value, np.ndarray):
            assert_array_equal(value, other, err_msg=name)
        else:
            assert str(value) == str(other), name


def tuned(name):
    return {"nu": 0.2} if "nu" in PARAMS[name] else {"C": 0.7}


def act(model, name, what, rng, form):
    X, y = data(name, 4, seed=int(rng.integers(1000)))
    held = model.ids_.tolist()
    some = rng.permutation(held)[: int(rng.integers(1, 5))].tolist()
    if what == "learn one":
        model.partial_fit(form(X[:1]), **target(name, y[:1]))
    elif what == "learn":
        model.partial_fit(form(X), **target(name, y))
    elif what == "forget":
        model.forget(some)
    elif what == "forget all":
        model.forget(held)
        model.partial_fit(form(X), **target(name, y))
    elif what == "reweight":
        model.reweight(some, rng.uniform(0.0, 2.0, len(some)))
    elif what == "retune":
        model.retune(gamma=0.9, **tuned(name))
    elif what == "fit":
        model.fit(form(np.tile(X, (4, 1))), **target(name, np.tile(y, 4)))
    elif what == "read":
        model.kkt_violation_, model.exact_, model.predict(form(X))


def suppress():
    """Pass over what may be refused, such as an infeasible nu or a fit to one class."""
    return contextlib.suppress(supple.SuppleError, NotFittedError)


ACTIONS = ["learn one", "learn", "forget", "forget all", "reweight", "retune", "fit", "read"]


@given(
    name=st.sampled_from(list(PARAMS)),
    memory=st.sampled_from(MEMORIES),
    form=st.sampled_from(list(FORMS)),
    actions=st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=6),
    end=st.sampled_from(["", "error", "solver", "interrupt"]),
    nested=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_nothing_is_left_of_it(name, memory, form, actions, end, nested, seed):
    if name.startswith(("Budget", "SVInc", "Simple")):
        memory = None
    if name.startswith(("OneClass", "SVDD")) and isinstance(memory, AdaptiveWindow):
        memory = None  # without labels there is no error to choose by
    shape = FORMS[form]
    X, y = data(name)
    rng = np.random.default_rng(seed)
    with quiet_until_ready():
        model = make(name, memory).fit(shape(X), **target(name, y))
        before, saved = arrays(model), pickle.dumps(model)
        try:
            with model.what_if() as trial:
                assert trial is model
                for number, what in enumerate(actions):
                    if nested and number == 1:
                        inner = arrays(trial)
                        with suppress(), trial.what_if():
                            act(trial, name, what, rng, shape)
                        assert_same(inner, arrays(trial))
                    with suppress():
                        act(trial, name, what, rng, shape)
                if end == "solver":
                    with broken_solver(1, RuntimeError):
                        act(trial, name, "forget", rng, shape)
                if end == "error":
                    raise RuntimeError
                if end == "interrupt":
                    signal.raise_signal(signal.SIGINT)
        except (RuntimeError, KeyboardInterrupt):
            pass
        assert_same(before, arrays(model))
        # Pickles may share equal objects in other ways: compare what comes out of them.
        copied = arrays(pickle.loads(pickle.dumps(model)))
        anew = {k: v for k, v in before.items() if k.endswith(("kx", "evaluations"))}
        assert_same(before, copied | anew)
        # It goes on as if nothing had happened.
        twin = pickle.loads(saved)
        for each in (model, twin):
            each.partial_fit(shape(X[:3] + 0.1), **target(name, y[:3]))
        assert set(model.ids_.tolist()) == set(twin.ids_.tolist())


def test_ids_of_strings_and_groups_come_back():
    X, y = data("SVC")
    ids = [f"row {i}" for i in range(30)]
    model = supple.SVC(gamma=0.5).partial_fit(X, y, ids=ids, groups=y)
    before = arrays(model)
    with model.what_if() as trial:
        trial.forget(ids[3:20]).partial_fit(X[3:5], y[3:5], ids=ids[3:5])
        trial.forget(trial.ids_)
    assert_same(before, arrays(model))


def test_before_there_is_a_model():
    with pytest.raises(ValueError, match="not fitted"), supple.SVC().what_if():
        pass


def test_a_callable_kernel():
    X, y = data("SVC")
    model = supple.SVC(kernel=lambda A, B: A @ B.T + 1.0).fit(X, y)
    before = arrays(model)
    with model.what_if() as trial:
        trial.forget([1, 29, 5]).partial_fit(X[:2], y[:2])
    assert_same(before, arrays(model))


def test_a_precomputed_kernel_is_refused():
    X, y = data("SVC")
    model = supple.SVC(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(supple.PrecomputedUpdateError, match="what_if"), model.what_if():
        pass
