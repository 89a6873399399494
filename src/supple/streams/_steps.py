"""The steps of a stream pipeline: parameters and checks."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _BaseComposition

from supple.errors import InvalidInputError
from supple.streams._checks import check_count
from supple.streams._rows import Examples, joined

__all__ = ["StreamSteps", "check_refreezable", "final_has", "fitted", "taught"]


def final_has(name: str) -> Callable[[StreamSteps], bool]:
    """Return a check that the last step has a method, for `available_if`."""

    def check(self: StreamSteps) -> bool:
        getattr(self.steps[-1][1], name)  # raises the AttributeError that explains it
        return True

    return check


@cache
def parameters_of(method: Callable[..., Any]) -> frozenset[str]:
    """Return the names of the parameters of a method; cached for updates."""
    return frozenset(inspect.signature(method).parameters)


class StreamSteps(_BaseComposition):
    """Base of StreamPipeline: named steps with parameters, and tags of the last one."""

    steps: list[tuple[str, Any]]
    n_warmup: int

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name, with ``deep`` those of the steps as ``step__name``."""
        return self._get_params("steps", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, which take effect at the next `fit`; ``step__name`` is one of a step."""
        return self._set_params("steps", **params)

    def __sklearn_tags__(self) -> Any:
        tags, last = super().__sklearn_tags__(), get_tags(self.steps[-1][1])
        tags.estimator_type = last.estimator_type
        tags.classifier_tags, tags.regressor_tags = last.classifier_tags, last.regressor_tags
        tags.target_tags = last.target_tags
        tags.input_tags = get_tags(self.steps[0][1]).input_tags
        return tags

    def _check_steps(self) -> None:
        check_count(self.n_warmup, "n_warmup", "StreamPipeline")
        try:
            names, estimators = zip(*self.steps, strict=True)
            self._validate_names(names)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                "The 'steps' parameter of StreamPipeline must be a list of (name, estimator) with "
                f"different names. Got {self.steps!r} instead. {error}."
            ) from error
        for each in estimators[:-1]:
            if not (hasattr(each, "fit") and hasattr(each, "transform")):
                raise InvalidInputError(
                    "All steps of StreamPipeline but the last must be transformers, with fit and "
                    f"transform. Got {each!r} instead."
                )
        if not hasattr(estimators[-1], "partial_fit"):
            raise InvalidInputError(
                "The last step of StreamPipeline must be an estimator with partial_fit. Got "
                f"{estimators[-1]!r} instead. scikit-learn's Pipeline takes any estimator."
            )

    def _allows_nan(self) -> bool:
        return bool(get_tags(self.steps[0][1]).input_tags.allow_nan)

    def _check_missing_values(self, examples: Examples, new: Examples) -> None:
        """Raise if missing values of new examples would reach a step that refuses them.

        Scalers take NaN and leave it in place; an imputer replaces it. The steps that take NaN are
        therefore fitted to all examples so far, without effect on the pipeline.
        """
        if not _has_nan(joined(new.values())[0]):
            return
        points, y = joined(examples.values())
        for name, step in self.steps:
            if not get_tags(step).input_tags.allow_nan:
                raise InvalidInputError(
                    f"Input X contains NaN, which step {name!r} of StreamPipeline does not take: "
                    f"{step!r}. Put an imputer before it, such as SimpleImputer()."
                )
            if name == self.steps[-1][0]:
                return
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # columns without a number so far
                points = clone(step).fit(points, y).transform(points)
            if not _has_nan(points):
                return

    def _check_taken(self, **given: Any) -> None:
        """Raise if the last step does not take what was given."""
        takes = parameters_of(type(self.steps[-1][1]).partial_fit)
        for name, value in given.items():
            if value is not None and name not in takes:
                raise InvalidInputError(
                    f"'{name}' is nothing that the last step takes: {self.steps[-1][1]!r}. Leave "
                    "it out."
                )


def _has_nan(points: Any) -> bool:
    """Whether an array or a CSR matrix has missing values; a DataFrame is left to the steps."""
    values = points.data if sp.issparse(points) else points
    numeric = isinstance(values, np.ndarray) and values.dtype.kind == "f"
    return numeric and bool(np.isnan(values).any())


def fitted(templates: list[Any], examples: Examples, n_first: int) -> tuple[list[Any], Any]:
    """Return transformers fitted to the first examples, and all examples transformed by them."""
    chosen = list(examples.values())
    first, y = joined(chosen[:n_first])
    points, _ = joined(chosen)
    transformers = []
    for template in templates:
        transformer = clone(template).fit(first, y)
        first, points = transformer.transform(first), transformer.transform(points)
        transformers.append(transformer)
    return transformers, points


def check_refreezable(estimator: Any, held: Examples) -> None:
    """Raise unless the raw examples held are those of the estimator, which can learn them anew."""
    if not hasattr(estimator, "forget"):
        raise InvalidInputError(
            f"refreeze needs an estimator that holds its examples, such as SVC. The last step "
            f"is {estimator!r}."
        )
    memory = estimator.memory_
    if memory.unit in ("batches", "time"):
        raise InvalidInputError(
            f"refreeze learns the examples held in one batch, which loses the arrival times that "
            f"{memory} needs. Use a memory that counts examples, such as Window(500)."
        )
    merged = getattr(memory, "stands_for_", {})
    unknown = [k for k in estimator.ids_.tolist() if k not in held or k in merged]
    if unknown:
        raise InvalidInputError(
            f"refreeze needs the raw rows of the examples held. Those of {unknown[:3]} have "
            "none: the memory has merged examples. Use a memory that keeps them."
        )
    if not held:
        raise NotFittedError(
            "This StreamPipeline holds no examples: all were forgotten. Call 'fit', which "
            "starts again."
        )


def taught(estimator: Any, points: Any, examples: Examples, classes: Any, method: str) -> Any:
    """Return the estimator after it has learned transformed examples."""
    takes = parameters_of(getattr(type(estimator), method))
    chosen = list(examples.values())
    options: dict[str, Any] = {}
    if classes is not None and "classes" in takes:
        options["classes"] = classes
    if "sample_weight" in takes:
        options["sample_weight"] = np.array([example.weight for example in chosen])
    if "ids" in takes:
        options["ids"] = list(examples)
    if "groups" in takes and any(example.group is not None for example in chosen):
        options["groups"] = [example.group for example in chosen]
    labels = [example.label for example in chosen]
    data = (points,) if labels[0] is None else (points, np.array(labels))
    return getattr(estimator, method)(*data, **options)
