"""The base of RVC and RVR: the examples held, the refit, and the moments of f."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cache
from time import perf_counter
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import ThreadpoolController

from supple.errors import InvalidInputError, PrecomputedUpdateError, warn_user
from supple.estimators._batch import check_batch
from supple.estimators._estimator import KernelEstimator, not_fitted
from supple.estimators._gamma import resolve_gamma
from supple.estimators._labels import LabelTable
from supple.estimators._model import Batch, Names, make_kernel
from supple.estimators._params import check_constraints
from supple.estimators._points import Points
from supple.estimators._warnings import NotConvergedWarning
from supple.gram import gram_for
from supple.kernels import Kernel, Precomputed
from supple.locks import reads
from supple.progress import Progress
from supple.rvm import Posterior

_HEAVIEST = 1e9  # weight of an example; beyond, the others vanish in rounding
# Fourth powers of kernel values, summed over the examples, must neither overflow nor vanish.
_SMALLEST, _LARGEST = 1e-30, 1e30


@dataclass(frozen=True)
class Relevance:
    """The examples held and the machines fitted to them.

    `machines` refer to columns of the examples held; `slots` are all columns in use, sorted.
    """

    params: dict[str, Any]
    gamma: float
    X: Points
    targets: NDArray[np.float64]
    weight: NDArray[np.float64]
    labels: LabelTable
    codes: list[int]  # of the classes that carry weight, sorted by label
    machines: list[Posterior]
    kernel_evaluations: int  # to learn, since the last fit

    @property
    def sparse(self) -> bool:
        """Whether the model holds CSR points."""
        return bool(sp.issparse(self.X))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the points."""
        return self.X.dtype

    @property
    def slots(self) -> NDArray[np.intp]:
        """Columns that any machine uses, sorted."""
        used = [machine.members for machine in self.machines]
        return np.unique(np.concatenate([np.empty(0, dtype=np.intp), *used]))

    def rows(self, attribute: str, fill: float) -> NDArray[np.float64]:
        """Return an attribute of the machines, one row each, by column of `slots`."""
        slots = self.slots
        out = np.full((len(self.machines), len(slots)), fill)
        for row, machine in zip(out, self.machines, strict=True):
            row[np.searchsorted(slots, machine.members)] = getattr(machine, attribute)
        return out

    def moments(
        self, query: Points, threads: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and variance of f at the points, one column for each machine."""
        slots = self.slots
        if self.params["kernel"] == "precomputed":
            block = np.asarray(query[:, slots], dtype=np.float64)
        else:
            kernel = make_kernel(self.params, self.gamma)
            block = kernel_block(kernel, self.X[slots], query, threads)
        shape = (query.shape[0], len(self.machines))
        mean, variance = np.empty(shape), np.empty(shape)
        with np.errstate(over="ignore", invalid="ignore"):  # checked below
            for i, machine in enumerate(self.machines):
                own = block[:, np.searchsorted(slots, machine.members)]
                mean[:, i], variance[:, i] = machine.moments(own)
        beyond = ~(np.isfinite(mean) & np.isfinite(variance)).all(axis=1)
        if beyond.any():
            raise InvalidInputError(
                f"The prediction for row {int(beyond.argmax())} of X overflows: its kernel values "
                f"are as large as {np.abs(block[beyond]).max():.1e}. Scale the features as those "
                "of the training set, or choose another kernel."
            )
        return mean, variance


def kernel_block(
    kernel: Kernel, points: Points, query: Points, threads: int
) -> NDArray[np.float64]:
    """Return k(query, points); the matrix itself if the kernel is precomputed."""
    if isinstance(kernel, Precomputed):
        return np.array(query, dtype=np.float64)
    gram = gram_for(kernel, points, 0)
    gram.append(points)
    gram.core.threads = threads
    return gram.block(np.arange(points.shape[0], dtype=np.int64), query)


@cache
def _blas() -> ThreadpoolController:
    """Return the thread pools of the linear algebra; cached, as finding them takes milliseconds."""
    return ThreadpoolController()


class BaseRVM(KernelEstimator):
    """Base of RVC and RVR."""

    _model: Relevance
    verbose: Any

    # ------------------------------------------------------------------ for subclasses

    def _first_labels(self, classes: ArrayLike | None) -> tuple[LabelTable, dict[int, float]]:
        """Return the label table before the first batch, and class weights by code."""
        return LabelTable(), {}

    def _later_labels(self, model: Relevance, classes: ArrayLike | None) -> LabelTable:
        """Return the label table before a later batch."""
        return model.labels

    @abstractmethod
    def _train(
        self, K: NDArray[np.float64], batch: Batch, whole: bool, progress: Progress | None
    ) -> tuple[list[int], list[Posterior]]:
        """Return the codes of the classes and the machines for all examples held."""

    def _check_heaviest(self, weight: NDArray[np.float64]) -> None:
        heaviest = float(weight.max())
        if heaviest > _HEAVIEST:
            raise InvalidInputError(
                f"The weights of {type(self).__name__}, with those of the classes, say how many "
                f"copies of an example there are, and must be at most {_HEAVIEST:.0e}. Got "
                f"{heaviest:.3g} instead. Scale them to a mean of 1."
            )

    def _check_params(self) -> None:
        """Check combinations of parameters."""

    # ------------------------------------------------------------------ learning

    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        classes: ArrayLike | None = None,
        *,
        whole: bool,
    ) -> Self:
        """Fit to a batch and, unless it is the whole, to all examples held before."""
        start = perf_counter()
        name = type(self).__name__
        params = self.get_params(deep=False)
        check_constraints(type(self), self._parameter_constraints, params)
        self._check_params()
        threads = self._threads()
        old: Relevance | None = None if whole else self.__dict__.get("_model")
        if old is not None and "precomputed" in (params["kernel"], old.params["kernel"]):
            raise PrecomputedUpdateError(
                "partial_fit needs kernel values that a precomputed matrix does not have. Pass the "
                "kernel as a callable, kernel=function(X, Y), and the points themselves as X."
            )
        # The present model keeps its description of the features.
        if old is None:
            checker, labels = self._unfitted(), self._first_labels(classes)[0]
        else:
            checker, labels = self, self._later_labels(old, classes)
        batch = check_batch(checker, X, y, sample_weight, Names(), labels, old)
        if old is not None:
            batch = _join(old, batch)
        gamma = resolve_gamma(params, batch.X, batch.weight)
        progress = Progress(name) if self.verbose else None
        K = kernel_block(make_kernel(params, gamma), batch.X, batch.X, threads)
        computed = 0 if params["kernel"] == "precomputed" else K.size
        if old is not None:
            computed += old.kernel_evaluations
        largest = float(np.abs(K).max())
        if largest != 0.0 and not _SMALLEST < largest < _LARGEST:
            raise InvalidInputError(
                f"{name} needs kernel values whose largest is between {_SMALLEST:.0e} and "
                f"{_LARGEST:.0e}. Got {largest:.1e}. Scale the features (for instance to mean "
                "0 and variance 1), or choose another gamma or degree."
            )
        # Sums in another order round differently, and a search among many maxima may then end at
        # another one. Besides, threads that wait for a busy machine cost more than they do.
        with _blas().limit(limits=1, user_api="blas"):
            codes, machines = self._train(K, batch, whole, progress)
        points = batch.X.copy()  # the user may change theirs
        held = (points, batch.targets, batch.weight, batch.labels)
        self._swap(Relevance(params, gamma, *held, codes, machines, computed), checker)
        self._report("fit" if whole else "partial_fit", perf_counter() - start)
        return self

    def _report(self, action: str, seconds: float) -> None:
        model, name = self._model, type(self).__name__
        if self.verbose:
            moves = sum(machine.n_iter for machine in model.machines)
            evidence = sum(machine.log_evidence for machine in model.machines)
            print(
                f"[{name}] {action} {len(model.targets)}: {len(model.machines)} machines, {moves} "
                f"moves, {len(model.slots)} relevance vectors, log evidence {evidence:.6g}, "
                f"{1e3 * seconds:.2f} ms"
            )
        if not all(machine.converged for machine in model.machines):
            warn_user(
                f"{name} stopped at max_iter={model.params['max_iter']} moves before the marginal "
                "likelihood was at its maximum. Raise max_iter, or set it to -1 for no limit.",
                NotConvergedWarning,
            )

    @reads
    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__

    def _held(self) -> Relevance:
        model: Relevance | None = self.__dict__.get("_model")
        if model is None:
            raise not_fitted(self)
        return model

    # ------------------------------------------------------------------ fitted attributes

    @property
    @reads
    def relevance_(self) -> NDArray[np.int32]:
        """Positions of the relevance vectors among the examples, in order of arrival."""
        return self._held().slots.astype(np.int32)

    @property
    @reads
    def relevance_vectors_(self) -> Points:
        """Relevance vectors, CSR if the model holds CSR; empty if the kernel is precomputed."""
        model = self._held()
        if model.params["kernel"] == "precomputed":
            return np.empty((0, 0))
        return model.X[model.slots]

    @property
    @reads
    def n_relevance_(self) -> NDArray[np.int32]:
        """Number of relevance vectors of each machine."""
        return np.array([len(m.members) for m in self._held().machines], dtype=np.int32)

    @property
    @reads
    def dual_coef_(self) -> NDArray[np.float64]:
        """Posterior means of the weights, one row for each machine."""
        return self._held().rows("mean", 0.0)

    @property
    @reads
    def alpha_(self) -> NDArray[np.float64]:
        """Precisions of the weights, infinite where a machine does not use a vector."""
        return self._held().rows("alpha", np.inf)

    @property
    @reads
    def intercept_(self) -> NDArray[np.float64]:
        """Posterior means of the bias, one for each machine."""
        return np.array([machine.bias for machine in self._held().machines])

    @property
    @reads
    def n_samples_seen_(self) -> int:
        """Number of examples learned since the last `fit`."""
        return len(self._held().targets)

    @property
    @reads
    def n_kernel_evals_(self) -> int:
        """Kernel values computed for learning since the last `fit`."""
        return self._held().kernel_evaluations


def _join(old: Relevance, batch: Batch) -> Batch:
    """Prepend the examples held to a batch."""
    X: Points
    if old.sparse:
        X = type(old.X)(sp.vstack([old.X, batch.X], format="csr"))
    else:
        X = np.concatenate([old.X, batch.X])
    return batch._replace(
        X=X,
        targets=np.concatenate([old.targets, batch.targets]),
        weight=np.concatenate([old.weight, batch.weight]),
    )
