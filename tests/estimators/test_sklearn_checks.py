"""scikit-learn's own checks, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from supple import RVC, RVR, SVC, SVDD, SVR, NuSVC, OneClassSVM

# scikit-learn's checks provoke warnings on purpose.
pytestmark = pytest.mark.filterwarnings("default")


@parametrize_with_checks(
    [
        SVC(),
        SVC(multi_class="ovr"),
        # One check has classes so unequal that nu = 0.5 has no solution.
        NuSVC(nu=0.3),
        SVR(),
        OneClassSVM(),
        # C = 1 keeps all training points inside the ball; one check wants outliers among them.
        SVDD(C=0.1),
        RVC(),
        RVC(multi_class="ovo"),
        RVR(),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)
