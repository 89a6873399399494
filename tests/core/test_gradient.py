"""Updates after a batch fit, which leaves most gradients in single precision."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import supple

N = 2500
MODELS = {
    "SVC": lambda **k: supple.SVC(**{"C": 2.0, "gamma": 0.2, **k}),
    "SVC linear": lambda **k: supple.SVC(**{"kernel": "linear", "C": 0.5, **k}),
    "NuSVC": lambda **k: supple.NuSVC(**{"nu": 0.6, "gamma": 0.2, **k}),
    "SVR": lambda **k: supple.SVR(**{"epsilon": 0.3, "gamma": 0.2, **k}),
    "OneClassSVM": lambda **k: supple.OneClassSVM(**{"nu": 0.1, "gamma": 0.2, **k}),
    "SVDD": lambda **k: supple.SVDD(**{"C": 0.005, "gamma": 0.2, **k}),
}
RETUNE = {
    "SVC": [{"C": 2.1}, {"C": 20.0}, {"gamma": 0.1}, {"class_weight": {1: 3.0}}],
    "SVC linear": [{"C": 0.52}, {"C": 5.0}, {"class_weight": {0: 0.2}}],
    "NuSVC": [{"nu": 0.61}, {"nu": 0.8}, {"gamma": 0.1}],
    "SVR": [{"C": 1.05}, {"epsilon": 0.2}, {"gamma": 0.1}],
    "OneClassSVM": [{"nu": 0.11}, {"nu": 0.4}, {"gamma": 0.1}],
    "SVDD": [{"C": 0.0051}, {"C": 0.002}, {"gamma": 0.1}],
}


def stream(n=N + 300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    t = X[:, 0] + np.sin(2 * X[:, 1]) + 0.6 * rng.normal(size=n)
    return X, t


def targets(name, t):
    if name.startswith(("SVC", "NuSVC")):
        return (t > 0).astype(int)
    return t if name == "SVR" else np.zeros(len(t))


def values(model, Z):
    return model.predict(Z) if isinstance(model, supple.SVR) else model.decision_function(Z)


@pytest.fixture(params=MODELS)
def case(request):
    X, t = stream()
    y = targets(request.param, t)
    return request.param, X, y, MODELS[request.param]().fit(X[:N], y[:N])


def test_single_updates(case, judge):
    _, X, y, model = case
    weight = np.ones(len(X))
    rng = np.random.default_rng(1)
    for i in range(N, N + 8):
        model.partial_fit(X[i : i + 1], y[i : i + 1])
        model.forget(rng.choice(model.ids_))
        one = rng.choice(model.ids_)
        weight[one] = rng.choice([0.0, 0.5, 3.0])
        model.reweight(one, weight[one])
    judge(model, X[model.ids_], y[model.ids_], weight[model.ids_])


def test_far_away_examples_enter_and_leave(case, judge):
    """Their gradients were never near the margin, and so never in double precision."""
    _, X, y, model = case
    far = np.full((3, X.shape[1]), 50.0) + np.arange(3)[:, None]
    model.partial_fit(far, np.r_[y[:2], y[0]], ids=[9001, 9002, 9003])
    model.forget([9001, 9002, 9003])
    judge(model, X[:N], y[:N])
    settled = np.setdiff1d(model.ids_, model.support_ids_)
    if len(settled):  # as heavy as it takes to matter
        model.reweight(settled[:5], 50.0).reweight(settled[:5], 1.0)
        ids = model.ids_
        judge(model, X[ids], y[ids])


def test_retune(case, judge):
    name, X, y, model = case
    for change in RETUNE[name]:
        model.retune(**change)
        judge(model, X[:N], y[:N])
    again = MODELS[name](**{key: v for change in RETUNE[name] for key, v in change.items()})
    again.fit(X[:N], y[:N])
    np.testing.assert_allclose(values(model, X), values(again, X), atol=1e-6)


def test_pickle(case, judge):
    _, X, y, model = case
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(values(other, X), values(model, X), atol=1e-12, rtol=1e-12)
    for one in (model, other):
        one.partial_fit(X[N : N + 2], y[N : N + 2]).forget([0, 5]).reweight([7], 2.0)
        weight = np.where(one.ids_ == 7, 2.0, 1.0)
        judge(one, X[one.ids_], y[one.ids_], weight)
    np.testing.assert_allclose(values(other, X), values(model, X), atol=1e-6)


def test_a_model_from_a_file_starts_warm(judge):
    """Its margin set is factored first; the block solver would begin with SMO on it."""
    X, t = stream()
    y = targets("SVC", t)
    model = supple.SVC(C=100.0, gamma=0.5).fit(X[:N], y[:N])
    other = pickle.loads(pickle.dumps(model))
    for one in (model, other):
        one.partial_fit(X[N : N + 20], y[N : N + 20])
        judge(one, X[: N + 20], y[: N + 20])
        assert one.n_iter_ == [0]


@pytest.mark.parametrize("count", [1, 12, 200, 1200])
def test_forgetting_is_a_fit_of_the_rest(case, count, judge):
    name, X, y, model = case
    gone = np.random.default_rng(2).choice(N, size=count, replace=False)
    model.forget(gone)
    held = model.ids_
    judge(model, X[held], y[held])
    rest = np.setdiff1d(np.arange(N), gone)
    again = MODELS[name]().fit(X[rest], y[rest])
    np.testing.assert_allclose(values(model, X), values(again, X), atol=1e-6)


@pytest.mark.parametrize("count", [1, 12, 200])
def test_learning_more_is_a_fit_of_all(case, count, judge):
    name, X, y, model = case
    model.partial_fit(X[N : N + count], y[N : N + count])
    judge(model, X[: N + count], y[: N + count])
    again = MODELS[name]().fit(X[: N + count], y[: N + count])
    np.testing.assert_allclose(values(model, X), values(again, X), atol=1e-6)


@pytest.mark.parametrize("twins", [False, True])
def test_much_of_the_margin_changes(twins, judge):
    """Many variables leave the factor at once; with twins some depend on others."""
    X, t = stream()
    if twins:
        X, t = np.round(X, 1), np.round(t, 1)
        X[N:] = X[: len(X) - N]
    y = targets("SVC", t)
    model = supple.SVC(C=100.0, gamma=0.2).fit(X[:N], y[:N])
    model.partial_fit(X[N : N + 60], y[N : N + 60])
    judge(model, X[: N + 60], y[: N + 60])
    model.forget(np.arange(60))
    judge(model, X[model.ids_], y[model.ids_])


@pytest.mark.parametrize("per_step", [40, 200])
def test_fewer_and_fewer_members_are_followed(per_step):
    """So large a margin that some of those near it, too, are left behind for a while."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(8400, 10))
    y = (X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * rng.normal(size=len(X)) > 0).astype(int)
    model = supple.SVC(C=20.0, gamma=0.1).fit(X[:8000], y[:8000])
    for start in range(8000, len(X), per_step):
        model.partial_fit(X[start : start + per_step], y[start : start + per_step])
        assert model.exact_
        assert model.kkt_violation_ <= 1e-10
    again = supple.SVC(C=20.0, gamma=0.1).fit(X, y)
    np.testing.assert_allclose(values(model, X[:500]), values(again, X[:500]), atol=1e-7)


