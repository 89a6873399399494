"""Draw the pictures of docs/estimates.md: how good a model is, how sure, and why.

Embedded data, standardised, in a random order with seed 0; each picture says which.
"""

from pathlib import Path
from types import SimpleNamespace

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibrationDisplay

from supple import SVC, SVR
from supple.datasets import load
from supple.diagnostics import (
    ConformalClassifier,
    ConformalDisplay,
    ConformalRegressor,
    InfluenceDisplay,
    LeaveOneOutCalibrator,
    LeaveOneOutDisplay,
    MartingaleDisplay,
    XiAlphaDisplay,
    leave_one_out,
)

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"


def shuffled(name):
    """Return the points, standardised, and the labels of a set in a random order."""
    data = load(name)
    order = np.random.default_rng(0).permutation(len(data.y))
    X = np.asarray(data.X, dtype=float)[order]
    return (X - X.mean(axis=0)) / X.std(axis=0), data.y[order]


def panels():
    """Return a figure with two panels."""
    return plt.subplots(1, 2, figsize=(9.0, 3.4), layout="constrained")


def save(figure, name):
    """Save a picture."""
    figure.savefig(IMAGES / name, dpi=80)
    plt.close(figure)
    print(f"wrote {name}")


def draw_errors():
    """Draw estimates of the error over C, and the leave-one-out decisions at one C."""
    X, y = shuffled("pima")
    model = SVC(C=1.0, gamma=0.05).fit(X[:500], y[:500])
    figure, (left, right) = panels()
    XiAlphaDisplay.from_estimator(model, X_test=X[500:], y_test=y[500:], ax=left)
    left.set_title("pima, 500 examples, 268 for the test")
    LeaveOneOutDisplay.from_estimator(model, ax=right)
    right.set_title("C = 1")
    save(figure, "estimates-error.png")


def draw_regression():
    """Draw leave-one-out predictions of a regression, and its intervals."""
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(0.0, 6.0, size=(120, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.2 * rng.normal(size=120)
    conformal = ConformalRegressor(SVR(C=10.0, gamma=1.0)).fit(X[::2], y[::2])
    figure, (left, right) = panels()
    LeaveOneOutDisplay.from_estimator(conformal.estimator_, ax=left)
    left.set_title("sine with noise, 60 examples")
    ConformalDisplay.from_estimator(conformal, X[1::2], y[1::2], level=0.9, feature=0, ax=right)
    right.set_title("60 others")
    save(figure, "estimates-regression.png")


def draw_probabilities():
    """Draw a calibration curve, and the suspects among examples of which some are mislabelled."""
    X, y = shuffled("pima")
    likely = LeaveOneOutCalibrator(SVC(C=1.0, gamma=0.05)).fit(X[:500], y[:500])
    figure, (left, right) = panels()
    CalibrationDisplay.from_estimator(likely, X[500:], y[500:], n_bins=6, ax=left, name="SVC")
    left.set_title("pima, 268 test examples")
    X, y = shuffled("wbc")
    labels, wrong = np.unique(y), np.arange(10)
    y[wrong] = np.where(y[wrong] == labels[0], labels[1], labels[0])
    model = SVC(C=100.0, gamma=0.02).fit(X[:300], y[:300])
    result = leave_one_out(model)
    suspects = result.ids[~result.correct]
    signs, effect = np.where(y[300:] == model.classes_[1], 1.0, -1.0), []

    def loss():
        return np.maximum(0.0, 1.0 - signs * model.decision_function(X[300:])).mean()

    base = loss()
    for each in suspects:
        with model.what_if() as trial:
            trial.forget(each)
            effect.append(loss() - base)
    record = SimpleNamespace(ids=suspects, effect=effect)
    highlight = np.intersect1d(wrong, suspects)
    InfluenceDisplay.from_influence(record, n_worst=15, highlight=highlight, ax=right)
    right.locator_params(axis="x", nbins=5)
    right.set_title("wbc, 300 examples; red: flipped labels")
    save(figure, "estimates-why.png")


def draw_sets():
    """Draw coverage and size of conformal sets, and a martingale that sees a change."""
    X, y = shuffled("banana")
    figure, (left, right) = panels()
    conformal = ConformalClassifier(SVC(C=1.0, gamma=0.5)).fit(X[:500], y[:500])
    ConformalDisplay.from_estimator(conformal, X[500:1000], y[500:1000], ax=left)
    left.set_title("banana, 500 examples, 500 queries")
    stream = X[:400].copy()
    stream[250:] += [1.0, 0.0]
    online = ConformalClassifier(SVC(C=1.0, gamma=0.5), smoothed=True, random_state=0)
    MartingaleDisplay.from_estimator(online, stream, y[:400], ax=right)
    right.axvline(250, color="0.5", linewidth=0.8)
    right.set_title("banana, shifted from 250 on")
    save(figure, "estimates-sets.png")


if __name__ == "__main__":
    draw_errors()
    draw_regression()
    draw_probabilities()
    draw_sets()
