"""Classification: labels, class weights, votes, and scikit-learn's layout of the machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Hidden, StrOptions

from supple.errors import InfeasibleError, InvalidInputError, warn_user
from supple.estimators._base import BaseSVM
from supple.estimators._batch import check_query
from supple.estimators._fitted import Support
from supple.estimators._ids import IdsLike
from supple.estimators._labels import LabelTable, whole_class_weight
from supple.estimators._model import Batch, Model, Names
from supple.estimators._params import check_class_weight, show
from supple.estimators._targets import Labels, first_labels
from supple.locks import reads, replaces, writes
from supple.multiclass import OneVsOne, OneVsRest, Plan

if TYPE_CHECKING:
    from supple.engine import HeadReader

# Parameters of scikit-learn's classifiers that have no effect here; "probability" warns.
IGNORED: dict[str, Any] = {
    "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
    "random_state": ["random_state"],
}


@dataclass(frozen=True)
class Classes:
    """The classes, sorted by label, and the positions of their machines in the engine.

    `columns` and `signs` map the engine's heads to scikit-learn's machines: for two classes one
    that is positive on the second; one-vs-one (i, j) with i < j positive on i; one-vs-rest i
    positive on i. `only` is the place of the only class with examples; there are then no machines.
    """

    labels: NDArray[Any]
    codes: list[int]
    columns: NDArray[np.intp]
    signs: NDArray[np.float64]
    only: int | None


def _present_codes(model: Model) -> list[int]:
    """Return the codes of the classes that have an example with positive weight."""
    state = model.state
    if state.n == 0:
        return []
    total = np.bincount(state.y.astype(np.intp), weights=state.weight)
    return np.flatnonzero(total).tolist()


class BaseClassifier(ClassifierMixin, BaseSVM):
    """Base of SVC and NuSVC."""

    _parameter_constraints: dict[str, Any] = {
        **BaseSVM._parameter_constraints,
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "multi_class": [StrOptions({"ovo", "ovr"})],
    }
    _targets = Labels()
    class_weight: Any = None  # NuSVC has no such parameter

    # ------------------------------------------------------------------ hooks of the base

    def _first_labels(self, classes: ArrayLike | None) -> tuple[LabelTable, dict[int, float]]:
        return first_labels(self.class_weight, classes)

    def _plan(self) -> Plan:
        return OneVsOne() if self.multi_class == "ovo" else OneVsRest()

    def _check_params(self, params: Mapping[str, Any]) -> None:
        name = type(self).__name__
        if params["multi_class"] == "ovr" and params["decision_function_shape"] == "ovo":
            raise InvalidInputError(
                f"The 'decision_function_shape' parameter of {name} cannot be 'ovo' with "
                "multi_class='ovr': there are no pairwise machines. Change one of the two."
            )
        if isinstance(params.get("class_weight"), dict):
            check_class_weight(name, params["class_weight"])
        if params.get("probability", "deprecated") != "deprecated":
            warn_user(
                f"The `probability` parameter was deprecated in scikit-learn 1.9 and has no effect "
                f"in supple: {name} has no predict_proba. Use "
                f"`LeaveOneOutCalibrator({name}())` of supple.diagnostics instead of "
                f"`{name}(probability=True)`.",
                FutureWarning,
            )

    def _later_labels(self, model: Model, classes: ArrayLike | None) -> LabelTable:
        if classes is None:
            return model.labels
        held = np.unique(model.state.y).astype(np.intp).tolist()  # also those of weight 0
        return model.labels.declare(classes, map(model.labels.label, held))

    def _new_class_weight(
        self, model: Model, class_weight: Any
    ) -> tuple[LabelTable, dict[int, float]]:
        if class_weight == "balanced":
            raise InvalidInputError(
                "class_weight='balanced' is for fit only. Give retune the weights as a dict."
            )
        weights, labels = model.labels.weights(class_weight)
        if labels is not model.labels:
            raise InvalidInputError(
                f"The 'class_weight' given to retune has {labels.beyond(model.labels)}, which are "
                "not labels the model knows. Leave them out, or declare them first by "
                "partial_fit(X, y, classes=...)."
            )
        return labels, weights

    def _check_whole(self, batch: Batch, class_weight: dict[int, float]) -> dict[int, float]:
        return whole_class_weight(
            type(self).__name__, self.class_weight, class_weight, batch.targets, batch.weight,
            batch.labels,
        )  # fmt: skip

    # ------------------------------------------------------------------ public methods

    @replaces
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
        timestamps: ArrayLike | None = None,
    ) -> Self:
        """Fit the machine to a training set, replacing what was learned before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; for ``kernel="precomputed"`` the square kernel matrix.
        y : array-like of shape (n_samples,)
            Class labels, at least two different ones.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0. Weight 2 is the same as two copies of an example.
        ids, groups : iterable of int, str or other hashable, default=None
            Names of the examples and what they belong to, as in `partial_fit`.
        timestamps : array-like of shape (n_samples,), default=None
            When the examples arrived, as in `partial_fit`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        return self._begin(X, y, sample_weight, Names(ids, groups, timestamps), whole=True)

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
        """Add examples to the model exactly; start a model if there is none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New points.
        y : array-like of shape (n_samples,)
            Their labels. New classes may appear at any time, unless `classes` was given.
        classes : array-like, default=None
            All labels that may ever occur; other labels are then an error. With two classes
            the decision function is defined from the first example on.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0. An example of weight 0 is stored but has no effect.
        ids : iterable of int, str or other hashable, default=None
            Ids of the examples, for `forget` and `reweight`: of one kind, and unique among those
            held. None numbers the examples in order of arrival, if ids are integers.
        groups : iterable of int, str or other hashable, default=None
            What each example belongs to, say a customer, for `forget(groups=...)`.
        timestamps : array-like of shape (n_samples,), default=None
            When the examples arrived: non-decreasing numbers or datetimes. Only for memories with
            ``unit="time"``, such as ``Window(size=3600, unit="time")``.

        Returns
        -------
        self : object
            The model that `fit` gives on all examples held (with the gamma of the first batch).
        """
        return self._learn_more(X, y, sample_weight, Names(ids, groups, timestamps), classes)

    @reads
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Evaluate the decision function.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        decision : ndarray of shape (n_samples,) or (n_samples, n_classes) or \
                (n_samples, n_classes * (n_classes - 1) / 2)
            Two classes: positive for ``classes_[1]``. More classes: one column per class, or
            one per pair of classes if ``decision_function_shape="ovo"``. If two
            classes were declared to `partial_fit` and only one has examples: 1 or -1, the smallest
            constant for which none of them is a margin error.
        """
        model = self._fitted()
        classes = self._classes(model)
        if len(classes.codes) < 2:
            self._check_any_class(classes)
            raise InfeasibleError(
                f"The decision function of {type(self).__name__} needs two classes; so far only "
                f"class {show(classes.labels[0])} has examples with weight. predict gives that one."
            )
        if classes.only is not None:
            return np.full(check_query(self, X, model).shape[0], 2.0 * classes.only - 1.0)
        decision = self._machines(X, model, classes)
        if len(classes.codes) == 2:
            return decision[:, 0]
        if model.params["multi_class"] == "ovo" and self.decision_function_shape == "ovr":
            return _one_per_class(decision, len(classes.codes))
        return decision

    @reads
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Query points.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels. With one-vs-one machines the class with the most votes; of equal ones the first
            in ``classes_`` unless `break_ties`.
        """
        model = self._fitted()
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidInputError(
                "break_ties must be False when decision_function_shape is 'ovo'. Got True instead. "
                "Call set_params(break_ties=False) or set_params(decision_function_shape='ovr')."
            )
        classes = self._classes(model)
        self._check_any_class(classes)
        k = len(classes.codes)
        if classes.only is not None:
            winner = np.full(check_query(self, X, model).shape[0], classes.only, dtype=np.intp)
        elif k == 2:
            winner = (self._machines(X, model, classes)[:, 0] >= 0).astype(np.intp)
        elif model.params["multi_class"] == "ovr" or self.break_ties:
            winner = np.argmax(self.decision_function(X), axis=1)
        else:
            winner = np.argmax(_votes(self._machines(X, model, classes) > 0, k), axis=1)
        return classes.labels.take(winner)

    # ------------------------------------------------------------------ scikit-learn's layout

    def _machines(self, X: Any, model: Model, classes: Classes) -> NDArray[np.float64]:
        """Return the values of all machines in scikit-learn's order and signs."""
        return self._decide(X, model).take(classes.columns, axis=1) * classes.signs

    def _check_any_class(self, classes: Classes) -> None:
        if not classes.codes:
            raise NotFittedError(
                f"This {type(self).__name__} instance holds no example with positive weight. "
                "Call 'fit' or 'partial_fit' before using it."
            )

    def _classes(self, model: Model) -> Classes:
        if "classes" not in model.cache:
            model.cache["classes"] = self._find_classes(model, model.labels)
        return model.cache["classes"]

    def _find_classes(self, model: Model, labels: LabelTable) -> Classes:
        codes = sorted(_present_codes(model), key=labels.label)
        only = 0 if len(codes) == 1 else None
        if only is not None and len(labels.declared) == 2:
            both = sorted(labels.declared, key=labels.label)
            codes, only = both, both.index(codes[0])
        column = {key: i for i, key in enumerate(model.state.heads)}
        wanted: list[tuple[tuple[int, ...], float]]
        if only is not None or not codes:
            wanted = []
        elif model.params["multi_class"] == "ovo":
            pairs = [(a, b) for i, a in enumerate(codes) for b in codes[i + 1 :]]
            wanted = [(p, 1.0) if p in column else (p[::-1], -1.0) for p in pairs]
            if len(codes) == 2:  # scikit-learn reverses the sign of a single machine
                wanted = [(wanted[0][0], -wanted[0][1])]
        elif len(codes) == 2:
            wanted = [(key, 1.0 if key[0] == codes[1] else -1.0) for key in column]
        else:
            wanted = [((code,), 1.0) for code in codes]
        return Classes(
            labels.array(codes),
            codes,
            np.array([column[key] for key, _ in wanted], dtype=np.intp),
            np.array([sign for _, sign in wanted]),
            only,
        )

    def _oriented(self, model: Model) -> list[tuple[HeadReader, float]]:
        classes = self._classes(model)
        heads = list(model.state.heads.values())
        return [(heads[c], s) for c, s in zip(classes.columns, classes.signs.tolist(), strict=True)]

    def _find_support(self, model: Model) -> Support:
        """Return the support vectors of all machines, grouped by class, in LIBSVM's layout.

        One-vs-one: row r of the column of a class i holds its coefficient in the machine of i
        and the r-th other class. One-vs-rest and two classes: one row per machine.
        """
        classes = self._classes(model)
        k = len(classes.codes)
        machines = self._oriented(model)
        slots = np.unique(np.concatenate([np.empty(0, np.int64), *(h.slots for h, _ in machines)]))
        rank = np.zeros(max(classes.codes, default=0) + 1, dtype=np.intp)
        rank[classes.codes] = np.arange(k)
        owner = rank[model.state.y[slots].astype(np.intp)]
        order = np.argsort(owner, kind="stable")
        slots, owner = slots[order], owner[order]
        position = np.empty(model.state.n, dtype=np.intp)
        position[slots] = np.arange(len(slots))
        pairwise = model.params["multi_class"] == "ovo" and k > 2
        coef = np.zeros((k - 1 if pairwise else len(machines), len(slots)))
        pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
        for machine, (head, sign) in enumerate(machines):
            at = position[head.slots]
            row: Any = machine
            if pairwise:
                i, j = pairs[machine]
                row = np.where(owner[at] == i, j - 1, i)
            coef[row, at] = sign * head.coef
        return Support(slots, coef, np.bincount(owner, minlength=k))

    @property
    @reads
    def classes_(self) -> NDArray[Any]:
        """Sorted labels of the classes that have examples with positive weight.

        Of two declared classes both, even if one has no examples.
        """
        return self._classes(self._held()).labels.copy()

    @property
    @reads
    def class_weight_(self) -> NDArray[np.float64]:
        """Weights of the classes, in the order of ``classes_``."""
        model = self._held()
        return np.array([model.class_weight.get(k, 1.0) for k in self._classes(model).codes])

    @property
    @reads
    def n_iter_(self) -> NDArray[np.int32]:
        """Iterations of the solvers in the last update, per machine."""
        model = self._held()
        keys, iterations = list(model.state.heads), model.state.n_iter
        columns = self._classes(model).columns
        return np.array([iterations.get(keys[k], 0) for k in columns], dtype=np.int32)


@cache
def _sides(k: int) -> NDArray[np.float64]:
    """Return a matrix pairs x classes: 1 for the first class of a pair, -1 for the second."""
    first, second = np.triu_indices(k, 1)
    sides, pairs = np.zeros((len(first), k)), np.arange(len(first))
    sides[pairs, first], sides[pairs, second] = 1.0, -1.0
    sides.flags.writeable = False
    return sides


def _votes(first: NDArray[np.bool_], k: int) -> NDArray[np.float64]:
    """Return the votes for each class; `first` marks pairs that vote for their first class."""
    # Class k is the second one of k pairs.
    return first @ _sides(k) + np.arange(k)


def _one_per_class(decision: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return votes plus confidences below 1/2, as scikit-learn's `_ovr_decision_function`."""
    confidence = decision @ _sides(k)
    return _votes(decision >= 0, k) + confidence / (3.0 * (np.abs(confidence) + 1.0))
