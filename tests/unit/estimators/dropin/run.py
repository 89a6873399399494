"""Run scikit-learn's tests of its support vector machines on the classes of supple.

The two test files of the installed scikit-learn are run as they are. Before they are imported,
the classes in `sklearn.svm` are replaced by supple's of the same name. A test that fails must
match a row of EXPECTED, and a test that matches a row must fail; anything else is an error. The
table is that of scikit-learn 1.9.
"""

import os
import re
import sys
from collections import Counter
from pathlib import Path

import pytest
import sklearn
import sklearn.svm

import supple

CLASSES = ("SVC", "NuSVC", "SVR", "OneClassSVM")
MODULES = ("sklearn.svm.tests.test_svm", "sklearn.svm.tests.test_sparse")

# Why tests fail, and which: regular expressions for the names, with their parameters.
EXPECTED = {
    "no probability estimates: they are deprecated, LeaveOneOutCalibrator gives them": (
        r"test_probability\[.*",
        r"test_hasattr_predict_proba\[.*",
        r"test_svc_nusvc_probA_probB_deprecated\[.*",
        r"test_unsorted_indices\[.*",
        r"test_sparse_svc_clone_with_callable_kernel\[.*",
    ),
    "a negative sample weight is an error, it does not count as 0": (
        r"test_negative_sample_weights_mask_all_samples\[weights-are-negative-(?!NuSVR).*",
        r"test_negative_weights_svc_leave_just_one_label\[.*",
        r"test_negative_weights_svc_leave_two_labels\[partial-mask-label-1-.*",
        r"test_negative_weight_equal_coeffs\[partial-mask-label-1-(?!NuSVR).*",
    ),
    "C must be finite: updates move examples through the whole range from 0 to C": (
        r"test_svm_with_infinite_C\[.*",
    ),
    "sparse and dense queries are welcome, whichever the model was fitted to": (
        r"test_bad_input\[.*",
    ),
    "bad input is refused earlier, before it can make the solution useless": (
        r"test_svc_nonfinite_params\[.*",
        r"test_svr_errors",
    ),
    "the test writes to private attributes of scikit-learn's class": (
        r"test_tweak_params",
        r"test_svc_raises_error_internal_representation",
    ),
    "the kernel of the test is right only for a set of examples against itself": (
        r"test_custom_kernel_not_array_input\[.*",
    ),
}
# Rounding decides whether these pass. Two rows of iris are equal: only the sum of their
# coefficients is determined, and the test compares each. Two classes of blobs are symmetric: their
# decision is 0 everywhere, and the test asks for its sign (scikit-learn's issue 29633).
UNDETERMINED = (
    r".*: (test_sparse_oneclasssvm\[.*-rbf-X_train3-.*|test_svc_ovr_tie_breaking\[.*-NuSVC\])"
)


class Outcomes:
    """A pytest plugin that notes whether each test has passed, failed or was skipped."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of the call, or of a phase before or after it that went wrong."""
        if report.when == "call" or report.outcome != "passed":
            file, _, name = report.location
            self.of[f"{Path(file).name}: {name}"] = report.outcome


def run(verbosity: str = "-qq") -> tuple[int, dict[str, str]]:
    """Return pytest's exit code and the outcome of every test."""
    for name in CLASSES:
        setattr(sklearn.svm, name, getattr(supple, name))
    outcomes = Outcomes()
    # Without the configuration of this project, whose tests are stricter about warnings.
    options = ["-c", os.devnull, "-p", "no:cacheprovider", "--disable-warnings", verbosity]
    code = pytest.main([*options, "--tb=line", "--no-summary", "--pyargs", *MODULES], [outcomes])
    return int(code), outcomes.of


def reason_for(name: str) -> str | None:
    """Return why the test is expected to fail, None if it is not."""
    bare = name.split(": ", 1)[1]
    reasons = [r for r, rows in EXPECTED.items() if any(re.fullmatch(row, bare) for row in rows)]
    assert len(reasons) <= 1, f"{name} stands in the table twice"
    return reasons[0] if reasons else None


def main() -> int:
    """Run the tests, print the table, and return 1 if it is not as expected."""
    code, outcomes = run()
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not outcomes:
        print(f"pytest ended with code {code}: the tests did not run")
        return 1
    outcomes = {name: o for name, o in outcomes.items() if not re.fullmatch(UNDETERMINED, name)}
    failed = {name for name, outcome in outcomes.items() if outcome == "failed"}
    expected = {name: reason for name in outcomes if (reason := reason_for(name))}
    count = Counter(outcomes.values())
    print(f"\nscikit-learn {sklearn.__version__}, {' and '.join(MODULES)}")
    print(", ".join(f"{n} {outcome}" for outcome, n in count.most_common()))
    for reason, n in Counter(expected[name] for name in failed & expected.keys()).most_common():
        print(f"{n:5d}  {reason}")
    wrong = [f"fails unexpectedly: {name}" for name in sorted(failed - expected.keys())]
    wrong += [
        f"is expected to fail and does not: {name} ({outcomes[name]})"
        for name in sorted(expected.keys() - failed)
    ]
    print("\n".join(wrong or ["all failures are expected"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
