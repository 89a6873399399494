"""The base of all estimators with a kernel: parameters, locks, replacement of the model."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval, StrOptions

from supple.errors import worded
from supple.estimators._params import ANY_KERNEL, resolve_threads
from supple.estimators._points import FEATURES
from supple.estimators._targets import Targets
from supple.interrupts import Shielded
from supple.locks import LOCK, guards, reads, writes


def not_fitted(estimator: Any) -> NotFittedError:
    """Return the error of an estimator that has learned nothing, in scikit-learn's words."""
    return NotFittedError(
        f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' or 'partial_fit' "
        "with appropriate arguments before using this estimator."
    )


class KernelEstimator(BaseEstimator):
    """Base of every estimator that has a kernel: parameters, locks, replacement of the model."""

    _parameter_constraints: dict[str, Any] = {
        "kernel": ANY_KERNEL,
        "degree": [Interval(Integral, 0, 2**31 - 1, closed="both")],
        "gamma": [
            StrOptions({"scale", "auto"}),
            Interval(Real, 0.0, None, closed="left"),
        ],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "verbose": ["verbose"],
        "n_jobs": "no_validation",  # see resolve_threads, which also checks before predictions
        "max_iter": [Interval(Integral, -1, 2**63 - 1, closed="both")],
    }
    _targets = Targets()
    n_features_in_: int
    kernel: Any
    n_jobs: int | None

    def _threads(self) -> int:
        return resolve_threads(type(self).__name__, self.n_jobs)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = worded(cls.__init__)  # type: ignore[method-assign]

    @reads
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of a kernel object.

        Returns
        -------
        params : dict
            Values by name.
        """
        return super().get_params(deep)

    @writes
    def set_params(self, **params: Any) -> Self:
        """Set parameters, which take effect at the next `fit`.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : object
            The estimator.
        """
        return super().set_params(**params)

    @reads
    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())  # a copy: it may be the estimator's own dictionary
        state.pop(LOCK, None)
        return state

    def _unfitted(self) -> Self:
        """Return an unfitted estimator with these parameters, to check a batch with."""
        twin = type(self).__new__(type(self))
        fitted = {LOCK, "_model", *FEATURES}
        twin.__dict__.update((k, v) for k, v in self.__dict__.items() if k not in fitted)
        return twin

    def _swap(self, model: Any, twin: Self) -> None:
        """Replace the present model, if any, by a new one with the features of `twin`."""
        new = {name: twin.__dict__[name] for name in FEATURES if name in twin.__dict__}
        with guards(self).writing, Shielded():
            for name in FEATURES:
                self.__dict__.pop(name, None)
            self.__dict__.update(new, _model=model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
