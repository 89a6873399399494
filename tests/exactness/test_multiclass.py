"""Several classes: every head is the optimum of its own problem, whatever came and went."""

from functools import partial
from itertools import combinations

import numpy as np
import oracle
import pytest
import sklearn.svm
from ledger import DECISION_BAR, KKT_BAR, quiet_until_ready
from sklearn.metrics.pairwise import laplacian_kernel
from walks import LATTICE, SPREAD

import supple

CENTRES = {"ant": (0.0, 0.0), "bee": (1.5, 0.0), "cat": (0.0, 1.5), "dog": (1.5, 1.5)}
PROBE = np.random.default_rng(99).normal(size=(25, 2)) + 0.7

# scikit-learn has no machine that knows it by name.
LAPLACIAN = partial(laplacian_kernel, **LATTICE["laplacian"][1])


def blobs(labels, n, seed, *, kernel=None):
    """n examples of each label around its centre, shuffled; on the kernel's lattice if named."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(labels, n))
    X = np.array([CENTRES[label] for label in y]) + 0.7 * rng.normal(size=(len(y), 2))
    if kernel:
        step = LATTICE[kernel][0]
        X = np.round(X * SPREAD[kernel] * step) / step
    return X, y, rng.uniform(0.3, 2.0, len(y))


class Several:
    """A multi-class model with the record of its examples."""

    def __init__(self, multi_class, C=1.0, gamma=0.5):
        self.C, self.k = C, oracle.rbf(gamma)
        shape = "ovo" if multi_class == "ovo" else "ovr"
        self.model = supple.SVC(
            C=C, gamma=gamma, multi_class=multi_class, decision_function_shape=shape
        )
        self.multi_class, self.held = multi_class, {}

    def add(self, X, y, w):
        self.model.partial_fit(X, y, sample_weight=w)
        new = sorted(set(self.model.ids_.tolist()) - set(self.held))
        self.held |= dict(zip(new, zip(X, y, w, strict=True), strict=True))

    def forget(self, ids):
        self.model.forget(ids)
        for i in ids:
            del self.held[i]

    def reweight(self, ids, w):
        self.model.reweight(ids, w)
        for i, weight in zip(ids, w, strict=True):
            self.held[i] = (*self.held[i][:2], weight)

    def of(self, label):
        return [i for i, (_, y, _) in self.held.items() if y == label]

    def check(self):
        X, y, w = (np.array(column) for column in zip(*self.held.values(), strict=True))
        classes = np.unique(y[w > 0])
        np.testing.assert_array_equal(self.model.classes_, classes)
        assert self.model.kkt_violation_ <= KKT_BAR
        f = self.model.decision_function(PROBE)
        if len(classes) == 2:  # one head, positive for the second class
            heads = [(classes[1], np.ones(len(y), dtype=bool))]
            f = f.reshape(-1, 1)
        elif self.multi_class == "ovo":
            heads = [(a, (y == a) | (y == b)) for a, b in combinations(classes, 2)]
        else:
            heads = [(a, np.ones(len(y), dtype=bool)) for a in classes]
        assert f.shape == (len(PROBE), len(heads))
        for column, (positive, member) in zip(f.T, heads, strict=True):
            K = self.k(X[member], X[member])
            sign = np.where(y[member] == positive, 1.0, -1.0)
            best = oracle.csvc(K, sign, self.C * w[member]).solve()
            want = oracle.decision("csvc", self.k(PROBE, X[member]), best)
            np.testing.assert_allclose(column, want, atol=DECISION_BAR, rtol=0)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
@pytest.mark.parametrize("labels", [["ant", "bee", "cat"], ["ant", "bee", "cat", "dog"]])
def test_mixed_operations(multi_class, labels):
    several = Several(multi_class)
    rng = np.random.default_rng(4)
    several.add(*blobs(labels, 8, 1))
    for step in range(50):
        held = sorted(several.held)
        some = rng.choice(held, size=rng.integers(1, 4), replace=False).tolist()
        what = rng.choice(["add", "add", "forget", "reweight"])
        if what == "add" and len(held) < 60:
            several.add(*blobs([labels[step % len(labels)]], rng.integers(1, 4), step))
        elif what == "forget" and len(held) > 25:
            several.forget(some)
        else:
            several.reweight(some, rng.uniform(0.2, 3.0, len(some)))
        if step % 12 == 0:
            several.check()
    several.check()


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_classes_appear_and_vanish(multi_class):
    several = Several(multi_class)
    several.add(*blobs(["cat"], 5, 1))
    np.testing.assert_array_equal(several.model.predict(PROBE), ["cat"] * len(PROBE))
    for seed, label in enumerate(["ant", "dog", "bee"]):
        several.add(*blobs([label], 6, seed + 2))
        several.check()
    several.forget(several.of("cat"))
    several.check()
    several.reweight(several.of("ant"), np.zeros(6))  # weight 0 is absence
    several.check()
    several.add(*blobs(["cat"], 1, 7))
    several.check()
    several.reweight(several.of("ant"), np.ones(6))
    several.check()
    for label in ("dog", "bee", "cat"):
        several.forget(several.of(label))
        if label != "cat":
            several.check()
    np.testing.assert_array_equal(several.model.predict(PROBE), ["ant"] * len(PROBE))
    several.add(*blobs(["bee"], 3, 8))
    several.check()


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("kernel", LATTICE)
@pytest.mark.parametrize("cls", ["SVC", "NuSVC"])
def test_one_vs_one_agrees_with_scikit_learn(cls, kernel, shape):
    X, y, w = blobs(list(CENTRES), 10, 5, kernel=kernel)
    params = {"nu": 0.6} if cls == "NuSVC" else {"C": 2.0}
    params |= LATTICE[kernel][1] | {"kernel": kernel, "decision_function_shape": shape}
    known = {} if kernel != "laplacian" else {"kernel": LAPLACIAN}
    theirs = getattr(sklearn.svm, cls)(tol=1e-10, **params | known).fit(X, y, sample_weight=w)
    ours = getattr(supple, cls)(**params)
    with quiet_until_ready():  # nu may be infeasible for the first few examples
        for part in np.array_split(np.arange(len(y)), 7):
            ours.partial_fit(X[part], y[part], classes=list(CENTRES), sample_weight=w[part])
    probe = PROBE * SPREAD[kernel]
    want = theirs.decision_function(probe)
    size = max(1.0, np.abs(want).max()) if cls == "NuSVC" else 1.0
    np.testing.assert_allclose(
        ours.decision_function(probe), want, atol=DECISION_BAR * size, rtol=0
    )
    np.testing.assert_array_equal(ours.predict(probe), theirs.predict(probe))
