"""The MONK's problems, built from the definitions that Thrun et al. (1991) published.

The test part is the whole space of 432 points, labelled by a rule. The training part is a sample
of it; in the third problem six labels of the sample are wrong on purpose.
"""

from collections.abc import Callable
from itertools import product

import numpy as np

from supple.datasets._dataset import Raw, from_columns

Point = tuple[int, ...]

_SIZES = (3, 3, 2, 3, 4, 2)  # the values of attribute i are 1 ... _SIZES[i]
_SPACE: list[Point] = list(product(*(range(1, size + 1) for size in _SIZES)))

_RULES: dict[int, Callable[[Point], bool]] = {
    1: lambda a: a[0] == a[1] or a[4] == 1,
    2: lambda a: a.count(1) == 2,
    3: lambda a: (a[4] == 3 and a[3] == 1) or (a[4] != 4 and a[1] != 3),
}

# The published samples, in hexadecimal: the bit of value 2^i says whether point i is in it.
_SAMPLES = {
    1: "aa00e18ea0854500230082810828090809032007209211014004e1"
    "ab201c48909840db30c5ea08da444438e00884b19602500c240030",
    2: "853501002035a12d3935063a8e04f92bea40b0259646b1238d19e9"
    "701190ab84496a081904a270986c3af35044fb7a020ad003445748",
    3: "a128034d806061022802104801a00482801585904a102d10403208"
    "b906a00240086803c340a0871160440d0d906f1c1033c88800895e",
}
_WRONG = {1: (), 2: (), 3: (4, 60, 202, 212, 213, 390)}  # points with a wrong label in the sample


def monks(problem: int) -> Raw:
    """Return the problem of this number: the training part, then the whole space."""
    bits = int(_SAMPLES[problem], 16)
    sample = [i for i in range(len(_SPACE)) if bits >> i & 1]
    labels = [_RULES[problem](point) for point in _SPACE]
    y = [labels[i] != (i in _WRONG[problem]) for i in sample] + labels
    points = np.array([_SPACE[i] for i in sample] + _SPACE, dtype=np.int64)
    columns = {f"a{i}": column for i, column in enumerate(points.T, start=1)}
    return from_columns(columns, np.array(y, dtype=np.int64), len(sample))
