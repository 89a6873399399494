"""scikit-learn's own checks of every estimator, with its default parameters and with others."""

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
    WindowedSVC,
)

# scikit-learn's checks provoke warnings on purpose.
pytestmark = pytest.mark.filterwarnings("default")


EQUIVALENCE = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
ORDER = "an online machine depends on the order of the examples, within its tolerance"
NU = "the classes of this check are so unequal that nu = 0.5, scikit-learn's default, is infeasible"


def expected_failures(estimator):
    if isinstance(estimator, LASVC):
        return dict.fromkeys(EQUIVALENCE, ORDER)
    if isinstance(estimator, NuSVC) and estimator.nu == 0.5:
        return dict.fromkeys(EQUIVALENCE, NU)
    return {}


@parametrize_with_checks(
    [
        SVC(),
        SVC(multi_class="ovr"),
        SimpleSVC(),
        LASVC(),
        LASVC(selection="active", epochs=2, random_state=0),
        NuSVC(),
        NuSVC(nu=0.3),
        SVR(),
        OneClassSVM(),
        SVDD(),
        RVC(),
        RVC(multi_class="ovo"),
        RVR(),
        BudgetSVC(),
        BudgetSVDD(),
        SVIncrementalSVC(),
        SVIncrementalSVC(sv_weight="ruping"),
        SVIncrementalSVR(),
        WindowedSVC(),
        WindowedSVC(window="last"),
    ],
    expected_failed_checks=expected_failures,
)
def test_sklearn_check(estimator, check):
    check(estimator)
