"""Kernel machines with windows beside River's learners on streams, tested before they train.

    python benchmarks/prequential.py [--streams weather elec2] [--examples 10000] [--windows 100]

weather comes with supple; elec2 is looked for in the folder named by SUPPLE_DATA and left out if
it is not there. All examples are raw and come one by one, in order of time, the first `--examples`
of them. The machines of supple scale by a StreamPipeline, which learns from the first 100 examples
and gives no answer to these (they count as errors); River's linear models scale by River's own
StandardScaler, its trees not at all. The table is in markdown: scores of all predictions,
processor time of training and of prediction, and the size of the pickled model at the end.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is loaded

import argparse  # noqa: E402
from typing import Any  # noqa: E402

from river import compose, forest, linear_model, tree  # noqa: E402
from river import preprocessing as river_preprocessing  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

from supple import LASVC, SVC, DataNotFoundError  # noqa: E402
from supple.memory import Window  # noqa: E402
from supple.streams import Prequential, StreamPipeline, load_stream, prequential  # noqa: E402

N_WARMUP = 100


def frozen(machine: Any) -> StreamPipeline:
    return StreamPipeline([("scale", StandardScaler()), ("svm", machine)], n_warmup=N_WARMUP)


def scaled(model: Any) -> Any:
    return compose.Pipeline(river_preprocessing.StandardScaler(), model)


def contenders(windows: list[int]) -> dict[str, Any]:
    """Return all learners with their usual parameters, C = 1 and gamma = "scale"."""
    return {
        **{f"SVC, Window({size})": frozen(SVC(memory=Window(size))) for size in windows},
        "LASVC": frozen(LASVC(random_state=0)),
        "LASVC, max_vectors=500": frozen(LASVC(max_vectors=500, random_state=0)),
        "River PAClassifier": scaled(linear_model.PAClassifier()),
        "River ALMAClassifier": scaled(linear_model.ALMAClassifier()),
        "River LogisticRegression": scaled(linear_model.LogisticRegression()),
        "River HoeffdingAdaptiveTree": tree.HoeffdingAdaptiveTreeClassifier(seed=0),
        "River ARFClassifier": forest.ARFClassifier(seed=0),
    }


def row(run: Prequential, name: str) -> str:
    last = run[name]
    own = [record for record in run.records if record.learner == name]
    fitting = sum(record.fit_seconds for record in own)
    asking = sum(record.predict_seconds for record in own)
    size = "-" if last.model_bytes is None else f"{last.model_bytes / 1024:,.0f}"
    scores = last.cumulative
    shares = " | ".join(f"{100 * s:.1f}" for s in (scores.accuracy, scores.kappa, scores.kappa_t))
    failed = f" ({last.error})" if last.error else ""
    return f"| {name}{failed} | {shares} | {fitting:.1f} | {asking:.1f} | {size} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--streams", nargs="+", default=["weather", "elec2"])
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--windows", nargs="+", type=int, default=[100, 500, 1000])
    options = parser.parse_args()
    for name in options.streams:
        try:
            stream = load_stream(name, n_samples=options.examples, download_if_missing=False)
        except DataNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        run = prequential(stream, learners=contenders(options.windows))
        for _ in run:
            pass
        print(f"\n{name}, the first {len(stream):,} examples\n")
        print("| learner | accuracy % | kappa % | kappa-T % | training s | prediction s | KiB |")
        print("|---|---|---|---|---|---|---|")
        for learner in run.models:
            print(row(run, learner), flush=True)


if __name__ == "__main__":
    main()
