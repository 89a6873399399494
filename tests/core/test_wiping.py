"""Nothing of an example that is no longer held: not in the pickle, and not in the core's memory."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics.pairwise import rbf_kernel

from supple import (
    LASVC,
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    BudgetSVDD,
    NuSVC,
    OneClassSVM,
    SimpleSVC,
    SVIncrementalSVC,
    SVIncrementalSVR,
)

N, D = 60, 4
MODELS = {
    "SVC": lambda **k: SVC(**k),
    "SVC linear": lambda **k: SVC(**k | {"kernel": "linear"}),
    "SVC ovr": lambda **k: SVC(multi_class="ovr", **k),
    "SVC callable": lambda **k: SVC(**k | {"kernel": rbf_kernel}),
    "SimpleSVC": lambda **k: SimpleSVC(**k),
    "NuSVC": lambda **k: NuSVC(nu=0.1, **k),
    "SVR": lambda **k: SVR(C=3.0, epsilon=0.0, **k),
    "OneClassSVM": lambda **k: OneClassSVM(**k),
    "SVDD": lambda **k: SVDD(C=0.5, **k),
    "BudgetSVC": lambda **k: BudgetSVC(budget=25, rule="relevance", **k),
    "BudgetSVDD": lambda **k: BudgetSVDD(budget=25, C=0.5, **k),
    "SVIncrementalSVC": lambda **k: SVIncrementalSVC(sv_weight="ruping", half_life=3.0, **k),
    "SVIncrementalSVR": lambda **k: SVIncrementalSVR(sv_weight="ruping", half_life=3.0, **k),
    "LASVC": lambda **k: LASVC(random_state=0, **k),
}
FORMS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "CSR": sp.csr_array,
    "CSR float32": lambda X: sp.csr_array(X.astype(np.float32)),
}


def examples(form, regression):
    """Return X, y, weights and ids of which every number is like no other."""
    rng = np.random.default_rng(7)
    X = FORMS[form](rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.8))
    y = rng.normal(size=N) if regression else rng.integers(0, 2, N)
    ids = rng.choice(2**32, N, replace=False) + 2**40
    return X, y, rng.uniform(0.5, 2.0, N), ids


def traces(X, y, weight, ids, regression):
    """Return the bytes that would tell an example: features, target, weight, id."""
    values = X.data if sp.issparse(X) else X.ravel()
    # SciPy and Python may have turned single into double precision.
    numbers = [*values[values != 0], *values[values != 0].astype(np.float64), *weight]
    if regression:
        numbers += [*y]
    found = [np.asarray(v).tobytes() for v in numbers]
    found += [v[::-1] for v in found]  # as Python pickles its own floats
    return found + [int(i).to_bytes(6, "little") for i in ids]


def rows(arrays, which):
    return tuple(array[which] for array in arrays)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_no_trace_in_the_pickle(name, form):
    model = MODELS[name](gamma=0.5)
    regression = name.endswith("SVR")
    data = examples(form, regression)
    for start in (0, N // 2):
        X, y, weight, ids = rows(data, np.arange(start, start + N // 2))
        model.partial_fit(X, y, sample_weight=weight, ids=ids)
    if hasattr(model, "predict"):
        model.predict(data[0])
    if hasattr(model, "forget"):
        model.forget([*model.ids_[-9:], model.ids_[1]])
        model.partial_fit(X[:1], y[:1], sample_weight=weight[:1], ids=[5])
        model.forget(model.ids_[model.ids_ == 5].tolist() or model.ids_[0])
        model.reweight(model.ids_[0], weight[0])
    state = pickle.dumps(model)
    held = np.isin(data[3], model.ids_)
    assert 5 < held.sum() < N
    values = X.data[:0] if sp.issparse(X) else data[0][held].ravel()
    assert all(v.tobytes() in state for v in values[values != 0])  # the search finds what is there
    # X[:1] was learned twice; weight[0] is now that of another.
    gone = ~held & (data[3] != ids[0])
    left = rows(data, gone)
    if name == "LASVC":  # a step as long as a box is wide makes its width another's coefficient
        left = (*left[:2], left[2][:0], left[3])
    assert not [t for t in traces(*left, regression) if t in state]


@pytest.mark.parametrize("name", [name for name in MODELS if name != "LASVC"])
def test_no_trace_of_anything(name):
    model = MODELS[name](gamma=0.5)
    regression = name.endswith("SVR")
    X, y, weight, ids = examples("float64", regression)
    model.partial_fit(X, y, sample_weight=weight, ids=ids)
    model.forget(model.ids_)
    state = pickle.dumps(model)
    assert not [t for t in traces(X, y, weight, ids, regression) if t in state]
    assert len(state) < 4000
    model.partial_fit(X, y)


def test_a_pickle_is_the_same_whatever_was_in_memory_before():
    X, y, _, _ = examples("float64", False)
    states = set()
    for noise in range(20):
        junk = [np.full(size, float(noise)) for size in (40, 60, 80, 120) for _ in range(8)]
        del junk
        model = SVC(gamma=0.5).partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
        states.add(pickle.dumps(model))
    assert len(states) == 1


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_label_goes_with_its_class(multi_class):
    X, _, _, _ = examples("float64", False)
    y = np.array(["red", "green", "secret"])[np.arange(N) % 3]
    model = SVC(gamma=0.5, multi_class=multi_class).fit(X, y)
    model.forget(np.flatnonzero(y == "secret"))
    assert b"secret" not in pickle.dumps(model)
    kept = y != "secret"
    # A new class may take its place, and the old one come back.
    for label in ("blue", "secret"):
        model.partial_fit(X[~kept], np.full((~kept).sum(), label))
        fresh = SVC(gamma=0.5, multi_class=multi_class)
        fresh.fit(np.vstack([X[kept], X[~kept]]), np.append(y[kept], np.full((~kept).sum(), label)))
        np.testing.assert_array_equal(model.classes_, fresh.classes_)
        np.testing.assert_allclose(
            model.decision_function(X), fresh.decision_function(X), rtol=0, atol=1e-8
        )
        model.forget(model.ids_[-(~kept).sum() :])


def test_a_label_stays_while_it_is_named():
    X, _, _, _ = examples("float64", False)
    y = np.array(["red", "green", "blue"])[np.arange(N) % 3]
    blue = np.flatnonzero(y == "blue")
    declared = SVC(gamma=0.5).partial_fit(X, y, classes=["blue", "green", "red"]).forget(blue)
    declared.partial_fit(X[:1], ["blue"])
    weighted = SVC(gamma=0.5, class_weight={"blue": 3.0}).fit(X, y).forget(blue)
    weighted.partial_fit(X[:1], ["blue"])
    assert weighted.class_weight_.tolist() == [3.0, 1.0, 1.0]
    idle = SVC(gamma=0.5).fit(X, y).reweight(blue, 0.0).reweight(blue, 1.0)
    assert idle.classes_.tolist() == ["blue", "green", "red"]


def test_forgotten_support_vectors_count_no_longer():
    X, y, _, _ = examples("float64", False)
    model = SVIncrementalSVC(sv_weight="ruping", gamma=0.5).partial_fit(X, y)
    support = len(model.ids_)
    model.forget(model.ids_[:4]).partial_fit(X[:1], y[:1], ids=[1000])
    old = [w for i, w in model.sv_weight_.items() if i != 1000]
    assert old == pytest.approx([(N - 4) / (support - 4)] * len(old))


_CHILD = """
import sys
import numpy as np, scipy.sparse as sp
from supple import SVC

