"""One process for each system, so that thread pools and imports cannot disturb each other.

The parent asks one process at a time. Threads are limited by the environment, by the systems' own
settings and by the set of processors that the process may use.
"""

from __future__ import annotations

import contextlib
import inspect
import multiprocessing
import os
import time
from importlib.metadata import version

import numpy as np
import scipy.sparse as sp
from batch_cases import load

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SHORT, REPEATS = 0.3, 3  # a turn repeats a fit up to 3 times within 0.3 s
PACKAGES = {
    "supple": "supple",
    "scikit-learn": "scikit-learn",
    "intelex": "scikit-learn-intelex",
    "libsvm": "libsvm-official",
    "thundersvm": "thundersvm-cpu",
}


class SklearnLike:
    """A system with scikit-learn's interface."""

    def __init__(self, SVC, **options) -> None:
        self.SVC, self.options = SVC, options

    def convert(self, X, y):
        """Return the data in the system's own form; not timed."""
        return X, y

    def fit(self, data, params):
        return self.SVC(kernel="rbf", **params, **self.options).fit(*data)

    def predict(self, model, data):
        return model.predict(data[0])

    def solution(self, model) -> dict:
        dual = model.dual_coef_
        dual = dual.toarray() if sp.issparse(dual) else np.asarray(dual)
        return {"support": np.asarray(model.support_), "dual": dual}


class Supple(SklearnLike):
    def __init__(self, threads: int) -> None:
        import supple

        known = "n_jobs" in inspect.signature(supple.SVC).parameters
        super().__init__(supple.SVC, **({"n_jobs": threads} if known else {}))


class ScikitLearn(SklearnLike):
    def __init__(self, threads: int) -> None:
        from sklearn.svm import SVC

        super().__init__(SVC)


class Intelex(SklearnLike):
    def __init__(self, threads: int) -> None:
        import daal4py

        daal4py.daalinit(threads)
        from sklearnex.svm import SVC

        super().__init__(SVC)

    def solution(self, model) -> dict:
        fell_back = not hasattr(model, "_onedal_estimator")
        note = {"note": "fell back to scikit-learn"} if fell_back else {}
        return super().solution(model) | note


class ThunderSVM(SklearnLike):
    """Gets dense rows always: version 0.3.3 misreads the labels of sparse ones."""

    def __init__(self, threads: int) -> None:
        from thundersvm import SVC

        super().__init__(SVC, n_jobs=threads)

    def convert(self, X, y):
        return (X.toarray() if sp.issparse(X) else X), y


class LibSVM:
    """LIBSVM's own Python binding, without the time to convert the rows to its nodes."""

    def __init__(self, threads: int) -> None:
        from libsvm import svmutil

        self.util = svmutil

    def convert(self, X, y):
        return self.util.svm_problem(y.astype(float), sp.csr_matrix(X))

    def fit(self, data, params):
        options = "-s 0 -t 2 -q -c {C!r} -g {gamma!r} -e {tol!r} -m {cache_size!r}"
        return self.util.svm_train(data, options.format(**params))

    def predict(self, model, data):
        one = self.util.libsvm.svm_predict
        return np.array([one(model, data.x[i]) for i in range(data.l)]).astype(np.int64)

    def solution(self, model) -> dict:
        return {"support": np.array(model.get_sv_indices()) - 1,
                "dual": np.array(model.get_sv_coef()).T}  # fmt: skip


SYSTEMS = {
    "supple": Supple,
    "scikit-learn": ScikitLearn,
    "intelex": Intelex,
    "libsvm": LibSVM,
    "thundersvm": ThunderSVM,
}


def timed(action) -> tuple[object, float, float]:
    """Return the result of `action`, its seconds and its processor seconds, all threads."""
    cpu, start = time.process_time(), time.perf_counter()
    result = action()
    return result, time.perf_counter() - start, time.process_time() - cpu


