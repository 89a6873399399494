"""Colours and titles of pictures: the colour-blind safe colours of Okabe & Ito."""

__all__ = ["COLOURS", "DASHES", "PANELS"]

COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#7F7F7F",
    "#8C6D1F",
)

# Dashes keep lines that lie on one another visible.
DASHES = ("", "6 3", "2 2", "8 3 2 3", "1 3", "10 4")

# Fields of a CurvePoint, their titles, and whether the scale is logarithmic: the three pictures of
# the study. Times of machines lie decades apart.
PANELS = (
    ("accuracy", "Accuracy", False),
    ("n_vectors", "Vectors of the model", False),
    ("seconds", "Seconds of training so far", True),
)
