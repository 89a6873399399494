"""Online support vector classification by LASVM."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from supple import problems
from supple.engine import OnlineEngine, Schedule, State, Step
from supple.errors import InvalidInputError
from supple.estimators._classifier import BaseClassifier
from supple.estimators._docs import completed_by
from supple.estimators._ids import IdsLike
from supple.estimators._model import Batch, Model, Names
from supple.estimators._params import KERNEL_OF_POINTS
from supple.estimators.svc import SVC
from supple.kernels import Kernel
from supple.locks import reads, writes
from supple.memory import Budget, KeepAll, Memory
from supple.solvers import Settings


@completed_by(SVC)
class LASVC(BaseClassifier):
    """Classify by a machine that visits each example once and keeps few of them.

    The objective is that of :class:`SVC`. Each example takes one step with the most violating
    partner (PROCESS), followed by steps of the most violating pairs of the current expansion
    (REPROCESS); unused examples are dropped at once. One pass comes close to the optimum; `finish`
    continues until no pair of the examples kept violates the optimality conditions
    by more than `tol`. The method is that of Bordes, Ertekin, Weston and Bottou (2005).

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in :class:`SVC`, except "precomputed".
    tol : float, default=1e-3
        Pairs that violate the conditions by more take a step (tau in the paper).
    epochs : int, default=1
        Number of passes over each batch.
    selection : {"random", "gradient", "active", "autoactive"}, default="random"
        Which example of the batch is next: a random one; of 50 random ones that with the largest
        loss ("gradient") or the one closest to the decision boundary ("active"); or the closest of
        random ones drawn until five are inside the margin, at most 100 ("autoactive").
    share : float, default=1.0
        Share of a batch that is processed in an epoch; the others are dropped. For use with a
        selection. The first five examples of a new class are always processed.
    reprocess : int, default=1
        Steps of REPROCESS after each example.
    finishing : bool, default=True
        Whether `fit` ends with `finish`. `partial_fit` never does.
    max_vectors : int, default=None
        Most examples kept after a call, at least 2: beyond them, the closest two of one class
        become their weighted mean, with the sum of their coefficients (see
        :class:`~supple.memory.Budget`). Every class keeps one example. None: no bound; where
        classes overlap, memory and time per example then grow with the stream.
    max_iter : int, default=-1
        Limit on the steps of `finish` in each machine, beyond which it gives a NotConvergedWarning;
        -1 means a million and 100 for each example kept.
    n_jobs : int, default=None
        Threads of `finish` and of predictions; None means 1, -1 all processors.
    random_state : int, default=None
        Seed of the order of the examples.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One machine per pair of classes, or one per class against the rest. All share the
        examples kept and their kernel rows.

    Attributes
    ----------
    memory_ : Memory
        With `max_vectors` a Budget, whose ``stands_for_`` lists merged examples.
    n_process_ : int
        Number of examples processed. In later epochs those still kept do not count.
    n_iter_ : ndarray of shape (n_machines,)
        Steps of PROCESS, REPROCESS and `finish` in the last update.
    ids_, groups_ : ndarray of shape (n_held,)
        Ids of the examples kept, and their groups.
    kkt_violation_, dual_objective_ : float
        How far from optimal the machine is on the examples kept.
    exact_ : bool
        Always False.
    fit_status_ : int
        0 if no pair of the examples kept violates the conditions by more than `tol`.
    n_samples_seen_ : int
        Examples given since the last `fit`.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from supple import LASVC
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> model = LASVC(C=10, gamma=1.0, random_state=0)
    >>> for start in range(0, 400, 50):
    ...     _ = model.partial_fit(X[start : start + 50], y[start : start + 50])
    >>> model.finish().score(X, y) > 0.95, len(model.ids_) < 200
    (True, True)
    """

    _parameter_constraints: dict[str, Any] = {
        **BaseClassifier._parameter_constraints,
        "kernel": KERNEL_OF_POINTS,
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "epochs": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"random", "gradient", "active", "autoactive"})],
        "share": [Interval(Real, 0.0, 1.0, closed="right")],
        "reprocess": [Interval(Integral, 0, None, closed="left")],
        "finishing": ["boolean"],
        "max_vectors": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both"), None],
    }
    _tunable = ()

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        epochs: int = 1,
        selection: str = "random",
        share: float = 1.0,
        reprocess: int = 1,
        finishing: bool = True,
        max_vectors: int | None = None,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        random_state: int | None = None,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        multi_class: str = "ovo",
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.epochs = epochs
        self.selection = selection
        self.share = share
        self.reprocess = reprocess
        self.finishing = finishing
        self.max_vectors = max_vectors
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.multi_class = multi_class

    @completed_by(BaseClassifier.partial_fit)
    @writes
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Process examples, one after the other; start a model if there is none.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Their labels. New classes may appear at any time, unless `classes` was given. While
            there is only one class, all its examples are kept.
        classes : array-like, default=None
            All labels that may ever occur; other labels are then an error.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 on C. Examples of weight 0 are ignored.
        ids : iterable of int, str or other hashable, default=None
            Ids of the examples: of one kind, and unique among those kept. None numbers them in
            order of arrival, if ids are integers.
        groups : iterable of int, str or other hashable, default=None
            What each example belongs to; see ``groups_``.
        timestamps : None
            Must be None: LASVM has no window of time.

        Returns
        -------
        self : object
            The estimator.
        """
        return self._learn_more(X, y, sample_weight, Names(ids, groups, timestamps), classes)

    @writes
    def finish(self) -> Self:
        """Step until no pair of the examples kept violates the conditions by more than `tol`.

        Gives a NotConvergedWarning if that takes more than `max_iter` steps.

        Returns
        -------
        self : object
            The estimator, which can continue to learn.
        """
        model = self._fitted()
        self._check_unchanged(model, "finish")
        engine = _online(model)
        engine.run.threads = self._threads()
        engine.run.progress = self._progress()
        model.cache.clear()
        return self._after(model, engine.finish(), "finish")

    @property
    @reads
    def n_process_(self) -> int:
        """Number of examples processed."""
        return _online(self._held()).processed

    # ------------------------------------------------------------------ hooks of the base

    def _problem(self, params: Mapping[str, Any]) -> problems.CSVC:
        return problems.CSVC(float(params["C"]))

    def _settings(self, params: Mapping[str, Any], kernel: Kernel) -> Settings:
        return super()._settings(params, kernel)._replace(exact=False)

    def _engine(self, params: Mapping[str, Any], state: State, memory: Memory) -> OnlineEngine:
        schedule = Schedule(
            params["selection"],
            int(params["epochs"]),
            float(params["share"]),
            int(params["reprocess"]),
        )
        return OnlineEngine(state, schedule, params["random_state"], memory)

    def _memory(self, params: Mapping[str, Any]) -> Memory:
        bound = params["max_vectors"]
        return KeepAll() if bound is None else Budget(bound)

    def _check_params(self, params: Mapping[str, Any]) -> None:
        super()._check_params(params)
        if params["max_vectors"] is not None and params["epochs"] > 1:
            raise InvalidInputError(
                f"The 'epochs' parameter of LASVC must be 1 with max_vectors. Got "
                f"{params['epochs']} instead: an example that was merged would count again."
            )

    def _learn(self, model: Model, batch: Batch, *, whole: bool) -> Step:
        step = super()._learn(model, batch, whole=whole)
        return _online(model).finish(after=step) if whole and self.finishing else step


def _online(model: Model) -> OnlineEngine:
    assert isinstance(model.engine, OnlineEngine)
    return model.engine
