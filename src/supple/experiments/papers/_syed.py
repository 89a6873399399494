"""Syed, Liu & Sung (1999): support vectors as a summary of the data."""

from supple.experiments._claims import close, costs_more
from supple.experiments._declare import Claim, Figure, Item, Paper, Table
from supple.experiments.papers._twelve import ALL, NO_MUSHROOM, TWELVE

_WAYS = ("batch", "SV")
_FOLDS = {"C": 1.0, "order": "random", "folds": 10, "steps": True}
_QUICK = {"data": NO_MUSHROOM, "folds": 2}
_LOST = (
    "The digits of the paper's tables are lost in the copy at hand, so there is no number of it "
    "beside ours. Kernels and C are those that Rüping (2001) gives for the same twelve sets."
)
_REMOVED = ("nothing", "data", "support vectors")
_MORE = costs_more("nothing", "support vectors", "data", measure="accuracy", column="remove")

SYED = Paper(
    name="syed",
    citation=(
        "N. A. Syed, H. Liu, K. K. Sung: Incremental learning with support vector machines. "
        "Workshop on Support Vector Machines at IJCAI, 1999"
    ),
    about=(
        "SV trains on the new part and the support vectors of the step before; batch trains on all "
        "parts so far."
    ),
    items=(
        Item(
            name="steps",
            title="Accuracy after each incremental step (the bar figures)",
            what=(
                "Tenfold cross-validation on twelve sets; the other nine tenths are learned as "
                "nine parts, and the test tenth is classified after each. Accuracy in per cent."
            ),
            protocol="folds",
            axes={"data": ALL, "machine": _WAYS},
            settings=_FOLDS,
            per={"data": TWELVE},
            quick=_QUICK,
            table=Table(("data", "step"), "machine", ()),
            claims=(
                Claim(
                    "SV follows batch closely at every step: 1.5 points on average.",
                    close(
                        "SV",
                        "batch",
                        1.5,
                        measure="accuracy",
                        column="machine",
                        mean=True,
                        where={"step": tuple("123456789")},
                    ),
                ),
            ),
            why=(_LOST,),
            figures=(
                Figure(
                    "steps",
                    "lines",
                    {"x": "step", "series": "machine", "measure": "accuracy", "panel": "data"},
                    "Accuracy after each step",
                ),
            ),
            minutes=2.0,
            quick_minutes=0.2,
        ),
        Item(
            name="final",
            title="Accuracy in the end, and the share of support vectors (table 2)",
            what=(
                "The same runs after the last step: accuracy, and support vectors in per cent of "
                "the examples seen."
            ),
            protocol="folds",
            axes={"data": ALL, "machine": _WAYS},
            settings=_FOLDS,
            per={"data": TWELVE},
            quick=_QUICK,
            table=Table(("data",), "machine", ("accuracy", "vectors")),
            claims=(
                Claim(
                    "Learning in steps costs little: at most 1.5 points on average.",
                    close(
                        "SV",
                        "batch",
                        1.5,
                        measure="accuracy",
                        column="machine",
                        mean=True,
                        where={"step": (None,)},
                    ),
                    number=3,
                ),
            ),
            why=(_LOST,),
            figures=(
                Figure(
                    "final",
                    "bars",
                    {"x": "data", "series": "machine", "measure": "accuracy"},
                    "Accuracy after the last step",
                ),
            ),
            minutes=0.1,
            quick_minutes=0.05,
        ),
        Item(
            name="necessity",
            title="Are the support vectors necessary? (table 3)",
            what=(
                "Tenfold cross-validation on all data, and on the support vectors alone: each time "
                "a tenth is left out and classified by a machine trained on the rest. "
                "'Nothing' is the accuracy on the examples learned."
            ),
            protocol="removal",
            axes={"data": ALL, "remove": _REMOVED},
            settings={"C": 1.0, "folds": 10, "machine": "batch", "test": "removed"},
            per={"data": TWELVE},
            quick={"data": NO_MUSHROOM, "folds": 5},
            table=Table(("data",), "remove", ("accuracy", "vectors")),
            claims=(
                Claim(
                    "Removing a tenth of the support vectors costs clearly more than removing a "
                    "tenth of the data.",
                    _MORE,
                    number=5,
                ),
            ),
            why=(
                _LOST,
                "The removed support vectors are also the test set, and they are the hardest "
                "examples there are: most of the loss says this, and not that the rest "
                "represents the data badly. The next item tests both on the same other data.",
            ),
            figures=(
                Figure(
                    "necessity",
                    "bars",
                    {"x": "data", "series": "remove", "measure": "accuracy"},
                    "Accuracy on what was removed",
                ),
            ),
            minutes=0.5,
            quick_minutes=0.1,
        ),
        Item(
            name="necessity-fair",
            title="The same, tested on other data",
            what=(
                "A tenth of the data is kept for the test. Of the rest a tenth of all examples, or "
                "of the support vectors, is removed before training (on the other support vectors "
                "alone), in ten ways."
            ),
            protocol="removal",
            axes={"data": ALL, "remove": _REMOVED},
            settings={"C": 1.0, "folds": 10, "machine": "batch", "test": "others"},
            per={"data": TWELVE},
            quick={"data": NO_MUSHROOM, "folds": 2},
            table=Table(("data",), "remove", ("accuracy",)),
            claims=(
                Claim(
                    "Removing a tenth of the support vectors costs clearly more, also on data that "
                    "are not the removed ones.",
                    _MORE,
                ),
            ),
            figures=(
                Figure(
                    "necessity-fair",
                    "bars",
                    {"x": "data", "series": "remove", "measure": "accuracy"},
                    "Accuracy on other data",
                ),
            ),
            minutes=3.0,
            quick_minutes=0.2,
        ),
    ),
)
