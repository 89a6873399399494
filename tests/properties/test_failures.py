"""A failed update leaves the model exactly as it was."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger import MACHINES, quiet_until_ready
from strategies import PROBE, examples

import supple

# The decision function of such data is 0, which NuSVC says.
pytestmark = pytest.mark.filterwarnings("ignore:NuSVC.* leaves no margin")

LABELLED = ("SVC", "squared SVC", "NuSVC", "SVR")


def snapshot(model, probe=PROBE):
    """Everything a user can see, to the last bit."""
    try:
        f = (
            model.predict(probe)
            if isinstance(model, supple.SVR)
            else model.decision_function(probe)
        )
    except supple.InfeasibleError as error:
        return model.ids_.tolist(), str(error)
    coef = model.dual_coef_
    return (
        model.ids_.tolist(),
        model.support_.tolist(),
        np.asarray(coef).tolist(),
        np.asarray(model.intercept_).tolist(),
        model.n_samples_seen_,
        np.asarray(f).tolist(),
        model.get_params(),
    )


def rows(name, X, y=1.0, **more):
    """Arguments of a partial_fit that will be refused."""
    X = np.asarray(X, dtype=float)
    return {"X": X} | ({"y": np.full(len(X), y)} if name in LABELLED else {}) | more


def bad_updates(name):
    """Calls that must fail, most of them after a valid beginning."""
    good = [[0.5, 0.5]]
    tune = "nu" if name in ("NuSVC", "OneClassSVM") else "C"
    return {
        "nan": ("partial_fit", rows(name, [[0.5, 0.5], [np.nan, 0.0]])),
        "inf": ("partial_fit", rows(name, [[0.5, 0.5], [np.inf, 0.0]])),
        "features": ("partial_fit", rows(name, [[0.5, 0.5, 0.5]])),
        "empty": ("partial_fit", rows(name, np.empty((0, 2)))),
        "negative weight": ("partial_fit", rows(name, good * 2, sample_weight=[1.0, -1.0])),
        "nan weight": ("partial_fit", rows(name, good * 2, sample_weight=[1.0, np.nan])),
        "weight count": ("partial_fit", rows(name, good, sample_weight=[1.0, 1.0])),
        "held id": ("partial_fit", rows(name, good * 2, ids=[900, 0])),
        "repeated id": ("partial_fit", rows(name, good * 2, ids=[900, 900])),
        "id count": ("partial_fit", rows(name, good * 2, ids=[900])),
        "unknown id": ("forget", {"ids": [0, 900]}),
        "forget twice": ("forget", {"ids": [0, 1, 0]}),
        "reweight unknown": ("reweight", {"ids": [0, 900], "sample_weight": [2.0, 2.0]}),
        "reweight negative": ("reweight", {"ids": [0, 1], "sample_weight": [2.0, -2.0]}),
        "reweight nan": ("reweight", {"ids": [0, 1], "sample_weight": [2.0, np.nan]}),
        "reweight inf": ("reweight", {"ids": [0, 1], "sample_weight": [2.0, np.inf]}),
        "retune negative": ("retune", {tune: -1.0}),
        "retune nan": ("retune", {tune: np.nan}),
        "retune unknown": ("retune", {"flavour": 1.0}),
    }


@pytest.mark.parametrize("name", MACHINES)
@given(data=st.data())
def test_refused_input_changes_nothing(name, data):
    given_set = data.draw(examples(name))
    ledger = given_set.ledger()
    given_set.take(ledger, slice(None))
    before = snapshot(ledger.model)
    chosen = data.draw(st.lists(st.sampled_from(sorted(bad_updates(name))), min_size=1, max_size=4))
    for what in chosen:
        method, arguments = bad_updates(name)[what]
        with pytest.raises((ValueError, TypeError)):
            getattr(ledger.model, method)(**arguments)
        assert snapshot(ledger.model) == before, what
    ledger.reweight([0], [0.5])  # and it is still usable
    if ledger.feasible():
        ledger.check(PROBE)


class Fragile:
    """An rbf kernel that breaks down at its n-th call from now."""

    def __init__(self, error):
        self.error, self.left = error, np.inf

    def __call__(self, A, B):
        self.left -= 1
        if self.left < 0:
            raise self.error
        return np.exp(-0.5 * ((A[:, None, :] - B[None, :, :]) ** 2).sum(axis=2))

    def __deepcopy__(self, memo):
        return self


@pytest.mark.parametrize("error", [ZeroDivisionError("kernel"), KeyboardInterrupt()], ids=type)
@pytest.mark.parametrize("name", MACHINES)
@given(data=st.data())
def test_breakdown_in_the_middle_changes_nothing(name, error, data):
    given_set = data.draw(examples(name, low=6))
    kernel = Fragile(error)
    machine = MACHINES[name]
    model = getattr(supple, machine.name)(kernel=kernel, **machine.defaults | given_set.params)
    target = {"y": given_set.y} if name in LABELLED else {}
    with quiet_until_ready():
        model.partial_fit(given_set.X, **target, sample_weight=given_set.w)
    before = snapshot(model)
    twin = copy.deepcopy(model)
    assert snapshot(twin) == before
    updates = [
        ("partial_fit", rows(name, [[0.4, 0.1], [-0.3, 1.2], [1.0, 1.0]], y=-1.0)),
        ("forget", {"ids": [2, 3]}),
        ("reweight", {"ids": [0, 4], "sample_weight": [3.0, 0.2]}),
    ]
    method, arguments = data.draw(st.sampled_from(updates))
    kernel.left = data.draw(st.integers(0, 3))
    failed = False
    try:
        with quiet_until_ready():
            getattr(model, method)(**arguments)
    except (ZeroDivisionError, KeyboardInterrupt):
        failed = True
    kernel.left = np.inf
    if failed:
        assert snapshot(model) == before
        with quiet_until_ready():
            getattr(model, method)(**arguments)
    with quiet_until_ready():
        getattr(twin, method)(**arguments)
    assert model.ids_.tolist() == twin.ids_.tolist()
    np.testing.assert_allclose(answers(model), answers(twin), rtol=1e-7, atol=1e-9)


def answers(model):
    """Return the objective and the decision values; nothing while the model waits."""
    try:
        f = (
            model.predict(PROBE)
            if isinstance(model, supple.SVR)
            else model.decision_function(PROBE)
        )
    except supple.InfeasibleError:
        return []
    if isinstance(model, supple.NuSVC) and abs(model.dual_objective_) < 1e-9:
        return [model.dual_objective_]  # classes that cannot be told apart: f is 0 / 0
    return [model.dual_objective_, *f]
