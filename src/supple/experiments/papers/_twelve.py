"""The twelve sets of Syed, Liu & Sung and of Rüping, with the kernels of the latter's table."""

TWELVE: dict[str, dict[str, float | str]] = {
    "australian": {"gamma": 0.0005},
    "pima": {"gamma": 0.01},
    "german_numeric": {"gamma": 0.0005},
    "heart": {"gamma": 0.0005},
    "ionosphere": {"gamma": 0.1},
    "bupa": {"gamma": 0.1},
    "monks1": {"gamma": 0.1},
    "monks2": {"gamma": 1.0},
    "monks3": {"gamma": 0.001},
    "mushroom": {"kernel": "linear"},
    "promoters": {"kernel": "linear"},
    "sonar": {"gamma": 0.01},
}
ALL = tuple(TWELVE)
NO_MUSHROOM = tuple(name for name in ALL if name != "mushroom")
