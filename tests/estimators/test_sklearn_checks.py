"""scikit-learn's own checks; only online machines have expected failures."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from supple import (
    LASVC,
    RVC,
    RVR,
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    BudgetSVDD,
    NuSVC,
    OneClassSVM,
    SimpleSVC,
    SVIncrementalSVC,
    SVIncrementalSVR,
)

# scikit-learn's checks provoke warnings on purpose.
pytestmark = pytest.mark.filterwarnings("default")


REASON = "an online machine depends on the order of the examples, within its tolerance"
ONLINE = {
    "check_sample_weight_equivalence_on_dense_data": REASON,
    "check_sample_weight_equivalence_on_sparse_data": REASON,
}


@parametrize_with_checks(
    [
        SVC(),
        SVC(multi_class="ovr"),
        SimpleSVC(),
        LASVC(random_state=0),
        LASVC(selection="active", epochs=2, random_state=0),
        # One check has classes so unequal that nu = 0.5 has no solution.
        NuSVC(nu=0.3),
        SVR(),
        OneClassSVM(),
        # C = 1 keeps all training points inside the ball; one check wants outliers among them.
        SVDD(C=0.1),
        RVC(),
        RVC(multi_class="ovo"),
        RVR(),
        BudgetSVC(),
        BudgetSVDD(C=0.1),
        SVIncrementalSVC(sv_weight="ruping"),
        SVIncrementalSVR(),
    ],
    expected_failed_checks=lambda estimator: ONLINE if isinstance(estimator, LASVC) else {},
)
def test_sklearn_check(estimator, check):
    check(estimator)
