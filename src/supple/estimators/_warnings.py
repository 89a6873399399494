"""Warnings with a base class in scikit-learn, which the layers below do not import."""

from sklearn.exceptions import ConvergenceWarning

from supple import errors


class NotConvergedWarning(errors.NotConvergedWarning, ConvergenceWarning):
    """The optimality conditions do not hold as promised: ``max_iter``, or rounding."""
