"""help() of every estimator describes all its parameters, in order, and attributes that it has."""

import inspect
import re

import numpy as np
import pytest

import supple

ESTIMATORS = [
    each
    for each in map(supple.__dict__.get, supple.__all__)
    if inspect.isclass(each) and hasattr(each, "fit")
]


def described(item, section):
    """Return the names that a section of a docstring describes, in order."""
    text = inspect.getdoc(item)
    found = re.search(rf"^{section}\n-+\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    entries = re.findall(r"^(\w[^:\n]*)", found.group(1), re.MULTILINE)
    return [name.strip() for entry in entries for name in entry.split(",")]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_parameters(estimator):
    assert described(estimator, "Parameters") == list(inspect.signature(estimator).parameters)
    for method in (estimator.fit, estimator.partial_fit):
        taken = [name for name in inspect.signature(method).parameters if name != "self"]
        assert described(method, "Parameters") == taken
        assert described(method, "Returns") == ["self"]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: each.__name__)
def test_attributes(estimator):
    names = described(estimator, "Attributes")
    assert len(names) == len(set(names))
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = estimator(kernel="linear").fit(X, (X[:, 0] > 0).astype(int))
    missing = {name for name in names if not hasattr(model, name)}
    assert missing == {"feature_names_in_"}
    public = {name for name in dir(estimator) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(names)
