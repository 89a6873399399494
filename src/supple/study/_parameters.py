"""Parameters of machines: ranges, and conversion of user input."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from supple.errors import InvalidInputError

__all__ = ["Parameter", "check_params"]


@dataclass(frozen=True)
class Parameter:
    """A parameter that a study may set.

    Attributes
    ----------
    name : str
        Its name in the estimator.
    kind : {"float", "int", "choice"}
        What it is; "choice" means one of `choices` only, the others take `choices` as well.
    default : float, int or str
        Its value if the study does not set it.
    low, high : float or None
        Least and largest number; None for no bound.
    choices : tuple of str
        Words that it takes.
    help : str
        What it does, in a sentence.
    above : bool
        Whether `low` itself is excluded.

    Examples
    --------
    >>> from supple.study import MACHINES
    >>> C = MACHINES["svc"].parameters[0]
    >>> C.name, C.default, C.read("10", "svc")
    ('C', 1.0, 10.0)
    """

    name: str
    kind: Literal["float", "int", "choice"]
    default: Any
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    help: str = ""
    above: bool = False

    def read(self, value: Any, owner: str) -> Any:
        """Return a value, perhaps written as text, as the estimator takes it."""
        if isinstance(value, str) and value in self.choices:
            return value
        number = None if self.kind == "choice" else self._number(value)
        if number is None or not self._holds(number):
            raise InvalidInputError(
                f"The parameter {self.name!r} of {owner!r} must be {self.wanted()}. "
                f"Got {value!r} instead."
            )
        return number

    def _number(self, value: Any) -> float | int | None:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return None
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        if self.kind == "float":
            return number
        return int(number) if number.is_integer() else None

    def _holds(self, number: float) -> bool:
        if not -float("inf") < number < float("inf"):
            return False
        low_enough = self.high is None or number <= self.high
        if self.low is None:
            return low_enough
        return low_enough and (number > self.low if self.above else number >= self.low)

    def wanted(self) -> str:
        """Return a description of the allowed values."""
        words = " or ".join(repr(choice) for choice in self.choices)
        if self.kind == "choice":
            return words
        text = "an int" if self.kind == "int" else "a number"
        if self.low is not None:
            text += f" {'>' if self.above else '>='} {self.low:g}"
        if self.high is not None:
            text += f"{' and' if self.low is not None else ''} <= {self.high:g}"
        return f"{text} or {words}" if words else text


def check_params(
    parameters: tuple[Parameter, ...], params: Mapping[str, Any], owner: str
) -> dict[str, Any]:
    """Return the given values as the estimator takes them; raise at an unknown name."""
    known = {each.name: each for each in parameters}
    checked = {}
    for name, value in params.items():
        if name not in known:
            raise InvalidInputError(
                f"{owner!r} has no parameter {name!r}. It has: {', '.join(known)}."
            )
        checked[name] = known[name].read(value, owner)
    return checked
