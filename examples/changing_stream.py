"""A world that turns round three times, seen by five memories: who follows, and how fast.

    python examples/changing_stream.py [picture.png]

Two round classes rotate by 120 degrees at each change. Every batch of 25 is predicted before it is
learned. The picture has the accuracy of the latest 200 predictions, and the windows that
WindowedSVC has chosen.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from supple import SVC, WindowedSVC
from supple.diagnostics import WindowDisplay
from supple.memory import Decay, Window
from supple.streams import prequential, rotating_gaussians

BATCH = 25


def main() -> None:
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output/changing-stream.png")
    stream = rotating_gaussians(2000, n_concepts=4, angle=120, random_state=0)
    learners = {
        "all examples": SVC(gamma=0.5),
        "latest 100": SVC(gamma=0.5, memory=Window(100)),
        "latest 500": SVC(gamma=0.5, memory=Window(500)),
        "half as much after 100": SVC(gamma=0.5, memory=Decay(100)),
        "window that chooses itself": WindowedSVC(gamma=0.5),
    }
    run = prequential(stream, learners=learners, batch_size=BATCH, window=200, record_every=50)
    list(run)
    print(run)
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    run.plot("accuracy", ax=left)
    WindowDisplay.from_estimator(
        run.models["window that chooses itself"],
        change_points=[position // BATCH + 1 for position in stream.change_points],
        ax=right,
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, dpi=80)
    print(f"picture: {target}")


if __name__ == "__main__":
    main()