def test_growing_by_batches(judge):
    X, t = stream(3600, seed=4)
    y = targets("SVC", t)
    model = MODELS["SVC"]()
    for start in range(0, len(X), 600):
        model.partial_fit(X[start : start + 600], y[start : start + 600])
    judge(model, X, y)


def test_a_failed_update_restores_the_gradients(judge):
    X, t = stream()
    y = targets("SVC", t)
    model = MODELS["SVC"]().fit(X[:N], y[:N])
    with pytest.raises(ValueError, match="smaller"):
        model.partial_fit(X[N:], y[N:], sample_weight=np.full(len(X) - N, 1e200))
    model.partial_fit(X[N : N + 3], y[N : N + 3]).forget([1, 2])
    judge(model, X[model.ids_], y[model.ids_])


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_several_machines(multi_class):
    X, t = stream(3400)
    y = np.digitize(t, [-0.5, 0.5])
    model = supple.SVC(gamma=0.2, multi_class=multi_class).fit(X[:3300], y[:3300])
    model.partial_fit(X[3300:], y[3300:]).forget(np.arange(150)).forget([200, 201])
    assert model.exact_
    assert model.kkt_violation_ <= 1e-8


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(list(MODELS)),
    st.integers(0, 2**20),
    st.lists(
        st.tuples(
            st.sampled_from(["learn", "forget", "reweight"]), st.sampled_from([1, 3, 20, 150])
        ),
        min_size=1,
        max_size=5,
    ),
)
def test_any_sequence(name, seed, operations):
    X, t = stream(N + 800, seed)
    y = targets(name, t)
    model = MODELS[name]().fit(X[:N], y[:N])
    rng, seen = np.random.default_rng(seed), N
    for operation, count in operations:
        if operation == "learn":
            model.partial_fit(X[seen : seen + count], y[seen : seen + count])
            seen += count
        else:
            ids = rng.choice(model.ids_, size=count, replace=False)
            if operation == "forget":
                model.forget(ids)
            else:
                model.reweight(ids, rng.choice([0.5, 1.0, 4.0], size=count))
        assert model.exact_
        assert model.kkt_violation_ <= 1e-8
