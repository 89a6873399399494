"""After any sequence of operations the model is the optimum on the examples it holds."""

import numpy as np
import pytest
from ledger import DECISION_BAR, KERNELS, KKT_BAR, MACHINES
from walks import LATTICE, Walk

STEPS = 60


@pytest.mark.parametrize(
    ("kernel", "lattice"),
    [*((kernel, False) for kernel in KERNELS), *((kernel, True) for kernel in LATTICE)],
)
@pytest.mark.parametrize("name", MACHINES)
def test_random_walk(name, kernel, lattice):
    walk = Walk(name, kernel, seed=1, lattice=lattice)
    done = set()
    for step in range(STEPS):
        done.add(walk.step())
        assert walk.ledger.kkt() <= KKT_BAR, f"after step {step}"
        if step % 10 == 5:
            walk.ledger.check(walk.probe())
    walk.ledger.check(walk.probe(), sklearn=lattice)
    assert len(done) == 6


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", MACHINES)
def test_fit_gives_the_same_model(name, kernel):
    walk = Walk(name, kernel, seed=2)
    for _ in range(20):
        walk.step()
    ledger, probe = walk.ledger, walk.probe()
    X, y, w = ledger.arrays()
    before = ledger.decide(probe)
    objective = ledger.model.dual_objective_
    ledger.model.set_params(**ledger.params, **ledger.kernel_params)
    ledger.fit(X, y, w)
    ledger.check(probe)
    np.testing.assert_allclose(
        ledger.decide(probe), before, atol=DECISION_BAR * np.abs(before).max()
    )
    assert ledger.model.dual_objective_ == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("name", MACHINES)
def test_explicit_ids_in_any_order(name):
    walk = Walk(name, "rbf", seed=3, size=24)
    X, y, w = walk.draw(6)
    ids = [10**12, -7, 500, 3000, -1, 77]
    walk.ledger.add(X, y, w, ids=ids)
    walk.ledger.forget([500, 10**12])
    walk.ledger.reweight([-7, 77], [0.5, 2.0])
    walk.ledger.check(walk.probe())
    assert set(ids) - {500, 10**12} <= set(walk.ledger.model.ids_.tolist())
