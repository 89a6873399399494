"""Threads that share one model: writers, readers and copiers.

Every value read must be that of a state which the model really was in. For that the writers move
the model between states that are known beforehand: two training sets of different shapes
(`swapping`), or the sets that arise as each writer adds, re-weights and removes rows of its own
(`growing`). Machines that do not keep all rows have no such states; of these the rows are counted.
"""

import copy
import itertools
import pickle
import random
import threading
import time
import warnings

import numpy as np
from sklearn.base import clone

import supple

SETTINGS = {
    "SVC": {},
    "NuSVC": {"nu": 0.3},
    "SVR": {},
    "OneClassSVM": {"nu": 0.3},
    "SVDD": {"C": 0.2},
    "SimpleSVC": {},
    "LASVC": {"random_state": 0},
    "BudgetSVC": {"budget": 30},
    "BudgetSVDD": {"budget": 30, "C": 0.2},
    "SVIncrementalSVC": {},
    "WindowedSVC": {},
    "SVIncrementalSVR": {},
    "RVC": {},
    "RVR": {},
}
ESTIMATORS = list(SETTINGS)
EXACT = ("SVC", "NuSVC", "SVR", "OneClassSVM", "SVDD", "SimpleSVC")
WRITERS, READERS = 3, 4  # and one who copies
METHODS = ("predict", "decision_function", "score_samples", "predict_proba")
_ROWS = 3  # that a writer adds


def make(name, **settings):
    """Return the estimator with settings that have a solution on the data of this module."""
    return getattr(supple, name)(gamma=0.5, **SETTINGS[name] | settings)


