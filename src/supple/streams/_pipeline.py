"""A pipeline whose transformers are fitted to the first examples and then frozen."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if

from supple.errors import InvalidInputError
from supple.estimators._ids import IdsLike
from supple.locks import LOCK, reads, writes
from supple.streams._rows import (
    Examples,
    check_alike,
    check_raw,
    find,
    joined,
    name_examples,
    number_after,
    paired,
)
from supple.streams._steps import StreamSteps, check_refreezable, final_has, fitted, taught

__all__ = ["StreamPipeline"]


class StreamPipeline(StreamSteps):
    """Fit transformers to the first examples of a stream, then freeze them.

    A scaler that continues to learn changes the kernel values of old examples, and the model is no
    longer that of any training set. Therefore the first `n_warmup` examples are buffered. Then the
    transformers are fitted to them and frozen; the last step learns the buffered examples, and
    every later example when it arrives. The model is that of its examples, transformed by these
    transformers.

    During the warm-up `predict` and `decision_function` raise NotFittedError, which `prequential`
    counts as no answer. If the stream ends early, `finish_warmup` fits the transformers to the
    examples so far.

    When the scaling no longer fits the data, `refreeze` starts anew with the examples held. For
    this purpose the pipeline keeps their raw rows.

    Parameters
    ----------
    steps : list of (str, estimator)
        Transformers (`fit` and `transform`), then an estimator with `partial_fit`. They are cloned.
    n_warmup : int, default=100
        Number of examples to which the transformers are fitted.

    Attributes
    ----------
    transformers_ : list of estimator
        The transformers, fitted; absent during the warm-up.
    estimator_ : estimator
        The last step, fitted; absent during the warm-up.
    warming_up_ : bool
        Whether examples are still buffered.
    ids_ : ndarray of shape (n_held,)
        Ids of the examples held or buffered.
    classes_ : ndarray of shape (n_classes,)
        Labels, of classifiers.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.preprocessing import StandardScaler
    >>> from supple import SVC
    >>> from supple.streams import StreamPipeline
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2)) * [1.0, 1000.0]
    >>> y = X[:, 1] > 0.0
    >>> model = StreamPipeline([("scale", StandardScaler()), ("svm", SVC(gamma=0.5))], n_warmup=50)
    >>> for i in range(0, 300, 20):
    ...     _ = model.partial_fit(X[i : i + 20], y[i : i + 20])
    >>> model.score(X, y) > 0.95, len(model.ids_)
    (True, 300)
    """

    def __init__(self, steps: list[tuple[str, Any]], *, n_warmup: int = 100) -> None:
        self.steps = steps
        self.n_warmup = n_warmup

    # ------------------------------------------------------------------ learning

    @writes
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
    ) -> Self:
        """Fit the transformers and the last step to a training set; there is no warm-up.

        Parameters
        ----------
        X : array-like, CSR, DataFrame or sequence of texts
            Raw examples, in a form that the first transformer takes.
        y : array-like of shape (n_samples,), default=None
            Labels or targets.
        sample_weight, ids, groups : array-like, default=None
            As the last step takes them.

        Returns
        -------
        self : object
            The pipeline, with its transformers frozen.
        """
        self._check_steps()
        new = self._named(X, y, sample_weight, ids, groups, {}, 0)
        self._freeze(new, len(new), None, "fit")
        self.__dict__.update(_declared=None, _next_id=number_after(new, 0))
        return self

    @writes
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        ids: IdsLike | None = None,
        groups: IdsLike | None = None,
    ) -> Self:
        """Buffer examples during the warm-up; afterwards learn them.

        The call that ends the warm-up fits the transformers to the first `n_warmup` examples, and
        the last step learns all at once. If that fails, the pipeline is unchanged.

        Parameters
        ----------
        X : array-like, CSR, DataFrame or sequence of texts
            Raw examples, in a form that the first transformer takes.
        y : array-like of shape (n_samples,), default=None
            Labels or targets.
        classes : array-like, default=None
            All labels that may ever occur, which scikit-learn's classifiers need at the first call.
        sample_weight, ids, groups : array-like, default=None
            As the last step takes them.

        Returns
        -------
        self : object
            The pipeline.
        """
        if self.warming_up_:
            self._check_steps()
        classes = self.__dict__.get("_declared") if classes is None else np.asarray(classes)
        held, next_id = self._kept(), self.__dict__.get("_next_id", 0)
        new = self._named(X, y, sample_weight, ids, groups, held, next_id)
        if not self.warming_up_:
            self._learn(new, classes)
        elif len(held) + len(new) >= self.n_warmup:
            self._freeze(held | new, self.n_warmup, classes, "partial_fit")
        else:
            self._check_missing_values(held | new, new)
            self.__dict__.update(_examples=held | new)
        self.__dict__.update(_declared=classes, _next_id=number_after(new, next_id))
        return self

    @writes
    def finish_warmup(self) -> Self:
        """End the warm-up with the examples so far; do nothing if it is over.

        Returns
        -------
        self : object
            The pipeline, with its transformers frozen.
        """
        if not self.warming_up_:
            return self
        kept = self._kept()
        if not kept:
            raise NotFittedError(
                "This StreamPipeline has seen no examples: there is nothing to learn from. Call "
                "'partial_fit' first."
            )
        self._freeze(kept, len(kept), self.__dict__.get("_declared"), "partial_fit")
        return self

    @writes
    def refreeze(self) -> Self:
        """Fit the transformers anew to the examples held, and learn these again with them.

        Ids, groups and weights are unchanged, and ``gamma="scale"`` is computed anew. The model is
        that of `fit` on the raw examples held; ``n_samples_seen_`` of the last step counts from
        these. If anything fails, the pipeline is unchanged.

        Returns
        -------
        self : object
            The pipeline.
        """
        old = self._frozen()
        held = self._kept()
        check_refreezable(old, held)
        old_weights = dict(zip(old.ids_.tolist(), old.sample_weight_.tolist(), strict=True))
        weighted = {k: each._replace(weight=old_weights[k]) for k, each in held.items()}
        transformers, points = fitted(self.transformers_, weighted, len(weighted))
        classes = self.__dict__.get("_declared")
        fresh = taught(clone(old), points, weighted, classes, "partial_fit")
        if set(fresh.ids_.tolist()) != set(held):
            raise InvalidInputError(
                f"refreeze cannot keep the examples held: the memory of {old!r} let some of them "
                "go when they were learned again. It needs a memory such as KeepAll or Window."
            )
        weights = np.array([old_weights[name] for name in fresh.ids_.tolist()])
        if not np.array_equal(fresh.sample_weight_, weights):  # Decay lowers them with age
            fresh.reweight(fresh.ids_, weights)
        self.__dict__.update(transformers_=transformers, estimator_=fresh)
        return self

    # ------------------------------------------------------------------ what passes through

    @available_if(final_has("forget"))  # type: ignore[untyped-decorator]
    @writes
    def forget(
        self,
        ids: IdsLike | None = None,
        *,
        groups: IdsLike | None = None,
        missing: str = "error",
        **options: Any,
    ) -> Self:
        """Forget examples exactly, including their raw rows.

        Parameters
        ----------
        ids, groups : int, str or other hashable, or iterable of these, default=None
            Which examples, by their ids or by their groups.
        missing : {"error", "ignore"}, default="error"
            Whether unknown ids or groups are an error or are ignored.
        **options : dict
            Further keywords of the last step.

        Returns
        -------
        self : object
            The pipeline. The transformers, which may depend on these examples, change only by
            `refreeze`.
        """
        if self.warming_up_:
            leaving = set(find(self._kept(), ids, groups, missing=missing))
            left = {k: each for k, each in self._kept().items() if k not in leaving}
            self.__dict__.update(_examples=left)
            return self
        try:
            self.estimator_.forget(ids, groups=groups, missing=missing, **options)
        finally:
            self._prune()
        return self

    @available_if(final_has("reweight"))  # type: ignore[untyped-decorator]
    @writes
    def reweight(self, ids: IdsLike, sample_weight: ArrayLike, *, missing: str = "error") -> Self:
        """Change the weights of examples exactly.

        Parameters
        ----------
        ids : int, str or other hashable, or iterable of these
            Which examples.
        sample_weight : float or array-like of float
            New weights >= 0, one for all or one per id.
        missing : {"error", "ignore"}, default="error"
            Whether unknown ids are an error or are ignored with their weights.

        Returns
        -------
        self : object
            The pipeline.
        """
        if not self.warming_up_:
            self.estimator_.reweight(ids, sample_weight, missing=missing)
            return self
        kept, weights = self._kept(), paired(ids, sample_weight)
        chosen = find(kept, list(weights), missing=missing)
        changed = {name: kept[name]._replace(weight=weights[name]) for name in chosen}
        self.__dict__.update(_examples=kept | changed)
        return self

    @reads
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict by the last step; raise NotFittedError during the warm-up."""
        return self._frozen().predict(self.transform(X))

    @available_if(final_has("decision_function"))  # type: ignore[untyped-decorator]
    @reads
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Evaluate the decision function; raise NotFittedError during the warm-up."""
        return self._frozen().decision_function(self.transform(X))

    @available_if(final_has("score"))  # type: ignore[untyped-decorator]
    @reads
    def score(self, X: Any, y: Any = None) -> float:
        """Return the score of the last step; raise NotFittedError during the warm-up."""
        return self._frozen().score(self.transform(X), y)

    @reads
    def transform(self, X: Any) -> Any:
        """Return raw examples transformed for the last step."""
        self._frozen()
        return self._transformed(check_raw(X, None, allow_nan=self._allows_nan())[0])

    def _transformed(self, points: Any) -> Any:
        for transformer in self.transformers_:
            points = transformer.transform(points)
        return points

    # ------------------------------------------------------------------ state

    @property
    @reads
    def warming_up_(self) -> bool:
        """Whether examples are still buffered."""
        return "estimator_" not in self.__dict__

    @property
    @reads
    def ids_(self) -> NDArray[Any]:
        """Ids of the examples held or buffered."""
        if not self.warming_up_:
            return self.estimator_.ids_
        names = list(self._kept())
        integers = all(isinstance(name, int) for name in names)
        return np.array(names, dtype=np.int64 if integers else object)

    @property
    @reads
    def classes_(self) -> NDArray[Any]:
        """Labels of the last step."""
        return self._frozen().classes_

    @reads
    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop(LOCK, None)
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return not self.warming_up_

    def _frozen(self) -> Any:
        """Return the last step, fitted."""
        if self.warming_up_:
            raise NotFittedError(
                f"This StreamPipeline is warming up: it keeps back its first n_warmup="
                f"{self.n_warmup} examples and has {len(self._kept())} of them. Call 'partial_fit' "
                "with more, or 'finish_warmup' if there are no more."
            )
        return self.estimator_

    def _kept(self) -> Examples:
        return self.__dict__.get("_examples", {})

    def _named(
        self, X: Any, y: Any, weight: Any, ids: Any, groups: Any, held: Examples, next_id: int
    ) -> Examples:
        """Return checked examples by id; raise if the last step does not take weights or ids."""
        self._check_taken(sample_weight=weight, ids=ids, groups=groups)
        points, targets = check_raw(X, y, allow_nan=self._allows_nan())
        check_alike(points, groups, held)
        return name_examples(points, targets, weight, ids, groups, held, next_id)

    def _freeze(self, examples: Examples, n_first: int, classes: Any, method: str) -> None:
        """Fit the transformers to the first examples, and a new last step to all of them."""
        templates = [each for _, each in self.steps[:-1]]
        transformers, points = fitted(templates, examples, n_first)
        estimator = taught(clone(self.steps[-1][1]), points, examples, classes, method)
        self.__dict__.update(transformers_=transformers, estimator_=estimator, _examples=examples)
        self._prune()

    def _learn(self, new: Examples, classes: Any) -> None:
        points = self._transformed(joined(new.values())[0])
        # The rows first: if Ctrl-C strikes after the last step has learned, none is missing.
        self._kept().update(new)
        try:
            taught(self.estimator_, points, new, classes, "partial_fit")
        finally:
            self._prune()

    def _prune(self) -> None:
        """Drop the raw rows of examples that are no longer held."""
        kept = self._kept()
        ids = getattr(self.estimator_, "ids_", None)
        if ids is None:
            kept.clear()
        else:
            for name in kept.keys() - set(ids.tolist()):
                del kept[name]
