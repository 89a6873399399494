"""Threads, Ctrl-C and want of memory: the model is always one that really existed.

    python benchmarks/stress.py threads --seconds 60
    python benchmarks/stress.py interrupts --trials 2000
    python benchmarks/stress.py memory --trials 400

`threads` lets eight threads use one model for so many seconds per estimator (tests/crowd.py).
`interrupts` and `memory` make so many calls, over all estimators, that SIGINT or want of memory may
end at random moments (tests/mishaps.py). Each estimator has a process of its own; one that crashes
or does not come to an end counts as a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from crowd import ESTIMATORS, growing, swapping
from mishaps import interrupts, shortages

_PATIENCE = 600  # seconds beyond those that a process is to take


def one(kind: str, name: str, amount: float, seed: int) -> dict:
    """Return the result of one estimator, in this process."""
    if kind == "threads":
        parts = [way(name, amount / 2, seed) for way in (swapping, growing)]
        calls, failures = sum(p.calls for p in parts), [f for p in parts for f in p.failures]
        return {"calls": calls, "ended": 0, "failures": failures}
    found = (interrupts if kind == "interrupts" else shortages)(name, int(amount), seed)
    return {"calls": found.count, "ended": found.failed_calls, "failures": found.failures}


def apart(kind: str, name: str, amount: float, seed: int) -> dict:
    """Return the same from a process of its own."""
    command = [sys.executable, __file__, kind, "--seed", str(seed), "--one", name, str(amount)]
    patience = _PATIENCE + (amount if kind == "threads" else 0)
    try:
        environment = os.environ | {"PYTHONMALLOC": "malloc"}  # it would keep some for itself
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return {"calls": 0, "ended": 0, "failures": [f"no end after {patience:.0f} s"]}
    if done.returncode != 0:
        what = f"exit code {done.returncode}: {done.stderr[-1000:]}"
        return {"calls": 0, "ended": 0, "failures": [what]}
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=["threads", "interrupts", "memory"])
    parser.add_argument("--seconds", type=float, default=60.0, help="threads: per estimator")
    parser.add_argument("--trials", type=int, default=400, help="others: over all estimators")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--estimators", nargs="+", choices=ESTIMATORS, default=ESTIMATORS)
    parser.add_argument("--one", nargs=2, metavar=("NAME", "AMOUNT"), help=argparse.SUPPRESS)
    args = parser.parse_args()

    if args.one:
        print(json.dumps(one(args.kind, args.one[0], float(args.one[1]), args.seed)))
        return 0
    share = -(-args.trials // len(args.estimators))
    amount = args.seconds if args.kind == "threads" else share
    print(f"{args.kind}, seed {args.seed}\n")
    print(f"{'estimator':<18}{'calls':>9}{'ended':>8}{'failures':>10}")
    calls = ended = failures = 0
    for name in args.estimators:
        found = apart(args.kind, name, amount, args.seed)
        print(f"{name:<18}{found['calls']:>9}{found['ended']:>8}{len(found['failures']):>10}")
        for failure in found["failures"][:3]:
            print(f"    {failure}")
        sys.stdout.flush()
        calls, ended = calls + found["calls"], ended + found["ended"]
        failures += len(found["failures"])
    print(f"{'all':<18}{calls:>9}{ended:>8}{failures:>10}")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
