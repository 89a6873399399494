"""Data sets by name: 19 that ship with supple, larger ones from a folder or from OpenML."""

from supple.datasets._dataset import Dataset
from supple.datasets._load import load, names

__all__ = ["Dataset", "load", "names"]
