"""Streams with drift: generators, loaders, pipelines and prequential evaluation."""

from supple.streams._generators import (
    hyperplane,
    rotating_gaussians,
    sea,
    shifting_gaussians,
    stagger,
)
from supple.streams._load import load_stream
from supple.streams._metrics import Scores
from supple.streams._pipeline import StreamPipeline
from supple.streams._prequential import prequential
from supple.streams._records import Event, Prequential, PrequentialRecord
from supple.streams._relevance import relevance_change
from supple.streams._stream import Stream

__all__ = [
    "Event",
    "Prequential",
    "PrequentialRecord",
    "Scores",
    "Stream",
    "StreamPipeline",
    "hyperplane",
    "load_stream",
    "prequential",
    "relevance_change",
    "rotating_gaussians",
    "sea",
    "shifting_gaussians",
    "stagger",
]
