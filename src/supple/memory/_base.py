"""The interface of a memory to the engine, and the handling of its parameters."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np

from supple.errors import InvalidInputError, worded
from supple.memory._clock import refuse_times

__all__ = ["Change", "Held", "Memory"]

_NO_SLOTS = np.empty(0, dtype=np.int64)
_NO_WEIGHT = np.empty(0)


class Held(Protocol):
    """The examples held, as a memory sees them; arrays are in the order of `slots`."""

    def __len__(self) -> int: ...
    @property
    def slots(self) -> np.ndarray: ...
    @property
    def ids(self) -> np.ndarray: ...
    @property
    def y(self) -> np.ndarray: ...
    @property
    def weight(self) -> np.ndarray: ...
    @property
    def arrival(self) -> np.ndarray: ...
    @property
    def seen(self) -> int: ...
    @property
    def labelled(self) -> bool: ...
    @property
    def depends_on_mass(self) -> bool: ...
    def support(self) -> np.ndarray: ...
    def needed(self) -> np.ndarray: ...
    def relevance(self) -> tuple[np.ndarray, np.ndarray]: ...
    def closest_pair(self) -> tuple[int, int] | None: ...
    def error(self, slots: np.ndarray) -> float: ...


class Change(NamedTuple):
    """A change that a memory orders: new weights, examples that leave, or two to merge."""

    slots: np.ndarray = _NO_SLOTS
    weight: np.ndarray = _NO_WEIGHT
    forget: np.ndarray = _NO_SLOTS
    join: tuple[int, int] | None = None  # slots of the two to merge


class Memory:
    """A rule for which examples to keep, forget or re-weight as new ones arrive.

    Parameters are those of the constructor, as in scikit-learn: ``get_params``, ``set_params`` and
    ``clone`` work, and so does a search over ``memory__size``. An estimator uses a copy of the
    memory it was given. The copy is its attribute ``memory_``; attributes that end with an
    underscore hold what it remembers.
    """

    # Limit on the examples held between two parts of a batch.
    capacity: int | None = None
    # Whether the model always equals `fit` on all examples except those forgotten by name.
    keeps_all: ClassVar[bool] = False
    # Whether examples of different groups have been merged.
    mixed = False
    # What it counts: examples, batches or time.
    unit: str | None = None
    # The estimate of the error that it uses, if any.
    estimate: str | None = None
    rho: float = 1.0

    # ------------------------------------------------------------------ for the engine

    def check(self) -> None:
        """Raise if a parameter has a value that is not allowed."""

    def portions(self, held: int, n: int) -> list[slice]:
        """Return the parts in which `n` new examples are learned; `after` is called for each."""
        return [slice(0, n)]

    def arrives(self, seen: int, n: int, times: np.ndarray | None) -> None:
        """Note that `n` new examples follow `seen` others, perhaps with timestamps."""
        refuse_times(times, f"memory={self}")

    def before(self, held: Held) -> Change | None:
        """Return the order to carry out before new examples are learned."""
        return None

    def after(self, held: Held) -> Change | None:
        """Return the order to carry out after each part of the new examples."""
        return None

    def search(self, held: Held) -> Iterator[Change]:
        """Yield the orders to carry out in the end.

        Each is carried out before the next is requested, so that the memory can read the state in
        between.
        """
        return iter(())

    def forgets(self, held: Held, ids: np.ndarray) -> None:
        """Note that these examples are about to leave without an order of this memory."""

    def reweights(self, ids: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Note new weights that the user gives; return the weights to use."""
        return weight

    def name_of_next(self, ids: np.ndarray) -> Hashable | None:
        """Return an id for a merged example, None if ids of this kind have no continuation."""
        return None

    def joined(self, ids: tuple[Hashable, Hashable], name: Hashable, *, mixed: bool) -> None:
        """Note that two examples, perhaps of `mixed` groups, become one, perhaps with an old id."""

    def fate(self, ids: np.ndarray) -> str:
        """Return a sentence for an error message: what became of examples that are not held."""
        return ""

    def restorer(self) -> Callable[[], None]:
        """Return a function that restores what is remembered now.

        Attributes are replaced, never changed in place.
        """
        remembered = self.__dict__.copy()

        def restore() -> None:
            self.__dict__.clear()
            self.__dict__.update(remembered)

        return restore

    def copied(self) -> Self:
        """Return an independent copy with what is remembered."""
        return copy.copy(self)

    # ------------------------------------------------------------------ parameters

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = worded(cls.__init__)  # type: ignore[method-assign]

    @classmethod
    @cache
    def _names(cls) -> list[str]:
        # Cached: every update compares the memory with that of the model.
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Present by convention.

        Returns
        -------
        params : dict
            Values by name.
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters, which take effect at the next `fit` of an estimator.

        Parameters
        ----------
        **params : dict
            Values by name.

        Returns
        -------
        self : object
            The memory.
        """
        for name, value in params.items():
            if name not in self._names():
                raise InvalidInputError(
                    f"Invalid parameter {name!r} for memory {self}. Valid parameters are: "
                    f"{self._names()!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({values})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.get_params() == other.get_params()

    __hash__ = None  # type: ignore[assignment]

    # ------------------------------------------------------------------ checks

    def _refuse(self, name: str, wanted: str) -> None:
        raise InvalidInputError(
            f"The {name!r} parameter of {type(self).__name__} must be {wanted}. Got "
            f"{getattr(self, name)!r:.60} instead."
        )

    def _check_count(self, name: str, least: int) -> None:
        value = getattr(self, name)
        # NumPy counts timedelta64 among the integers.
        count = isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)
        if not count or value < least:
            self._refuse(name, f"an int in the range [{least}, inf)")

    def _check_positive(self, name: str, value: Any = None) -> None:
        value = getattr(self, name) if value is None else value
        real = isinstance(value, Real) and not isinstance(value, bool)
        if not real or not 0.0 < value < float("inf"):
            self._refuse(name, "a number in the range (0, inf)")

    def _check_choice(self, name: str, choices: tuple[str, ...]) -> None:
        value = getattr(self, name)
        if not isinstance(value, str) or value not in choices:
            self._refuse(name, "one of " + ", ".join(map(repr, choices)))