form = sys.argv[1]
rng = np.random.default_rng(3)
dtype = np.float32 if form == "float32" else np.float64
values = rng.random((200, 30), dtype=dtype)

def rows(first, last):  # without the copies that SciPy makes of a slice
    part = values[first:last]
    if form != "CSR":
        return part
    n = last - first
    return sp.csr_array((part.ravel(), np.tile(np.arange(30), n), 30 * np.arange(n + 1)), (n, 30))

y = (values[:, 0] > 0.5).astype(float)
model = SVC(C=5.0, gamma=0.3)
model.partial_fit(rows(0, 150), y[:150]).partial_fit(rows(150, 200), y[150:])
model.decision_function(rows(0, 200))
model.reweight(3, 2.0).forget(np.arange(0, 200, 2))
values[...] = 0
del values, y
print("ready", flush=True)
sys.stdin.readline()
"""


def writable_memory(pid):
    """Yield what a process has in memory that it can write to."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            where, access, *_ = line.split()
            if not access.startswith("rw") or "[v" in line:
                continue
            start, end = (int(part, 16) for part in where.split("-"))
            memory.seek(start)
            yield memory.read(end - start)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer keeps memory of its own"
)
@pytest.mark.parametrize("form", ["float64", "float32", "CSR"])
def test_no_trace_in_the_memory_of_the_core(form):
    dtype = np.float32 if form == "float32" else np.float64
    values = np.random.default_rng(3).random((200, 30), dtype=dtype)
    child = subprocess.Popen(
        [sys.executable, "-c", _CHILD, form],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "ready\n"
        try:
            memory = b"".join(writable_memory(child.pid))
        except PermissionError:
            pytest.skip("the memory of another process cannot be read here")
    finally:
        child.communicate("\n")
    words = np.frombuffer(memory, dtype=f"u{values.itemsize}")
    forgotten, held = (
        part.view(words.dtype) for part in (values[:40:2, 7].copy(), values[1:40:2, 7].copy())
    )
    assert all((words == value).any() for value in held)
    # Four bytes are found by chance now and then.
    found = sum(bool((words == value).any()) for value in forgotten)
    assert found <= (5 if form == "float32" else 0)
