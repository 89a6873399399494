"""Fitted attributes: views of the engine, computed on access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from supple.errors import InfeasibleError
from supple.estimators._batch import check_query
from supple.estimators._estimator import KernelEstimator, not_fitted
from supple.estimators._model import Model
from supple.estimators._params import show
from supple.estimators._points import Points
from supple.locks import reads
from supple.memory import Memory

if TYPE_CHECKING:
    from supple.engine import HeadReader


class Support:
    """Support vectors in scikit-learn's order: slots, coefficients, number per class."""

    def __init__(
        self, slots: NDArray[np.int64], coef: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> None:
        self.slots = slots
        self.coef = coef
        self.counts = counts


class FittedAttributes(KernelEstimator):
    """Attributes of scikit-learn's SVMs, and those of exact models.

    Before `fit` each of them raises NotFittedError, which is an AttributeError.
    """

    _model: Model

    @reads
    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if "_model" in state:
            state["_model"] = self._model.still()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in state:
            self._model = state["_model"].revive()

    @reads
    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in self.__dict__ and self._model.state.n > 0

    def _held(self) -> Model:
        """Return the model, which may be empty."""
        model: Model | None = self.__dict__.get("_model")
        if model is None:
            raise not_fitted(self)
        return model

    def _fitted(self) -> Model:
        """Return the model, which holds examples."""
        model = self._held()
        if model.state.n == 0:
            raise NotFittedError(
                f"This {type(self).__name__} instance holds no examples: all were forgotten. "
                "Call 'fit' or 'partial_fit' before using it."
            )
        return model

    def _require_ready(self, model: Model, what: str) -> None:
        reason = model.state.waiting
        if reason:
            raise InfeasibleError(f"{type(self).__name__} {what}: {reason}")

    # ------------------------------------------------------------------ decision values

    def _decide(self, X: Any, model: Model) -> NDArray[np.float64]:
        """Return f(X) of every head in the engine's order."""
        points = check_query(self, X, model)
        self._require_ready(model, "cannot predict yet")
        return model.state.decision(points, self._threads())

    # ------------------------------------------------------------------ views of the heads

    def _oriented(self, model: Model) -> list[tuple[HeadReader, float]]:
        """Return the heads in scikit-learn's order, each with its sign there."""
        return [(head, 1.0) for head in model.state.heads.values()]

    def _find_support(self, model: Model) -> Support:
        for head in model.state.heads.values():
            return Support(head.slots, np.array(head.coef, ndmin=2), np.array([len(head.slots)]))
        return Support(np.empty(0, dtype=np.int64), np.empty((1, 0)), np.array([0]))

    def _support(self) -> Support:
        model = self._held()
        if "support" not in model.cache:
            model.cache["support"] = self._find_support(model)
        return model.cache["support"]

    @property
    @reads
    def support_(self) -> NDArray[np.int32]:
        """Positions of the support vectors in ``ids_``, grouped by class."""
        return self._support().slots.astype(np.int32)

    @property
    @reads
    def support_ids_(self) -> NDArray[Any]:
        """Ids of the support vectors, in the order of ``support_``."""
        return self.ids_[self.support_]

    @property
    @reads
    def support_vectors_(self) -> Points:
        """Support vectors, CSR if the model holds CSR; empty if the kernel is precomputed."""
        model = self._held()
        if model.params["kernel"] == "precomputed":
            return np.empty((0, 0))
        return model.state.points(self.support_)

    @property
    @reads
    def n_support_(self) -> NDArray[np.int32]:
        """Number of support vectors, per class for classifiers."""
        return self._support().counts.astype(np.int32)

    @property
    @reads
    def dual_coef_(self) -> Any:
        """Coefficients of the support vectors in the decision function, CSR if these are."""
        container = self._held().container
        coef = self._support().coef
        return coef.copy() if container is None else container(coef)

    @property
    @reads
    def intercept_(self) -> NDArray[np.float64]:
        """Constants of the decision functions."""
        return np.array([sign * head.intercept for head, sign in self._oriented(self._held())])

    @property
    @reads
    def coef_(self) -> Any:
        """Weights of the features, one row per decision function (linear kernel only)."""
        model = self._held()
        if model.params["kernel"] != "linear":
            raise AttributeError(
                "coef_ is only available when using a linear kernel. Got kernel="
                f"{show(model.params['kernel'])} instead. Fit with kernel='linear'."
            )
        coef = np.zeros((len(model.state.heads), self.n_features_in_))
        for row, (head, sign) in zip(coef, self._oriented(model), strict=True):
            row[:] = sign * (head.coef @ model.state.points(head.slots))
        coef.flags.writeable = False
        return model.container(coef) if model.sparse else coef

    @property
    @reads
    def n_iter_(self) -> Any:
        """Iterations of the solvers in the last update."""
        return next(iter(self._held().state.n_iter.values()), 0)

    # ------------------------------------------------------------------ what it holds, how well

    @property
    @reads
    def ids_(self) -> NDArray[Any]:
        """Ids of the examples held: int64 if they are integers, else objects."""
        return self._held().state.ids

    @property
    @reads
    def groups_(self) -> NDArray[Any]:
        """Groups of the examples held, in the order of ``ids_``; None for those of no group."""
        return self._held().state.groups

    @property
    @reads
    def memory_(self) -> Memory:
        """A copy of the memory, with what it remembers."""
        return self._held().engine.memory.copied()

    @property
    @reads
    def sample_weight_(self) -> NDArray[np.float64]:
        """Weights of the examples held, in the order of ``ids_``."""
        return self._held().state.weight

    @property
    @reads
    def n_samples_seen_(self) -> int:
        """Number of examples learned since the last `fit`, forgotten ones included."""
        return self._held().state.seen

    @property
    @reads
    def n_kernel_evals_(self) -> int:
        """Kernel values computed for learning since the last `fit`.

        A linear kernel often needs none: batches are then solved with the weight vector.
        """
        return self._held().state.kernel_evaluations

    @property
    @reads
    def shape_fit_(self) -> tuple[int, ...]:
        """Number of examples held and, if they have features, number of features."""
        n = self._held().state.n
        return (n, self.n_features_in_) if hasattr(self, "n_features_in_") else (n,)

    @property
    @reads
    def kkt_violation_(self) -> float:
        """Largest violation of the optimality conditions, computed afresh."""
        return self._held().state.kkt_violation

    @property
    @reads
    def dual_objective_(self) -> float:
        """Dual objective (to be maximised), summed over the machines, computed afresh."""
        return float(sum(h.dual_objective() for h in self._held().state.heads.values()))

    @property
    @reads
    def exact_(self) -> bool:
        """Whether the model is the exact optimum.

        False if the kernel is indefinite, or if the last update was stopped by `max_iter` or by
        rounding.
        """
        return self._held().state.exact

    @property
    @reads
    def fit_status_(self) -> int:
        """0 if all machines have converged, 1 otherwise."""
        return int(not self._held().state.converged)

    @property
    @reads
    def _gamma(self) -> float:
        """The value of gamma="scale" or "auto", fixed at the first batch."""
        return self._held().gamma
