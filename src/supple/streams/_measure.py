"""Time, errors and size of a model on a stream."""

import inspect
import pickle
import time
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

__all__ = ["UNKNOWN", "Attempts", "attribute", "facts", "first_options", "machine_of", "seeded"]


class Attempts:
    """Calls with their time and the first error, which must not stop the other learners."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.seconds = 0.0
        self.error: str | None = None

    def call(self, function: Callable[..., None], *arguments: Any) -> bool:
        """Call, and return whether it succeeded."""
        start = self._clock()
        try:
            function(*arguments)
            return True
        except Exception as failure:
            self.error = self.error or f"{type(failure).__name__}: {failure}"
            return False
        finally:
            self.seconds += self._clock() - start


UNKNOWN = dict.fromkeys(("n_vectors", "n_kernel_evals", "model_bytes"))


def facts(model: Any) -> dict[str, int | None]:
    """Return size measures of a model, None where it has none."""
    machine = machine_of(model)
    vectors = attribute(machine, "support_")
    if vectors is None:
        vectors = attribute(machine, "relevance_")
    evaluations = attribute(machine, "n_kernel_evals_")
    return {
        "n_vectors": None if vectors is None else len(vectors),
        "n_kernel_evals": None if evaluations is None else int(evaluations),
        "model_bytes": _pickled_bytes(model),
    }


def machine_of(model: Any) -> Any:
    """Return the last step of a pipeline, and any other model as it is."""
    if isinstance(model, Pipeline):
        return model.steps[-1][1]
    return getattr(model, "estimator_", model)  # of a StreamPipeline, say


def attribute(machine: Any, name: str) -> Any:
    """Return an attribute, None if there is none."""
    try:
        return getattr(machine, name)
    except Exception:  # computed attributes raise without a solution
        return None


class _Count:
    """A file that only counts the bytes written to it."""

    def __init__(self) -> None:
        self.bytes = 0

    def write(self, data: bytes) -> int:
        self.bytes += len(data)
        return len(data)

    def add(self, buffer: pickle.PickleBuffer) -> None:
        self.bytes += buffer.raw().nbytes


def _pickled_bytes(model: Any) -> int | None:
    """Return the size of the pickle without making it; None if the model has none."""
    count = _Count()
    try:
        pickle.Pickler(count, protocol=5, buffer_callback=count.add).dump(model)
    except Exception:  # a callable kernel, for example, may raise anything
        return None
    return count.bytes


def seeded(estimator: Any, seed: int | None) -> Any:
    """Return a clone, with `seed` wherever a parameter random_state is None."""
    estimator = clone(estimator)
    if seed is not None:
        params = estimator.get_params(deep=True)
        free = [key for key, value in params.items() if value is None]
        estimator.set_params(**{key: seed for key in free if key.split("__")[-1] == "random_state"})
    return estimator


def first_options(model: Any, classes: NDArray[Any] | None) -> dict[str, Any]:
    """Return the keywords of the first partial_fit.

    scikit-learn's classifiers need all classes.
    """
    named = classes is not None and "classes" in inspect.signature(model.partial_fit).parameters
    return {"classes": classes} if named else {}
