"""A random sequence of operations on one model, with an own record of what it should hold."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import NotFittedError

from .kernels import KernelFailure
from .reading import Held
from .scenes import Scene, scene_of

OPERATIONS = {
    "add one": 0.22,
    "add several": 0.12,
    "forget one": 0.18,
    "forget several": 0.08,
    "reweight": 0.10,
    "retune": 0.10,
    "visit": 0.06,
    "there and back": 0.03,
    "pickle": 0.03,
    "mistake": 0.05,
    "refit": 0.02,
    "forget all": 0.01,
}


@dataclass(frozen=True)
class Failure:
    """What went wrong, where: the walk of a seed, after one of its steps."""

    kind: str
    seed: int
    step: int
    text: str
    ordinary: bool


class BrokenModel(Exception):
    """The model cannot even be read any more; the walk ends."""


class Walk:
    """The walk of a seed; ``step`` performs one operation and notes what fails by itself.

    ``announce`` hears of every call into supple before it is made.
    """

    def __init__(self, seed: int, announce: Callable[[str], None] = lambda text: None):
        self.seed, self.announce = seed, announce
        self.scene: Scene = scene_of(seed)
        self.rng = self.scene.rng
        self.model = self.scene.make()
        self.params = self.scene.all_params()
        self.held: dict[int, tuple] = {}
        self.next_id = 0
        self.count = 0
        self.refused: list[str] = []  # errors of supple's own, which are no failures
        self.failures: list[Failure] = []
        self.steps = int(self.rng.integers(3, 6)) if self.scene.n > 150 else int(
            self.rng.integers(6, 26)
        )  # fmt: skip

    # ------------------------------------------------------------------- calls

    def fail(self, kind: str, text: str) -> None:
        self.failures.append(Failure(kind, self.seed, self.count, text, self.scene.ordinary))

    def attempt(self, text: str, call: Callable, *, wrong: bool = False) -> bool:
        """Call supple; whether it succeeded. A failing call must leave the model as it was.

        ``wrong`` marks a call that must be refused.
        """
        self.announce(f"step {self.count}: {text}")
        before = state(self.model)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            error = self._error_of(text, call, wrong)
        for warning in heard:
            if not type_of_supple(warning.category):
                kind = f"foreign warning {warning.category.__name__}"
                self.fail(kind, f"{text}: {warning.message} ({warning.filename})")
        if error is not None:
            self._check_unchanged(before, f"{text}: {error!r}")
        return error is None

    def _check_unchanged(self, before: dict | None, text: str) -> None:
        try:
            unchanged = same_state(before, state(self.model))
        except Exception as broken:
            self.fail("a failing operation broke the model", f"{text}; now {broken!r}")
            raise BrokenModel from broken
        if not unchanged:
            self.fail("a failing operation changed the model", text)

    def _error_of(self, text: str, call: Callable, wrong: bool) -> Exception | None:
        try:
            call()
        except Exception as error:
            expected = type_of_supple(type(error)) or isinstance(error, KernelFailure)
            if wrong:
                expected |= isinstance(error, ValueError)
            if not expected:
                self.fail(f"foreign exception {type(error).__name__}", f"{text}: {error}")
            elif not wrong:
                self.refused.append(f"{type(error).__name__}: {error}")
            return error
        if wrong:
            self.fail("a mistake was accepted", text)
        return None

    # ------------------------------------------------------------------- what should be

    def now(self) -> Held:
        """The examples held in the order of the model's ids_."""
        ids = self.model.ids_.tolist()
        rows = [self.held[i] for i in ids]
        X = np.array([r[0] for r in rows]).reshape(len(rows), self.scene.d)
        y, w = np.array([r[1] for r in rows]), np.array([r[2] for r in rows], dtype=float)
        return Held(self.scene.name, X, y, w, self.params)

    def _record(self, X, y, w, ids) -> None:
        for row, target, weight, key in zip(X, y, w, ids, strict=True):
            self.held[int(key)] = (row, target, weight)
        self._follow_memory()

    def _follow_memory(self) -> None:
        """Memories choose whom to keep and with which weight; take that from the model."""
        if self.model.memory_.keeps_all:
            return
        ids, weights = self.model.ids_.tolist(), self.model.sample_weight_.tolist()
        state = self.model._model.state
        rows = state.points(np.arange(state.n))
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        held = {}
        for slot, (i, weight) in enumerate(zip(ids, weights, strict=True)):
            if i in self.held:
                held[i] = (*self.held[i][:2], weight)
            else:  # merged: a mean of examples, of one class if there are classes
                y = state.y[slot]
                if self.scene.kind in ("csvc", "nusvc"):
                    y = self.model._model.labels.label(int(y))
                held[i] = (np.asarray(rows[slot], dtype=float), y, weight)
        self.held = held

    # ------------------------------------------------------------------- operations

    def start(self) -> None:
        """Learn the first rows, by fit or by a few batches."""
        n = self.scene.n
        if self.rng.random() < 0.5 and self.refit():
            return
        while n > 0:
            size = max(1, min(n, int(self.rng.integers(1, 2 + n))))
            self.add(size)
            n -= size

    def step(self) -> None:
        """Perform one random operation."""
        self.count += 1
        names = list(OPERATIONS)
        name = str(self.rng.choice(names, p=list(OPERATIONS.values())))
        several = int(self.rng.integers(2, 10))
        crowded = len(self.held) > 1.5 * self.scene.n + 10
        if name == "refit":
            self.refit()
        elif name == "pickle":
            self.copy()
        elif name == "mistake":
            self.mistake()
        elif not self.held or (name.startswith("add") and not crowded):
            self.add(1 if name == "add one" else several)
        elif name == "visit":
            self.visit()
        elif name == "reweight":
            self.reweight(several)
        elif name in ("retune", "there and back"):
            self.retune(back=name != "retune")
        elif name == "forget all":
            self.forget(len(self.held))
        else:
            self.forget(1 if name == "forget one" else several)

    def _targets(self, y) -> dict:
        return {"y": y} if self.scene.kind in ("csvc", "nusvc", "epssvr") else {}

    def refit(self) -> bool:
        X, y, w = self.scene.draw(self.scene.n)
        given = {**self._targets(y), "sample_weight": w}
        if not self.attempt(
            f"fit {len(X)}", lambda: self.model.fit(self.scene.as_input(X), **given)
        ):
            return False
        self.held.clear()
        self._record(X, y, w, range(len(X)))
        self.next_id = len(X)
        return True

    def add(self, n: int, rows=None) -> list[int]:
        X, y, w = self.scene.draw(n) if rows is None else rows
        ids = list(range(self.next_id, self.next_id + len(X)))
        given = {**self._targets(y), "sample_weight": w, "ids": ids}
        if not self.attempt(
            f"partial_fit {ids[0]}..{ids[-1]}",
            lambda: self.model.partial_fit(self.scene.as_input(X), **given),
        ):
            return []
        self.next_id += len(X)
        self._record(X, y, w, ids)
        return [i for i in ids if i in self.held]

    def some(self, n: int) -> list[int]:
        held = sorted(self.held)
        return self.rng.choice(held, size=min(n, len(held)), replace=False).tolist()

    def forget(self, n: int, ids=None) -> None:
        ids = self.some(n) if ids is None else ids
        if self.attempt(f"forget {ids}", lambda: self.model.forget(ids)):
            for i in ids:
                del self.held[i]

    def reweight(self, n: int) -> None:
        ids = self.some(n)
        w = self.scene.draw_weights(len(ids))
        if self.rng.random() < 0.3:
            w = w * 0.0
        shown = ", ".join(f"{v:.3g}" for v in w)
        if self.attempt(f"reweight {ids} to [{shown}]", lambda: self.model.reweight(ids, w)):
            for i, weight in zip(ids, w, strict=True):
                self.held[i] = (*self.held[i][:2], float(weight))
            self._follow_memory()  # an example before an adaptive window keeps weight 0

    def retune(self, *, back: bool) -> None:
        values = self.scene.retuned()
        previous = {name: self.params.get(name) for name in values}
        for change in (values, previous) if back else (values,):
            if not self.attempt(f"retune {change}", lambda c=change: self.model.retune(**c)):
                return
            self.params = {**self.params, **change}

    def visit(self) -> None:
        """A row far from the others comes and goes."""
        X, y, w = self.scene.draw(1)
        far = float(self.rng.choice([30.0, 1e3, 1e6]))
        t = y * far if self.scene.kind == "epssvr" else y
        ids = self.add(
            1, (self.scene.offset + (X - self.scene.offset + self.scene.scale) * far, t, w)
        )
        if ids:
            self.forget(1, ids)

    def copy(self) -> None:
        def replace() -> None:
            self.model = pickle.loads(pickle.dumps(self.model))

        if self.attempt("pickle", replace):
            # A kernel written in Python is copied with its model.
            self.params = {**self.params, "kernel": self.model.kernel}

    def mistake(self) -> None:
        """Call supple wrongly, or with a kernel that fails."""
        if not self.held:
            return
        X, y, _ = self.scene.draw(3)
        X_in, model = self.scene.as_input(X), self.model
        target, known = self._targets(y), self.some(1)[0]
        bad = {"C": -1.0} if "C" in self.params else {"nu": 2.0}
        mistakes = {
            "forget an unknown id": lambda: model.forget([known, 10**12]),
            "forget an id twice": lambda: model.forget([known, known]),
            "learn an id again": lambda: model.partial_fit(
                X_in, **target, ids=[known, 10**9, 10**9 + 1]
            ),
            "a wrong width": lambda: model.partial_fit(np.ones((3, self.scene.d + 1)), **target),
            "NaN": lambda: model.partial_fit(np.full((3, self.scene.d), np.nan), **target),
            "a negative weight": lambda: model.reweight([known], [-1.0]),
            "a bad parameter": lambda: model.retune(**bad),
        }
        if callable(self.params["kernel"]) and self.rng.random() < 0.7:
            self._with_failing_kernel(X, y)
            return
        name = str(self.rng.choice(list(mistakes)))
        self.attempt(f"mistake: {name}", mistakes[name], wrong=True)

    def _with_failing_kernel(self, X, y) -> None:
        kernel, ids = self.params["kernel"], list(range(self.next_id, self.next_id + 3))

        def learn() -> None:
            kernel.fuse = int(self.rng.integers(0, 4))
            try:
                self.model.partial_fit(self.scene.as_input(X), **self._targets(y), ids=ids)
            finally:
                kernel.fuse = None

        if self.attempt("a failing kernel", learn):
            self.next_id += 3
            self._record(X, y, np.ones(3), ids)


def type_of_supple(kind: type) -> bool:
    """Whether an exception or a warning is one that supple documents."""
    return kind.__module__.startswith("supple") or issubclass(kind, NotFittedError)


def state(model) -> dict | None:
    """What a failing operation must leave as it was; None before the first one."""
    if "_model" not in vars(model):
        return None
    coef = model.dual_coef_
    return {
        "ids": model.ids_,
        "support": model.support_,
        "coef": coef.toarray() if hasattr(coef, "toarray") else coef,
        "intercept": model.intercept_,
        "exact": np.array(model.exact_),
        "seen": np.array(model.n_samples_seen_),
        "params": np.array(repr(sorted((k, repr(v)) for k, v in model.get_params().items()))),
    }


def same_state(before: dict | None, after: dict | None) -> bool:
    if before is None or after is None:
        return before is after
    return all(np.array_equal(before[k], after[k], equal_nan=k == "intercept") for k in before)
