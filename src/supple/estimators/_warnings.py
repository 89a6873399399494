"""Warnings that scikit-learn has a class for: here, as the layers below do not import it."""

from sklearn.exceptions import ConvergenceWarning

from supple import errors


class NotConvergedWarning(errors.NotConvergedWarning, ConvergenceWarning):
    """The optimality conditions do not hold as promised: ``max_iter``, or rounding."""
