"""Real streams by name."""

from typing import Any

from supple.errors import InvalidInputError
from supple.streams._checks import check_count
from supple.streams._stream import Stream

__all__ = ["load_stream"]

_DATA_SETS = {
    "weather": "weather",
    "elec2": "elec2",
    "eeg_eye_state": "eeg_eye_state",
    "spam_drift": "spam_drift_sparse",
}


def load_stream(
    name: str, *, n_samples: int | None = None, download_if_missing: bool = True
) -> Stream:
    """Load a real stream, its examples in order of time and not scaled.

    Its change points are unknown. Scaling the whole stream beforehand would leak later examples;
    :class:`StreamPipeline` scales it by its first examples.

    Parameters
    ----------
    name : {"weather", "elec2", "eeg_eye_state", "spam_drift"}
        "weather" comes with supple; the others are looked for and downloaded as by
        :func:`supple.datasets.load`.
    n_samples : int, default=None
        Number of examples, the first ones; None means all.
    download_if_missing : bool, default=True
        False: raise an error rather than download.

    Returns
    -------
    Stream
        Its `metadata` has the "feature_names" and a "description" with source and licence.

    Examples
    --------
    >>> from supple.streams import load_stream
    >>> load_stream("weather", n_samples=1000)
    <Stream weather: 1000 examples, 8 features>
    """
    # The library itself does not depend on the data sets.
    from supple.datasets import load

    if not isinstance(name, str) or name not in _DATA_SETS:
        raise InvalidInputError(
            f"There is no stream named {name!r}. Known are: {', '.join(_DATA_SETS)}."
        )
    if n_samples is not None:
        check_count(n_samples, "n_samples", "load_stream")
    data = load(_DATA_SETS[name], scaled=False, download_if_missing=download_if_missing)
    metadata: dict[str, Any] = {
        "feature_names": data.feature_names,
        "description": data.description,
    }
    return Stream(data.X[:n_samples], data.y[:n_samples], name, metadata=metadata)
