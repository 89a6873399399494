"""The estimators of supple with River's methods: one example at a time, as dictionaries."""

try:
    import river as _river  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "river":
        raise
    raise ImportError(
        "supple.river needs River, which is not installed. Call pip install 'supple[river]'."
    ) from error

from supple.river._anomaly import AnomalyDetector
from supple.river._classifier import Classifier
from supple.river._regressor import Regressor

__all__ = ["AnomalyDetector", "Classifier", "Regressor"]
