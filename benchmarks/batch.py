"""Time of `fit` and `predict` on whole data sets against other libraries, in ratios of one run.

Peers: scikit-learn's SVC and, where installed, scikit-learn-intelex, libsvm-official and
thundersvm-cpu. Each system has a process of its own and they take turns, never two at once; the
best round counts. Every solution is judged by one function: the dual objectives must agree.

    python benchmarks/batch.py [--threads 1] [--rounds 3] [--cases digits ...] [--systems ...]
    python benchmarks/batch.py --scaling | --warm | --imports    # other questions, same file
    python benchmarks/batch.py --docs docs/benchmarks.md         # write the last results there

a9a.npz and mnist.npz are looked for in the folder named by SUPPLE_DATA.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is loaded; a child inherits its own number

import argparse  # noqa: E402
import datetime  # noqa: E402
import json  # noqa: E402
import platform  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from pathlib import Path  # noqa: E402

import batch_report as report  # noqa: E402
import numpy as np  # noqa: E402
from batch_cases import (  # noqa: E402
    NAMES,
    SCALING,
    Case,
    dual_objective,
    load,
    objective_of,
    unavailable,
)
from batch_workers import SYSTEMS, Worker  # noqa: E402

COMPARED = {"supple", "scikit-learn", "intelex"}  # the systems of the bars: as many rounds each
SLOW = 10.0  # seconds of a fit after which another system has one round only
TIMES = ("fit_s", "fit_cpu_s", "predict_s", "predict_cpu_s")


def take_turns(workers: dict[str, Worker], case: Case, options: argparse.Namespace) -> dict:
    """Return for each system its best times over the rounds and its last solution.

    No round begins that would, if it takes as long as the one before, end after `options.cap`
    seconds of this case.
    """
    results: dict[str, dict] = {name: {} for name in workers}
    begin = last = time.perf_counter()
    for k in range(options.rounds):
        names = list(workers)
        for name in names[k % len(names) :] + names[: k % len(names)]:
            known = results[name]
            if "error" in known or (name not in COMPARED and known.get("fit_s", 0.0) > SLOW):
                continue
            reply = workers[name].ask("measure", case.name, case.params, timeout=options.timeout)
            if "error" in reply:
                results[name] = {"error": reply["error"]}
                continue
            best = {key: min(reply[key], known.get(key, reply[key])) for key in TIMES}
            results[name] = reply | best | {"rounds": known.get("rounds", 0) + 1}
        now = time.perf_counter()
        if now - begin + (now - last) > options.cap:
            break
        last = now
    return results


def judge(case: Case, results: dict[str, dict]) -> None:
    """Replace the solutions in `results` by their objective, accuracy and check."""
    for result in results.values():
        if "error" in result:
            continue
        labels = result.pop("labels")
        result["accuracy"] = float(np.mean(labels == case.y_test))
        result["n_sv"] = len(result["support"])
        result["objective"], result["violation"] = objective_of(case, result)
        del result["support"], result["dual"]
    own = results.get("supple", {"error": "left out"})
    if "error" in own:
        return
    own["ok"] = own["violation"] <= report.WORSE
    for name, result in results.items():
        if name != "supple" and "error" not in result:
            result["check"] = report.check(own, result)


def start(systems: list[str], threads: int) -> tuple[dict[str, Worker], dict[str, str]]:
    """Return the processes of the installed systems, and what is known of every system."""
    workers, about = {}, {}
    for name in systems:
        worker = Worker(name, threads)
        about[name] = worker.version or f"not installed ({worker.missing})"
        if worker.missing:
            print(f"{name}: {about[name]}")
        else:
            workers[name] = worker
    if "supple" not in workers:
        sys.exit("supple itself must be installed and among the --systems")
    return workers, about


def machine(threads: int | str, systems: dict[str, str]) -> dict:
    """Return what the numbers depend on; call it before the measurements, for the load."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        found = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        name = found[0].split(":", 1)[1].strip() if found else name
    load_average = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    return {"date": datetime.date.today().isoformat(), "processor": name,
            "processors": os.cpu_count(), "load": load_average, "threads": threads,
            "python": platform.python_version(), "numpy": np.__version__,
            "systems": systems}  # fmt: skip


def save(path: Path, key: str, result: dict) -> None:
    """Write one section of the results and keep the others."""
    path.parent.mkdir(parents=True, exist_ok=True)
    results = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    results[key] = result
    path.write_text(json.dumps(results, indent=1, default=float), encoding="utf-8")


def batch(options: argparse.Namespace) -> int:
    workers, about = start(options.systems, options.threads)
    rows: list[dict] = []
    result = {"machine": machine(options.threads, about), "seed": 0, "rows": rows}
    for name in NAMES:
        if options.cases and not any(part in name for part in options.cases):
            continue
        reason = unavailable(name)
        if reason:
            rows.append({"case": name, "skipped": reason})
            print(f"{name}: {reason}", flush=True)
            continue
        case = load(name)
        systems = take_turns(workers, case, options)
        judge(case, systems)
        rows.append({**case.facts(), "systems": systems})
        text = ", ".join(f"{s} {report.seconds(r['fit_s']) if 'fit_s' in r else r['error']}"
                         for s, r in systems.items())  # fmt: skip
        print(f"{name}: {text}", flush=True)
        save(options.json, "batch", result)  # a run that is cut short keeps what it has
    for worker in workers.values():
        worker.stop()
    if not rows:
        sys.exit(f"no case matches --cases {' '.join(options.cases)}")
    save(options.json, "batch", result)
    print("\n" + report.batch_text(result) + f"\n\nwritten: {options.json}")
    failed = report.failures(rows)
    if failed:
        print(f"FAILED CHECKS: {', '.join(failed)}")
    return 1 if failed else 0


