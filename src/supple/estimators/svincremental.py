"""Learning batch by batch with the support vectors as the only memory."""

from __future__ import annotations

from typing import Any

from supple.estimators._docs import completed_by
from supple.estimators._refine import KeepsSupportVectors
from supple.estimators.svc import SVC
from supple.estimators.svr import SVR


@completed_by(SVC)
class SVIncrementalSVC(KeepsSupportVectors, SVC):
    """Classify by the maximum margin and keep only the support vectors of every batch.

    This is :class:`SVC` with ``memory=SupportVectors(sv_weight, ...)``: each `partial_fit` trains
    on the new batch B and the support vectors S of the step before::

        1/2 |w|^2 + C (sum_{i in B} w_i h_i + sum_{i in S} lambda_i w_i h_i),
        lambda_i = factor * L * 2^(-age_i / half_life),    h_i = max(0, 1 - y_i f(x_i)),

    exactly (Syed, Liu & Sung 1999; Rüping 2001). Memory is bounded by the support vectors and one
    batch; with several classes an example is kept if any machine needs it.

    Parameters
    ----------
    sv_weight : float or "ruping", default=1.0
        L, as `weight` of :class:`~supple.memory.SupportVectors`.
    factor, reading, half_life
        Those of :class:`~supple.memory.SupportVectors`.
    kernel : str or callable, default="rbf"
        As in :class:`SVC`, except "precomputed", which takes no updates.

    Attributes
    ----------
    sv_weight_ : dict
        Weights lambda_i w_i of the examples held, by id; w_i for those of the latest batch.
    n_batches_ : int
        Batches learned since the last `fit`, which is the first.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import SVIncrementalSVC
    >>> X = np.arange(20.0)[:, None]
    >>> model = SVIncrementalSVC(sv_weight="ruping", kernel="linear", C=10.0)
    >>> model = model.partial_fit(X[::2], X[::2, 0] > 9.5).partial_fit(X[1::2], X[1::2, 0] > 9.5)
    >>> model.sv_weight_[5], model.n_samples_seen_
    (5.0, 20)
    """

    _parameter_constraints: dict[str, Any] = {
        **SVC._parameter_constraints,
        **KeepsSupportVectors._parameter_constraints,
    }

    def __init__(
        self,
        *,
        sv_weight: float | str = 1.0,
        factor: float = 1.0,
        reading: str = "literal",
        half_life: float | None = None,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        multi_class: str = "ovo",
    ) -> None:
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            shrinking=shrinking,
            tol=tol,
            cache_size=cache_size,
            class_weight=class_weight,
            verbose=verbose,
            max_iter=max_iter,
            n_jobs=n_jobs,
            decision_function_shape=decision_function_shape,
            break_ties=break_ties,
            multi_class=multi_class,
        )
        self.sv_weight = sv_weight
        self.factor = factor
        self.reading = reading
        self.half_life = half_life


@completed_by(SVR)
class SVIncrementalSVR(KeepsSupportVectors, SVR):
    """Fit a function batch by batch and keep only the support vectors of every batch.

    This is :class:`SVR` with ``memory=SupportVectors(sv_weight, ...)``, as
    :class:`SVIncrementalSVC` is for classes; Rüping (2001) left regression open.

    Parameters
    ----------
    sv_weight, factor, reading, half_life
        As in :class:`SVIncrementalSVC`.
    kernel : str or callable, default="rbf"
        As in :class:`SVR`, except "precomputed", which takes no updates.

    Attributes
    ----------
    sv_weight_, n_batches_
        As in :class:`SVIncrementalSVC`.

    Examples
    --------
    >>> import numpy as np
    >>> from supple import SVIncrementalSVR
    >>> X = np.arange(20.0)[:, None]
    >>> model = SVIncrementalSVR(kernel="linear", C=100.0, epsilon=0.5)
    >>> model = model.partial_fit(X[:10], 2 * X[:10, 0]).partial_fit(X[10:], 2 * X[10:, 0])
    >>> len(model.ids_) < 20, bool(abs(model.predict([[30.0]])[0] - 60.0) < 2.0)
    (True, True)
    """

    _parameter_constraints: dict[str, Any] = {
        **SVR._parameter_constraints,
        **KeepsSupportVectors._parameter_constraints,
    }

    def __init__(
        self,
        *,
        sv_weight: float | str = 1.0,
        factor: float = 1.0,
        reading: str = "literal",
        half_life: float | None = None,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            C=C,
            epsilon=epsilon,
            shrinking=shrinking,
            cache_size=cache_size,
            verbose=verbose,
            max_iter=max_iter,
            n_jobs=n_jobs,
        )
        self.sv_weight = sv_weight
        self.factor = factor
        self.reading = reading
        self.half_life = half_life
