"""Online novelty detection on EEG, as in Tax & Laskov (2003): a fixed SVDD beside a sliding one.

The stream is EEG eye state (SUPPLE_DATA: eeg_eye_state), 14980 rows of 14 channels at 128 Hz in
the order of time, scaled by median and quartiles of the first 500 rows: a few values are giant.
One SVDD is fitted to the first 500 rows, the other one holds the latest 500: each row is scored,
then learned, and the oldest one forgotten.

Two targets: the rows near a change of the eyes (those within 64 rows, half a second), as the paper
looked for keystrokes; and the rows with eyes closed ("state"). AUC of the scores, and false alarms
at equal detection: the share of the other rows above the threshold at which 80 % of the changes
have a row above it, or 80 % of the rows.

Steps: processor time of one row scored and learned, the last thousand against the first thousand
after the window is full (bar: 1.2 times), and resident memory (bar: 5 MB more after the first
thousand).

    python benchmarks/novelty.py [--picture FILE]

One thread.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
import json  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from supple import SVDD, OneClassSVM  # noqa: E402
from supple.datasets import load  # noqa: E402
from supple.diagnostics import NoveltyDisplay  # noqa: E402
from supple.experiments.protocols._online import (  # noqa: E402
    NU,
    SIZE,
    judge_novelty,
    scale_by_start,
)
from supple.memory import Window  # noqa: E402

RESULTS = Path(__file__).resolve().parent / "results" / "novelty.json"
TIME_BAR, MEMORY_BAR = 1.2, 5.0


def resident() -> float:
    """Return the memory in use in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def slide(model, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Return the scores of rows before they are learned, the time of each step, and memory."""
    scores, seconds, memory = np.empty(len(X)), np.empty(len(X)), []
    for i in range(len(X)):
        row = X[i : i + 1]
        start = time.process_time()
        scores[i] = model.decision_function(row)[0]
        model.partial_fit(row)
        seconds[i] = time.process_time() - start
        if (i + 1) % 1000 == 0:
            memory.append(resident())
    return scores, seconds, memory


def judged(name: str, scores: np.ndarray, y: np.ndarray) -> dict:
    changes, found = judge_novelty(-scores, y)
    parts = [
        f"{target}: AUC {own['AUC']:.1f} %, false alarms {own['false alarms']:.1f} %"
        for target, own in found.items()
    ]
    outside = found["changes"]["outside"]
    print(f"{name:18s} {len(changes)} {'; '.join(parts)}; outside {outside:.1f} %", flush=True)
    return found


def steps(name: str, seconds: np.ndarray, memory: list[float]) -> dict:
    first, last = 1e6 * seconds[:1000].mean(), 1e6 * seconds[-1000:].mean()
    grown = memory[-1] - memory[0]
    met = bool(last <= TIME_BAR * first and grown <= MEMORY_BAR)
    print(
        f"{name:18s} {first:.0f} us each in the first thousand steps, {last:.0f} in the last: "
        f"{last / first:.2f} times; slowest {1e3 * seconds.max():.1f} ms; memory "
        f"{memory[0]:.1f} MB, then {memory[-1]:.1f} {'' if met else 'NOT MET'}",
        flush=True,
    )
    return {"first": first, "last": last, "ratio": last / first, "grown_mb": grown, "met": met}


def draw(path: Path, scores: dict[str, np.ndarray], y: np.ndarray) -> None:
    """Write a picture as figure 1 of the paper, of the stretch with the most changes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    part = slice(1500, 4000)
    fig, axes = plt.subplots(len(scores), 1, figsize=(10, 5), layout="constrained", sharex=True)
    for ax, (name, each) in zip(axes, scores.items(), strict=True):
        display = NoveltyDisplay.from_scores(each[part], truth=y[part] == 1, ax=ax)
        display.ax_.set_title(f"{name}; shaded: eyes closed", fontsize=10)
    path.parent.mkdir(exist_ok=True)
    fig.savefig(path, dpi=100)
    plt.close(fig)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--picture", type=Path, default=RESULTS.with_suffix(".png"))
    options = parser.parse_args()
    data = load("eeg_eye_state")
    X, gamma = scale_by_start(np.asarray(data.X, dtype=float))
    y = np.asarray(data.y).astype(int)
    # In a full window the share nu is this C, and the updates are cheaper: no box changes.
    models = {
        "SVDD C=1/(nu size)": SVDD(C=1.0 / (NU * SIZE), gamma=gamma, memory=Window(SIZE)),
        "SVDD nu": SVDD(nu=NU, gamma=gamma, memory=Window(SIZE)),
        "OneClassSVM nu": OneClassSVM(nu=NU, gamma=gamma, memory=Window(SIZE)),
    }
    fixed = SVDD(nu=NU, gamma=gamma).fit(X[:SIZE]).decision_function(X[SIZE:])
    scores, found = {"fixed SVDD": fixed}, {"fixed": judged("fixed SVDD", fixed, y[SIZE:])}
    for name, model in models.items():
        each, seconds, memory = slide(model.fit(X[:SIZE]), X[SIZE:])
        found[name] = judged(name, each, y[SIZE:]) | steps(name, seconds, memory)
        scores.setdefault("sliding SVDD", each)
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    draw(options.picture, scores, y[SIZE:])
    print("wrote", options.picture)
    return int(not all(row.get("met", True) for row in found.values()))


if __name__ == "__main__":
    raise SystemExit(main())
