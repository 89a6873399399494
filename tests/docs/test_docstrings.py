"""The examples in the docstrings give what they say."""

import doctest
import importlib
import pkgutil

import pytest

import supple

MODULES = ["supple"] + [m.name for m in pkgutil.walk_packages(supple.__path__, "supple.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0