def scaling(options: argparse.Namespace) -> int:
    """Supple alone with one and with two threads, on the largest cases that are at hand."""
    names = [name for name in SCALING if not unavailable(name)][: report.LARGEST]
    if options.json.exists():
        known = json.loads(options.json.read_text(encoding="utf-8")).get("batch", {"rows": []})
        found = [r["case"] for r in report.largest(known["rows"]) if not unavailable(r["case"])]
        names = found if len(found) == report.LARGEST else names
    if options.cases:
        names = [name for name in NAMES if any(part in name for part in options.cases)
                 and not unavailable(name)]  # fmt: skip
    before = machine("1 and 2", {})
    workers = {f"{threads} threads": Worker("supple", threads) for threads in (1, 2)}
    missing = workers["1 threads"].missing
    if missing:
        sys.exit(f"supple cannot be imported: {missing}")
    before["systems"]["supple"] = workers["1 threads"].version
    rows = []
    for name in names:
        one, two = take_turns(workers, load(name), options).values()
        for reply in (one, two):
            if "error" in reply:
                sys.exit(f"{name}: {reply['error']}")
        rows.append({"case": name, "one_s": one["fit_s"], "two_s": two["fit_s"],
                     "gain": one["fit_s"] / two["fit_s"], "rounds": one["rounds"],
                     "predict_gain": one["predict_s"] / two["predict_s"]})  # fmt: skip
        print(f"{name}: {rows[-1]['gain']:.2f}x", flush=True)
    result = {"machine": before, "rows": rows}
    save(options.json, "scaling", result)
    print(report.scaling_text(result))
    return 0


def warm(options: argparse.Namespace, count: int = 200) -> int:
    """Adding rows to a fitted model against fitting all rows; both must reach one optimum."""
    before = machine(options.threads, {})
    workers, about = start(["supple"], options.threads)
    before["systems"] = about
    rows = []
    for name in ("20000x20 C=1", "20000x20 C=100", "20000x100 C=1", "20000x100 C=100"):
        case, replies = load(name), []
        begin = time.perf_counter()
        while len(replies) < options.rounds and time.perf_counter() - begin < options.cap:
            reply = workers["supple"].ask("warm", name, case.params, count, timeout=options.timeout)
            if "error" in reply:
                sys.exit(f"{name}: {reply['error']}")
            replies.append(reply)
        X = np.vstack([case.X, case.X_test[:count]])
        y = np.concatenate([case.y, case.y_test[:count]])
        value = {}
        for key in ("warm", "cold"):
            found = replies[-1][key]
            value[key], _ = dual_objective(
                X, y, found["support"], found["dual"], case.C, case.gamma
            )
        warm_s, cold_s = (min(r[key] for r in replies) for key in ("warm_s", "cold_s"))
        rows.append({"case": name, "warm_s": warm_s, "cold_s": cold_s, "share": warm_s / cold_s,
                     "difference": (value["warm"] - value["cold"]) / abs(value["cold"]),
                     "rounds": len(replies)})  # fmt: skip
        print(f"{name}: {rows[-1]['share']:.3f}", flush=True)
    result = {"machine": before, "rows": rows}
    save(options.json, "warm", result)
    print(report.warm_text(result))
    return 1 if any(abs(r["difference"]) > report.WORSE for r in rows) else 0


def imports(options: argparse.Namespace, count: int = 5) -> int:
    """What `import supple` adds to `import sklearn.svm`, in fresh processes."""
    code = ("import sklearn.svm, time; t = time.perf_counter(); import supple; "
            "print(time.perf_counter() - t)")  # fmt: skip
    before = machine(1, {"supple": "as installed"})
    times = [
        float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True,
                             text=True).stdout)
        for _ in range(count + 1)
    ][1:]  # fmt: skip  # the first one reads the files from the disk
    result = {"machine": before, "times_s": times, "median_s": statistics.median(times)}
    save(options.json, "imports", result)
    print(report.imports_text(result))
    return 0


def common_options(description: str, output: str) -> argparse.ArgumentParser:
    """Return the options that batch.py and growth.py share."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cap", type=float, default=120.0,
                        help="seconds of a case after which it gets no further round")  # fmt: skip
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds of one turn")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results") / output)
    return parser


def main() -> int:
    parser = common_options(__doc__.splitlines()[0], "batch.json")
    parser.add_argument("--cases", nargs="+", default=[], metavar="PART", help="parts of names")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--scaling", action="store_true", help="supple with 1 and 2 threads")
    mode.add_argument("--warm", action="store_true", help="partial_fit against a fit of all rows")
    mode.add_argument("--imports", action="store_true", help="time of the import")
    mode.add_argument("--docs", type=Path, metavar="PAGE", help="write the last results there")
    options = parser.parse_args()
    if options.docs:
        if not options.json.exists():
            sys.exit(f"There are no results in {options.json}; run the benchmark first.")
        report.fill(options.docs, options.json)
        return 0
    for name in ("scaling", "warm", "imports"):
        if getattr(options, name):
            return globals()[name](options)
    return batch(options)


if __name__ == "__main__":
    sys.exit(main())