class Server:
    """What runs in the child: answers to the parent's messages."""

    def __init__(self, system: str, threads: int) -> None:
        self.system = SYSTEMS[system](threads)
        self.name, self.train, self.test = None, None, None

    def prepare(self, name: str, params: dict) -> None:
        """Convert the rows, and fit a few of them once for what only the first time costs."""
        if self.name == name:
            return
        case, self.name = load(name), name
        self.train = self.system.convert(case.X, case.y)
        self.test = self.system.convert(case.X_test, case.y_test)
        few = self.system.convert(case.X[:200], case.y[:200])
        self.system.predict(self.system.fit(few, params), few)

    def measure(self, name: str, params: dict) -> dict:
        self.prepare(name, params)
        best, total, count = {}, 0.0, 0
        while count == 0 or (total < SHORT and count < REPEATS):
            model, fit_s, fit_cpu_s = timed(lambda: self.system.fit(self.train, params))
            labels, predict_s, predict_cpu_s = timed(
                lambda: self.system.predict(model, self.test)  # noqa: B023
            )
            new = {"fit_s": fit_s, "fit_cpu_s": fit_cpu_s,
                   "predict_s": predict_s, "predict_cpu_s": predict_cpu_s}  # fmt: skip
            best = {key: min(value, best.get(key, value)) for key, value in new.items()}
            total, count = total + fit_s, count + 1
        return best | self.system.solution(model) | {"labels": np.asarray(labels)}

    def warm(self, name: str, params: dict, count: int) -> dict:
        """Add `count` rows to a model of all training rows, and fit all of them anew."""
        self.prepare(name, params)
        case = load(name)
        new = case.X_test[:count], case.y_test[:count]
        everything = np.vstack([case.X, new[0]]), np.concatenate([case.y, new[1]])
        model = self.system.fit(self.train, params)
        model, warm_s, _ = timed(lambda: model.partial_fit(*new))
        added = self.system.solution(model) | {"support": model.ids_[model.support_]}
        model, cold_s, _ = timed(lambda: self.system.fit(everything, params))
        return {"warm_s": warm_s, "cold_s": cold_s, "warm": added,
                "cold": self.system.solution(model)}  # fmt: skip


def serve(pipe, system: str, threads: int) -> None:
    """Answer messages (method, arguments) until the pipe closes."""
    try:
        server = Server(system, threads)
    except (ImportError, OSError) as problem:
        pipe.send({"missing": f"{type(problem).__name__}: {problem}"})
        return
    pipe.send({"version": version(PACKAGES[system])})
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while True:
            method, arguments = pipe.recv()
            try:
                reply = getattr(server, method)(*arguments)
            except Exception as problem:
                reply = {"error": f"{type(problem).__name__}: {problem}"}
            pipe.send(reply)


class Worker:
    """The parent's end of a child process."""

    def __init__(self, system: str, threads: int) -> None:
        self.system, self.threads = system, threads
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=serve, args=(theirs, self.system, self.threads), daemon=True
        )
        with limits(self.threads):
            self.process.start()
        theirs.close()
        try:
            hello = self.pipe.recv()
        except EOFError:
            hello = {"missing": "the process died while importing it"}
        self.version, self.missing = hello.get("version"), hello.get("missing")

    def ask(self, method: str, *arguments, timeout: float) -> dict:
        """Return the child's answer; a child that is late or dead is replaced."""
        try:
            self.pipe.send((method, arguments))
            if self.pipe.poll(timeout):
                return self.pipe.recv()
            problem = f"stopped after {timeout:g} s"
        except (EOFError, OSError):
            problem = "the process died"
        self.stop()
        self.start()
        return {"error": problem}

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


@contextlib.contextmanager
def limits(threads: int):
    """Let a process that starts now inherit the number of threads and of processors."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, str(threads)))
    pinned = hasattr(os, "sched_setaffinity")
    allowed = os.sched_getaffinity(0) if pinned else set()
    if pinned:
        os.sched_setaffinity(0, sorted(allowed)[-threads:])
    try:
        yield
    finally:
        if pinned:
            os.sched_setaffinity(0, allowed)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