def rows(name, n, d, k, seed):
    """Return arguments of fit: n rows with d features, of k classes if there are classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.arange(n) % k
    X[:, 0] += y
    if name in ("OneClassSVM", "SVDD", "BudgetSVDD"):
        return (X,)
    return X, (y if name.endswith("C") else np.sin(X[:, 0]) + 0.1 * rng.normal(size=n))


def attributes(model):
    """Return the names of all fitted attributes."""
    kind = type(model)
    found = [
        n for n in dir(kind) if n[-1] == "_" != n[0] and isinstance(getattr(kind, n), property)
    ]
    return [*found, "n_features_in_"]


def look(model, what, probe):
    """Return what a reader gets, a value or the error."""
    try:
        if what in METHODS:
            return getattr(model, what)(probe)
        return getattr(model, what)
    except (ValueError, AttributeError) as error:
        return f"{type(error).__name__}: {error}"


def same(a, b):
    """Whether two looks agree, numbers to rounding."""
    if isinstance(a, str) or isinstance(b, str) or isinstance(a, dict):
        return type(a) is type(b) and a == b
    if isinstance(a, tuple):  # records, in which NaN is the same as NaN
        return repr(a) == repr(b)
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    return bool(np.allclose(a, b, rtol=1e-9, atol=1e-12) if a.dtype.kind == "f" else (a == b).all())


class Crowd:
    """Eight threads with one model, for a time or until one of them fails."""

    def __init__(self, model, seconds, seed=0):
        self.model = model
        self.seconds = seconds
        self.seed = seed
        self.calls = 0
        self.failures = []

    def run(self, write, read, judge_copy):
        """Let threads call write(number, choose), read(choose) and judge_copy(copy) in turns."""
        self._end = time.monotonic() + self.seconds
        jobs = [lambda choose, i=i: write(i, choose) for i in range(WRITERS)]
        jobs += [read] * READERS + [lambda choose: judge_copy(self._copy(choose))]
        threads = [
            threading.Thread(target=self._work, args=(job, self.seed * 100 + k))
            for k, job in enumerate(jobs)
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", supple.NotReadyWarning)
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return self

    def _work(self, job, seed):
        choose = random.Random(seed)
        while time.monotonic() < self._end and len(self.failures) < 20:
            try:
                job(choose)
            except BaseException as error:
                self.failures.append(f"{type(error).__name__}: {error}")
            self.calls += 1

    def _copy(self, choose):
        clone(self.model)
        if choose.random() < 0.5:
            return copy.deepcopy(self.model)
        return pickle.loads(pickle.dumps(self.model))


def swapping(name, seconds, seed=0):
    """Writers fit one of two training sets; all that is read belongs to one of them."""
    training = [rows(name, 50, 3, 2, 1), rows(name, 40, 4, 3, 2)]
    probe = rows(name, 12, 3, 2, 3)[0]  # which only one of them can answer
    fitted = [make(name).fit(*arguments) for arguments in training]
    looks = [*attributes(fitted[0]), *(m for m in METHODS if hasattr(fitted[0], m))]
    known = {what: [look(model, what, probe) for model in fitted] for what in looks}
    model = make(name).fit(*training[0])

    def states(one, what):
        seen = look(one, what, probe)
        found = {k for k, value in enumerate(known[what]) if same(seen, value)}
        assert found, f"{what} is {seen!r:.200}"
        return found

    def judge(twin):
        # A copy computes some kernel values of its own.
        copied = [what for what in looks if what != "n_kernel_evals_"]
        assert set.intersection(*(states(twin, what) for what in copied)), "a copy of two states"

    return Crowd(model, seconds, seed).run(
        lambda number, choose: model.fit(*training[choose.randrange(2)]),
        lambda choose: states(model, choose.choice(looks)),
        judge,
    )


def growing(name, seconds, seed=0):
    """Each writer adds rows of its own, and re-weights and removes them if the machine can."""
    return (_growing_exactly if name in EXACT else _counting)(name, seconds, seed)


def _growing_exactly(name, seconds, seed):
    base = rows(name, 30, 3, 2, 1)
    own = [rows(name, _ROWS, 3, 2, 10 + i) for i in range(WRITERS)]
    ids = [np.arange(1000 * (i + 1), 1000 * (i + 1) + _ROWS) for i in range(WRITERS)]
    probe = rows(name, 12, 3, 2, 3)[0]
    value = "predict" if name == "SVR" else "decision_function"
    known = {}
    for weights in itertools.product((0.0, 1.0, 2.5), repeat=WRITERS):
        parts = [base, *(own[i] for i in range(WRITERS) if weights[i])]
        weight = [np.ones(30), *(np.full(_ROWS, w) for w in weights if w)]
        whole = (np.concatenate(column) for column in zip(*parts, strict=True))
        one = make(name).fit(*whole, sample_weight=np.concatenate(weight))
        held = [np.arange(30), *(ids[i] for i in range(WRITERS) if weights[i])]
        known[weights] = getattr(one, value)(probe), np.concatenate(held)
    model = make(name).fit(*base)
    looks = [*attributes(model), *(m for m in METHODS if hasattr(model, m))]

    def write(i, choose):
        model.partial_fit(*own[i], ids=ids[i])
        if choose.random() < 0.5:
            model.reweight(ids[i], 2.5)
        model.forget(ids[i])

    def close(f, values):
        return np.allclose(f, values, rtol=0, atol=1e-6)

    def read(choose):
        what = choose.choice([value, "ids_", *looks])
        seen = look(model, what, probe)
        assert not isinstance(seen, str) or what == "coef_", seen
        if what == value:
            assert any(close(seen, f) for f, _ in known.values()), "values of no state"
        if what == "ids_":
            assert any(set(seen) == set(held) for _, held in known.values()), "ids of no state"

    def judge(twin):
        held, f = set(twin.ids_), getattr(twin, value)(probe)
        assert any(held == set(ids) and close(f, values) for values, ids in known.values())
        assert twin.kkt_violation_ <= 1e-8

    crowd = Crowd(model, seconds, seed).run(write, read, judge)
    if not crowd.failures and set(model.ids_) != set(range(30)):
        crowd.failures.append("rows were lost or left")
    return crowd


def _counting(name, seconds, seed):
    base, probe = rows(name, 30, 3, 2, 1), rows(name, 12, 3, 2, 3)[0]
    model = make(name).fit(*base)
    looks = [*attributes(model), *(m for m in METHODS if hasattr(model, m))]
    added, most = [0] * WRITERS, 20 if name.startswith("RV") else np.inf  # these keep all rows

    def write(i, choose):
        if added[i] < most:
            model.partial_fit(*rows(name, 2, 3, 2, choose.randrange(10**6)))
            added[i] += 2
        else:
            time.sleep(0.01)

    def read(choose):
        what = choose.choice(looks)
        seen = look(model, what, probe)
        assert not isinstance(seen, str) or what == "coef_", seen

    def judge(twin):
        seen = twin.n_samples_seen_
        assert twin.partial_fit(*rows(name, 2, 3, 2, 4)).n_samples_seen_ == seen + 2
        assert np.isfinite(np.asarray(twin.dual_coef_)).all()

    crowd = Crowd(model, seconds, seed).run(write, read, judge)
    if not crowd.failures and model.n_samples_seen_ != 30 + sum(added):
        crowd.failures.append(f"{30 + sum(added)} rows came, {model.n_samples_seen_} were seen")
    return crowd
