"""Small data sets that ship with supple, for examples and tests."""

from supple.datasets._embedded import Dataset, load, names

__all__ = ["Dataset", "load", "names"]
