"""Random streams with known changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from supple.errors import InvalidInputError
from supple.streams._checks import check_count, check_share
from supple.streams._stream import Stream

__all__ = ["hyperplane", "rotating_gaussians", "sea", "shifting_gaussians", "stagger"]

_STAGGER = {
    1: lambda size, colour, shape: (size == 0) & (colour == 0),
    2: lambda size, colour, shape: (colour == 1) | (shape == 1),
    3: lambda size, colour, shape: size > 0,
}
_STAGGER_NAMES = tuple(
    f"{attribute}={value}"
    for attribute, values in {
        "size": ("small", "medium", "large"),
        "colour": ("red", "green", "blue"),
        "shape": ("square", "circular", "triangular"),
    }.items()
    for value in values
)


def rotating_gaussians(
    n_samples: int = 2000,
    *,
    n_concepts: int = 4,
    angle: float = 90.0,
    width: int = 0,
    distance: float = 4.0,
    random_state: Any = None,
) -> Stream:
    """Draw two round Gaussian classes in the plane that rotate about their middle.

    Example t has the label y = 0 or 1 with equal probability and the point::

        x = (2 y - 1) (distance / 2) (cos a_t, sin a_t) + N(0, I),

    where a_t grows by `angle` at every change point. 180 degrees exchange the classes.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of examples.
    n_concepts : int, default=4
        Number of concepts, of equal length.
    angle : float, default=90.0
        Degrees of one rotation.
    width : int, default=0
        Number of examples that a rotation takes, from the change point on.
    distance : float, default=4.0
        Distance of the class means in standard deviations.
    random_state : int or RandomState, default=None
        Seed.

    Returns
    -------
    Stream
        Its `metadata` has the "angle" of every example, in degrees.

    Examples
    --------
    >>> from supple.streams import rotating_gaussians
    >>> rotating_gaussians(1000, n_concepts=4, random_state=0)
    <Stream rotating_gaussians: 1000 examples, 2 features, changes at 250, 500, 750>
    """
    changes = _change_points(n_samples, n_concepts, "rotating_gaussians")
    rng = check_random_state(random_state)
    degrees = angle * _progress(
        n_samples, changes, check_count(width, "width", "rotating_gaussians", 0)
    )
    y = rng.randint(2, size=n_samples)
    turned = np.deg2rad(degrees)
    middle = np.column_stack([np.cos(turned), np.sin(turned)]) * distance / 2
    X = (2 * y - 1)[:, None] * middle + rng.normal(size=(n_samples, 2))
    return Stream(X, y, "rotating_gaussians", changes, metadata={"angle": degrees})


def shifting_gaussians(
    n_samples: int = 2000,
    *,
    n_concepts: int = 4,
    shift: float = 3.0,
    width: int = 0,
    distance: float = 4.0,
    n_features: int = 2,
    random_state: Any = None,
) -> Stream:
    """Draw two round Gaussian classes that shift along the line between them.

    Example t has the label y = 0 or 1 with equal probability and the point::

        x = ((2 y - 1) distance / 2 + s_t) e_1 + N(0, I),

    where s_t grows by `shift` at every change point: the boundary s_t moves towards class 1.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of examples.
    n_concepts : int, default=4
        Number of concepts, of equal length.
    shift : float, default=3.0
        Length of one shift, in standard deviations.
    width : int, default=0
        Number of examples that a shift takes, from the change point on.
    distance : float, default=4.0
        Distance of the class means in standard deviations.
    n_features : int, default=2
        Number of features; those after the first do not depend on the class.
    random_state : int or RandomState, default=None
        Seed.

    Returns
    -------
    Stream
        Its `metadata` has the "boundary" s_t of every example.

    Examples
    --------
    >>> from supple.streams import shifting_gaussians
    >>> stream = shifting_gaussians(100, n_concepts=2, shift=5.0, random_state=0)
    >>> stream.metadata["boundary"][[0, 99]]
    array([0., 5.])
    """
    owner = "shifting_gaussians"
    changes = _change_points(n_samples, n_concepts, owner)
    check_count(n_features, "n_features", owner)
    rng = check_random_state(random_state)
    boundary = shift * _progress(n_samples, changes, check_count(width, "width", owner, 0))
    y = rng.randint(2, size=n_samples)
    X = rng.normal(size=(n_samples, n_features))
    X[:, 0] += (2 * y - 1) * distance / 2 + boundary
    return Stream(X, y, owner, changes, metadata={"boundary": boundary})


def sea(
    n_samples: int = 2000,
    *,
    thresholds: Sequence[float] = (8.0, 9.0, 7.0, 9.5),
    noise: float = 0.1,
    random_state: Any = None,
) -> Stream:
    """Draw the SEA concepts of Street & Kim (2001): two features whose sum exceeds a threshold.

    Three features are uniform on [0, 10]; y = 1 if x_1 + x_2 <= threshold, else 0. The third
    feature is irrelevant. All thresholds hold for parts of equal length.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of examples.
    thresholds : sequence of float, default=(8.0, 9.0, 7.0, 9.5)
        One for each concept.
    noise : float, default=0.1
        Share of flipped labels.
    random_state : int or RandomState, default=None
        Seed.

    Returns
    -------
    Stream
        Its `metadata` has the "threshold" of every example.

    Examples
    --------
    >>> from supple.streams import sea
    >>> sea(400, random_state=0)
    <Stream sea: 400 examples, 3 features, changes at 100, 200, 300>
    """
    changes = _change_points(n_samples, len(thresholds), "sea")
    share = check_share(noise, "noise", "sea")
    rng = check_random_state(random_state)
    threshold = np.asarray(thresholds, dtype=np.float64)[_concept(n_samples, changes)]
    X = rng.uniform(0.0, 10.0, size=(n_samples, 3))
    y = (X[:, 0] + X[:, 1] <= threshold) ^ (rng.uniform(size=n_samples) < share)
    return Stream(X, y.astype(int), "sea", changes, metadata={"threshold": threshold})


def stagger(
    n_samples: int = 1200,
    *,
    concepts: Sequence[int] = (1, 2, 3),
    random_state: Any = None,
) -> Stream:
    """Draw the STAGGER concepts of Schlimmer & Granger (1986): things of a size, colour and shape.

    Each attribute has three values, which are equally likely and become three features of 0 and 1.
    y = 1 if the present concept holds, else 0::

        1    small and red
        2    green or circular
        3    medium or large

    Parameters
    ----------
    n_samples : int, default=1200
        Number of examples.
    concepts : sequence of {1, 2, 3}, default=(1, 2, 3)
        The concepts in their order, each of equal length.
    random_state : int or RandomState, default=None
        Seed.

    Returns
    -------
    Stream
        Its `metadata` has the "concept" of every example.

    Examples
    --------
    >>> from supple.streams import stagger
    >>> stream = stagger(300, random_state=0)
    >>> stream.metadata["feature_names"][:2], stream.change_points
    (('size=small', 'size=medium'), (100, 200))
    """
    unknown = [concept for concept in concepts if concept not in _STAGGER]
    if unknown:
        raise InvalidInputError(
            f"The 'concepts' parameter of stagger must be a sequence of 1, 2 and 3. "
            f"Got {concepts!r} instead."
        )
    changes = _change_points(n_samples, len(concepts), "stagger")
    rng = check_random_state(random_state)
    values = rng.randint(3, size=(n_samples, 3))
    concept = np.asarray(concepts)[_concept(n_samples, changes)]
    y = np.zeros(n_samples, dtype=int)
    for number, holds in _STAGGER.items():
        y = np.where(concept == number, holds(*values.T), y)
    X = np.eye(3)[values].reshape(n_samples, 9)
    metadata = {"concept": concept, "feature_names": _STAGGER_NAMES}
    return Stream(X, y, "stagger", changes, metadata=metadata)


def hyperplane(
    n_samples: int = 2000,
    *,
    n_features: int = 10,
    n_drifting: int = 2,
    magnitude: float = 0.001,
    reversal: float = 0.1,
    noise: float = 0.05,
    random_state: Any = None,
) -> Stream:
    """Draw points on both sides of a hyperplane that keeps rotating (Hulten et al. 2001).

    Features are uniform on [0, 1]; y = 1 if w_t'x >= sum(w_t) / 2, else 0, which makes both classes
    about equally frequent. With every example `n_drifting` of the weights change by `magnitude`,
    up or down; a weight changes its direction with probability `reversal`.

    Parameters
    ----------
    n_samples : int, default=2000
        Number of examples.
    n_features : int, default=10
        Number of features.
    n_drifting : int, default=2
        Number of weights that change, the first ones.
    magnitude : float, default=0.001
        Change of a weight with one example.
    reversal : float, default=0.1
        Probability that a weight changes its direction.
    noise : float, default=0.05
        Share of flipped labels.
    random_state : int or RandomState, default=None
        Seed.

    Returns
    -------
    Stream
        It has no change points, since it changes all the time. Its `metadata` has the "weights" of
        every example.

    Examples
    --------
    >>> from supple.streams import hyperplane
    >>> hyperplane(100, random_state=0)
    <Stream hyperplane: 100 examples, 10 features>
    """
    check_count(n_samples, "n_samples", "hyperplane")
    check_count(n_features, "n_features", "hyperplane")
    if check_count(n_drifting, "n_drifting", "hyperplane", 0) > n_features:
        raise InvalidInputError(
            f"The 'n_drifting' parameter of hyperplane must be at most n_features={n_features}. "
            f"Got {n_drifting} instead."
        )
    reversal = check_share(reversal, "reversal", "hyperplane")
    share = check_share(noise, "noise", "hyperplane")
    rng = check_random_state(random_state)
    turns = np.where(rng.uniform(size=(n_samples, n_drifting)) < reversal, -1.0, 1.0)
    turns[0] = 1.0
    weights = np.tile(rng.uniform(size=n_features), (n_samples, 1))
    weights[1:, :n_drifting] += magnitude * np.cumsum(np.cumprod(turns, axis=0)[1:], axis=0)
    X = rng.uniform(size=(n_samples, n_features))
    y = np.einsum("ij,ij->i", X - 0.5, weights) >= 0.0
    y ^= rng.uniform(size=n_samples) < share
    return Stream(X, y.astype(int), "hyperplane", metadata={"weights": weights})


def _change_points(n_samples: Any, n_concepts: Any, owner: str) -> tuple[int, ...]:
    """Return the starts of `n_concepts` equal parts of a stream, except the first."""
    n = check_count(n_samples, "n_samples", owner)
    k = check_count(n_concepts, "n_concepts", owner)
    if k > n:
        raise InvalidInputError(
            f"{owner} has {k} concepts and needs as many examples at least. Got n_samples={n} "
            "instead."
        )
    return tuple(round(n * i / k) for i in range(1, k))


def _concept(n: int, changes: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the number of the concept, from 0, of every example."""
    return np.searchsorted(np.asarray(changes), np.arange(n), side="right")


def _progress(n: int, changes: tuple[int, ...], width: int) -> NDArray[np.float64]:
    """Return the number of changes before every example; an unfinished one counts in part."""
    since = np.arange(n)[:, None] - np.asarray(changes, dtype=np.float64)[None, :]
    return np.clip((since + 1.0) / max(width, 1), 0.0, 1.0).sum(axis=1)
