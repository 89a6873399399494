"""Records of a comparison, as a list, a frame, a table of text and a picture."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from supple.errors import InvalidInputError
from supple.streams._report import Run, draw_lines, frame_of, latest_table, new_axes

__all__ = ["Comparison", "Record"]

_METRICS = ("accuracy", "r2", "mae", "auc", "inlier_share")
_COUNTS = ("n_vectors", "fit_seconds", "predict_seconds", "n_kernel_evals", "model_bytes")
_NAMES = {
    "r2": "R²",
    "mae": "mean absolute error",
    "auc": "AUC",
    "inlier_share": "share of inliers",
    "n_vectors": "vectors",
    "fit_seconds": "seconds of training",
    "predict_seconds": "seconds of prediction",
    "n_kernel_evals": "kernel evaluations",
    "model_bytes": "bytes of the model",
}


@dataclass(frozen=True)
class Record:
    """Results of one estimator at one training size; unknown values are None.

    Attributes
    ----------
    estimator : str
        Its name in the mapping given to `compare`.
    n_train : int
        Examples of the stream that have arrived.
    mode : {"partial_fit", "fit"}
        Whether the estimator got only the new examples or was fitted anew to all so far.
    n_tested : int
        Number of predictions that were scored: on the test set, or without one on the new examples
        before they were learned.
    n_vectors : int or None
        Support vectors (`support_`) or relevance vectors (`relevance_`) of the model.
    fit_seconds, predict_seconds : float
        Time spent in training and in prediction since the last record.
    n_kernel_evals : int or None
        The attribute `n_kernel_evals_` of the model.
    model_bytes : int or None
        Size of the pickled model, with its compiled parts but without caches.
    error : str or None
        Why the estimator failed here.
    accuracy : float or None
        Classifiers: share of correct predictions.
    r2, mae : float or None
        Regressors: coefficient of determination (None if all targets are equal) and mean absolute
        error.
    auc : float or None
        Outlier detectors with labels of both kinds: area under the ROC curve of
        `decision_function`.
    inlier_share : float or None
        Outlier detectors: share of examples predicted to be inliers.
    """

    estimator: str
    n_train: int
    mode: Literal["partial_fit", "fit"]
    n_tested: int
    n_vectors: int | None
    fit_seconds: float
    predict_seconds: float
    n_kernel_evals: int | None
    model_bytes: int | None
    error: str | None
    accuracy: float | None = None
    r2: float | None = None
    mae: float | None = None
    auc: float | None = None
    inlier_share: float | None = None


class Comparison(Run[Record]):
    """A running comparison: an iterator over records that does the work.

    Printed, it is a table of the latest record of each estimator. To cancel it, stop iterating;
    `close` releases the models.

    Attributes
    ----------
    records : list of Record
        The records so far.
    n_total : int
        Number of records if no estimator drops out.
    metrics : tuple of str
        The fields of a record that score estimators of this kind, the most important one first.
    """

    def __repr__(self) -> str:
        head = f"Comparison: {len(self.records)} of {self.n_total} records"
        return "\n".join([head, *latest_table(self.records, "estimator", "n_train", self.metrics)])

    def to_frame(self) -> Any:
        """Return the records so far as a pandas DataFrame, one row each.

        Scores of other kinds of estimators are left out.
        """
        foreign = set(_METRICS) - set(self.metrics)
        columns = [field.name for field in fields(Record) if field.name not in foreign]
        return frame_of([asdict(record) for record in self.records], columns)

    def plot(self, field: str | None = None, *, ax: Any = None) -> Any:
        """Draw a field of the records so far against the training size, one line per estimator.

        Parameters
        ----------
        field : str, default=None
            A number of `Record`, such as "fit_seconds" or "n_vectors". None takes the first of
            `metrics` that is known.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure, for instance for ``savefig``.
        """
        field = self._drawable(field)
        points = ((r.estimator, r.n_train, getattr(r, field)) for r in self.records)
        axes = new_axes() if ax is None else ax
        return draw_lines(axes, points, "training examples", _NAMES.get(field, field))

    def _drawable(self, field: str | None) -> str:
        """Return the field to draw; raise if no record has it."""
        allowed = (*self.metrics, *_COUNTS)
        if field is not None and field not in allowed:
            raise InvalidInputError(
                f"The 'field' parameter of plot must be None or one of {', '.join(allowed)}. "
                f"Got {field!r} instead."
            )
        for each in self.metrics if field is None else (field,):
            if any(getattr(record, each) is not None for record in self.records):
                return each
        raise InvalidInputError(
            f"No record of {len(self.records)} knows {field or ' or '.join(self.metrics)}. Iterate "
            "over the comparison first, for example with list(run)."
        )
