"""Random walks over the exact estimators on ordinary and wild data, each step certified.

After every operation a certificate in extended precision, computed from public attributes and the
raw rows, must confirm what the model says of itself; a fresh fit on the examples held must give
the same model; Clarabel must find no better point. See tests/fuzzing/.

    python benchmarks/fuzz.py --minutes 10 --jobs 2
    python benchmarks/fuzz.py --replay 123
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from fuzzing.runner import PATIENCE, Result, run, run_walk

SHOWN = 3  # seeds of each kind of failure
SIDES = ("ordinary", "wild")


def replay(seed: int) -> int:
    """Run one walk and tell every step."""
    result = run_walk(seed, announce=lambda text: print(f"  {text}", flush=True))
    print()
    for text in result.refused:
        print(f"refused: {text}")
    for failure in result.failures:
        print(f"step {failure.step}: {failure.kind}: {failure.text}")
    print(f"{len(result.failures)} failures")
    return 1 if result.failures else 0


def report(results: list[Result], seconds: float) -> int:
    """Print the summary; the exit code."""
    counts: Counter = Counter()
    by_kind: dict[str, list] = defaultdict(list)
    scenes = {}
    for result in results:
        counts.update(result.counts)
        scenes[result.seed] = result.scene
        for failure in result.failures:
            by_kind[failure.kind].append(failure)
    print(f"\n{len(results)} walks, {counts['steps']} steps in {seconds:.0f} s")
    print(f"{'':<44}{SIDES[0]:>10}{SIDES[1]:>10}")
    rows = {
        "compared with a fresh fit": "compared",
        "  fresh fit not exact": "fresh inexact",
        "  walk not exact where the fresh fit is": "walk inexact, fresh exact",
        "  walk exact where the fresh fit is not": "walk exact, fresh inexact",
    }
    for text, key in rows.items():
        numbers = "".join(f"{counts[f'{key} {side}']:>10}" for side in SIDES)
        seeds = [r.seed for r in results if r.counts[f"{key} ordinary"]]
        shown = f"   ordinary: {seeds[:SHOWN]}" if seeds and text.startswith(" ") else ""
        print(f"{text:<44}{numbers}{shown}")
    for key in (
        "exact",
        "inexact",
        "waiting",
        "without a margin",
        "second opinions",
        "fresh fit refused",
    ):
        print(f"{key:<44}{counts[key]:>20}")
    refused = Counter(text.split(":")[0] for r in results for text in r.refused)
    for name, number in refused.most_common():
        print(f"{'refused by ' + name:<44}{number:>20}")
    if not by_kind:
        print("\nno failures")
        return 0
    print(f"\n{'failures':<64}{'ordinary':>9}{'wild':>7}{'walks':>7}")
    for kind, failures in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        ordinary = sum(f.ordinary for f in failures)
        walks = {f.seed: f for f in reversed(failures)}
        print(f"{kind:<64}{ordinary:>9}{len(failures) - ordinary:>7}{len(walks):>7}")
        for failure in sorted(walks.values(), key=lambda f: (not f.ordinary, f.seed))[:SHOWN]:
            print(f"    --replay {failure.seed}, step {failure.step}: {failure.text[:240]}")
            print(f"        {scenes[failure.seed]}")
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--seed", type=int, help="of the first walk; default: from the clock")
    parser.add_argument("--walks", type=int, help="most walks; default: as many as time allows")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--patience", type=float, default=PATIENCE, help="seconds for one call")
    parser.add_argument("--replay", type=int, metavar="SEED", help="run one walk verbosely")
    args = parser.parse_args()
    if args.replay is not None:
        return replay(args.replay)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # of the workers
        os.environ.setdefault(variable, "1")
    first = int(time.time()) % 10**8 * 1000 if args.seed is None else args.seed
    print(f"walks from --seed {first} on; repeat a failure by --replay SEED", flush=True)
    start = time.monotonic()
    seeds = itertools.islice(itertools.count(first), args.walks)
    results, kinds = [], set()
    for result in run(seeds, args.jobs, 60 * args.minutes, args.patience):
        results.append(result)
        for failure in result.failures:
            if failure.kind not in kinds:
                kinds.add(failure.kind)
                print(f"seed {result.seed}: {failure.kind}: {failure.text[:160]}", flush=True)
    return report(results, time.monotonic() - start)


if __name__ == "__main__":
    sys.exit(main())
