"""Docstrings that describe only what differs from a class or method of the same kind."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["completed_by"]

_Documented = TypeVar("_Documented", bound=Callable[..., Any])
_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ENTRY = re.compile(r"^(?=[\w*])", re.MULTILINE)
_ALWAYS_THERE = ("n_features_in_", "feature_names_in_")  # which scikit-learn sets in fit


def completed_by(source: Callable[..., Any]) -> Callable[[_Documented], _Documented]:
    r"""Return a decorator that completes a numpydoc docstring with that of `source`.

    Parameters follow the signature; those that the docstring does not describe come from `source`.
    Attributes are those of the docstring, then those of `source` that the class has. A missing
    section "Returns" comes from `source`.

    Examples
    --------
    >>> def one(a, b):
    ...     '''Do it.
    ...
    ...     Parameters
    ...     ----------
    ...     a : int
    ...         A number.
    ...     b : str
    ...         A text.
    ...
    ...     Returns
    ...     -------
    ...     done : bool
    ...     '''
    >>> @completed_by(one)
    ... def other(b, a):
    ...     '''Do it in another way.
    ...
    ...     Parameters
    ...     ----------
    ...     b : bytes
    ...         What it is done to.
    ...     '''
    >>> print(other.__doc__.partition("-\n")[2].partition("\n\n")[0])
    b : bytes
        What it is done to.
    a : int
        A number.
    """

    def complete(item: _Documented) -> _Documented:
        if item.__doc__ and source.__doc__:  # python -OO drops docstrings
            own, other = _sections(item), _sections(source)
            made = {"": own.pop("")}
            made["Parameters"] = _parameters(item, own.pop("Parameters", ""), other["Parameters"])
            if isinstance(item, type):
                attributes = own.pop("Attributes", ""), other["Attributes"]
                made["Attributes"] = _attributes(item, *attributes)
            else:
                made["Returns"] = own.pop("Returns", other["Returns"])
            item.__doc__ = "\n\n".join(
                f"{name}\n{'-' * len(name)}\n{text.strip()}" if name else text.strip()
                for name, text in (made | own).items()
            )
        return item

    return complete


def _sections(item: Callable[..., Any]) -> dict[str, str]:
    """Return the text of each section by its heading, "" for the text before the first."""
    first, *rest = _HEADING.split(inspect.cleandoc(item.__doc__ or ""))
    return {"": first} | dict(zip(rest[::2], rest[1::2], strict=True))


def _entries(section: str) -> dict[tuple[str, ...], str]:
    """Return the entries of a section by the names that they describe."""
    entries = [text.strip() for text in _ENTRY.split(section) if text.strip()]
    return {tuple(re.split(r",\s+", e.partition(" :")[0].partition("\n ")[0])): e for e in entries}


def _parameters(item: Callable[..., Any], own: str, other: str) -> str:
    """Return the descriptions of all parameters in the order of the signature."""
    function: Any = item.__init__ if isinstance(item, type) else item  # type: ignore[misc]
    described = _entries(own)
    named = {name for names in described for name in names}
    described |= {k: v for k, v in _entries(other).items() if named.isdisjoint(k)}
    order = [name for name in inspect.signature(function).parameters if name != "self"]
    chosen = [names for names in described if not set(names).isdisjoint(order)]
    return "\n".join(described[k] for k in sorted(chosen, key=lambda names: order.index(names[0])))


def _attributes(item: type, own: str, other: str) -> str:
    """Return the descriptions of the attributes that a class has, its own first."""
    described = _entries(own)
    named = {name for names in described for name in names}
    for names, text in _entries(other).items():
        there = all(hasattr(item, name) or name in _ALWAYS_THERE for name in names)
        if there and named.isdisjoint(names):
            described[names] = text
    return "\n".join(described.values())
