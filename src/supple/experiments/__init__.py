"""The experiments of the papers that supple builds on, repeated by one command each."""

from supple.experiments._command import listing, main, reproduce
from supple.experiments._declare import Item, Paper
from supple.experiments.papers import PAPERS

__all__ = ["PAPERS", "Item", "Paper", "listing", "main", "reproduce"]
