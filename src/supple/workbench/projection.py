"""A projection of data to two dimensions."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

MOST_ROWS = 1500


def project(X: Any, y: NDArray[Any], *, standardise: bool) -> dict[str, Any]:
    """Return the rows of `X` along their two principal components, and their classes.

    Of more than 1500 rows a fixed random part is taken.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Features.
    y : ndarray of shape (n_samples,)
        Classes.
    standardise : bool
        Whether features are scaled to variance 1 first.

    Returns
    -------
    dict
        ``x``, ``y``: coordinates; ``label``: index into ``classes``; ``explained``: share of the
        variance along each direction; ``rows``: number of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0]])
    >>> project(X, np.array([0, 1, 1]), standardise=False)["explained"]
    [1.0, 0.0]
    """
    n = X.shape[0]
    if n > MOST_ROWS:
        chosen = np.sort(np.random.default_rng(0).choice(n, MOST_ROWS, replace=False))
        X, y = X[chosen], y[chosen]
    if standardise:
        X = StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X)
    if X.shape[1] == 1:
        X = sp.hstack([X, sp.csr_matrix((X.shape[0], 1))]).toarray()
    solver = "arpack" if sp.issparse(X) and X.shape[1] > 2 else "auto"
    if sp.issparse(X) and solver == "auto":
        X = X.toarray()
    pca = PCA(n_components=2, svd_solver=solver, random_state=0)
    with np.errstate(invalid="ignore", divide="ignore"):  # no variance if all rows are equal
        places = pca.fit_transform(X)
    classes, codes = np.unique(y, return_inverse=True)
    return {
        "x": np.round(places[:, 0], 4).tolist(),
        "y": np.round(places[:, 1], 4).tolist(),
        "label": codes.tolist(),
        "classes": [str(each) for each in classes],
        "explained": np.round(np.nan_to_num(pca.explained_variance_ratio_), 4).tolist(),
        "rows": n,
    }
