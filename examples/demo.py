"""Stream a data set through `SVC.partial_fit`, forget a part, compare with refitting.

Run it with `make demo`. The picture goes to demo-output/, where the comparison of machines that
follows puts its report. The script ends with an error if the
model after forgetting differs from a fit on the remaining examples.
"""

import os
import subprocess
import sys
import time

import numpy as np
import picture
from sklearn.svm import SVC as ReferenceSVC
from threadpoolctl import threadpool_limits

import supple
from supple.datasets import load

N_TRAIN, FIRST_BATCH, BATCH, SINGLES = 2000, 500, 100, 500
PARAMETERS = {"C": 10.0, "kernel": "rbf", "gamma": 1.0}
HEADER = (
    f"{'step':<32}{'held':>6}{'SVs':>6}{'accuracy':>10}{'KKT viol.':>11}"
    f"{'ms/call':>10}{'ms/refit':>10}{'ratio':>8}{'seconds':>9}"
)


def stream(seed=0):
    """Return training and test parts of banana: shuffled, scaled with the first batch."""
    data = load("banana", scaled=False)
    order = np.random.default_rng(seed).permutation(len(data.y))
    X, y = data.X[order], data.y[order]
    X = (X - X[:FIRST_BATCH].mean(axis=0)) / X[:FIRST_BATCH].std(axis=0)
    return X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]


def progress(done, total):
    """Show on a terminal how many calls of a step are done."""
    if sys.stdout.isatty():
        print(f"  {done}/{total} calls" if done < total else " " * 24, end="\r", flush=True)


def timed(function, *arguments):
    """Return the time one call takes, and its result."""
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


class Demo:
    """One model, the examples it has seen, and the table of what happened to it."""

    def __init__(self):
        self.X, self.y, self.X_test, self.y_test = stream()
        self.model = supple.SVC(**PARAMETERS)

    def step(self, title, function, calls):
        """Call `function` with each arguments of `calls`, then print one row of the table."""
        start, times = time.perf_counter(), []
        for number, arguments in enumerate(calls, 1):
            times.append(timed(function, *arguments)[0])
            progress(number, len(calls))
        update, refit = np.median(times), self.refit_seconds()
        model = self.model
        print(
            f"{title:<32}{self.held:>6}{len(model.support_):>6}"
            f"{model.score(self.X_test, self.y_test):>10.4f}{model.kkt_violation_:>11.1e}"
            f"{update * 1e3:>10.3f}{refit * 1e3:>10.2f}{refit / update:>7.1f}x"
            f"{time.perf_counter() - start:>9.2f}",
            flush=True,
        )

    def refit_seconds(self, repeats=5):
        """Return the median time of fitting scikit-learn's SVC to the examples now held."""
        X, y = self.X[self.model.ids_], self.y[self.model.ids_]
        fits = [timed(ReferenceSVC(**PARAMETERS).fit, X, y) for _ in range(repeats)]
        return np.median([took for took, _ in fits])

    @property
    def held(self):
        """Number of examples that the model holds."""
        return len(self.model.ids_)

    def learn(self):
        """Learn the training part: one large batch, small batches, single examples."""

        def slices(start, stop, size):
            return [(self.X[i : i + size], self.y[i : i + size]) for i in range(start, stop, size)]

        learn, singles = self.model.partial_fit, N_TRAIN - SINGLES
        self.step(f"learn {FIRST_BATCH} at once", learn, slices(0, FIRST_BATCH, FIRST_BATCH))
        batches = slices(FIRST_BATCH, singles, BATCH)
        self.step(f"learn {len(batches)} batches of {BATCH}", learn, batches)
        self.step(f"learn {SINGLES} one by one", learn, slices(singles, N_TRAIN, 1))

    def forget(self):
        """Forget the oldest 300 examples in one call and the next 100 one by one."""
        self.step("forget the oldest 300 at once", self.model.forget, [(np.arange(300),)])
        self.step("forget 100 one by one", self.model.forget, [([i],) for i in range(300, 400)])

    def check(self):
        """Return the largest difference to a fit on the examples left; None if it is too large."""
        X, y = self.X[self.model.ids_], self.y[self.model.ids_]
        values = self.model.decision_function(self.X_test)
        # LIBSVM keeps kernel values in single precision, which limits how far it can agree.
        others = {
            "scikit-learn (tol=1e-10)": (ReferenceSVC(**PARAMETERS, tol=1e-10), 1e-4),
            "supple's own fit": (supple.SVC(**PARAMETERS), 1e-8),
        }
        print(f"\nThe {len(y)} examples that are left, fitted from nothing:")
        agree = True
        for name, (other, allowed) in others.items():
            took, fitted = timed(other.fit, X, y)
            difference = np.abs(fitted.decision_function(self.X_test) - values).max()
            print(
                f"  largest difference of decision values to {name}: {difference:.1e} "
                f"({took:.2f} s)",
                flush=True,
            )
            agree &= bool(difference <= allowed)
        return difference if agree else None


def compare_machines(folder):
    """Run the command `supple compare` as a user would; return its exit status."""
    print(f"\n$ supple compare --out {folder}", flush=True)
    command = [sys.executable, "-m", "supple.cli", "compare", "--out", folder]
    status = subprocess.run(command, check=False).returncode
    installed = os.path.relpath(os.path.join(os.path.dirname(sys.executable), "supple"))
    print(f"\nThe same in the browser, with your own data: {installed} workbench")
    return status


def main():
    """Run the demo; return the exit status."""
    demo = Demo()
    print(
        f"banana: {N_TRAIN} examples arrive, {len(demo.y_test)} are kept for testing; "
        f"SVC(C=10, gamma=1), one thread.\n"
        "ms/call: median time of one update; ms/refit: scikit-learn's SVC fitted to the same "
        "examples;\nseconds: the whole step, with the refits and the test.\n"
    )
    print(HEADER + "\n" + "-" * len(HEADER))
    with threadpool_limits(limits=1):
        demo.learn()
        demo.forget()
        difference = demo.check()
    took, path = timed(picture.draw)
    print(f"\nWrote {os.path.relpath(path)} ({took:.1f} s)")
    if difference is None:
        print("The models differ more than rounding explains: this is a bug.", file=sys.stderr)
        return 1
    print(
        f"\nShown: a model that learned {N_TRAIN} examples and forgot {N_TRAIN - demo.held} of "
        f"them is the model fitted to the other {demo.held}; its decision values differ by at most "
        f"{difference:.0e}."
    )
    return compare_machines(os.path.join(os.path.relpath(path.parent), "compare"))


if __name__ == "__main__":
    sys.exit(main())
