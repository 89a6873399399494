"""A few walks of the fuzzer; ``make fuzz`` goes on from here."""

import pytest
from fuzzing.runner import run_walk

pytest.importorskip("clarabel")
BLOCK = 8


# A far example that came and went: its rounding stayed in the intercept, or in what counts as zero.
FOUND = [5_000_325, 5_003_661, 5_007_314]
BLOCKS = [range(first, first + BLOCK) for first in range(0, 160, BLOCK)]


@pytest.mark.parametrize("seeds", [*BLOCKS, FOUND], ids=str)
def test_walks_are_certified(seeds):
    """Repeat a failure by ``python benchmarks/fuzz.py --replay SEED``."""
    failures = {}  # the first of each kind
    for seed in seeds:
        for f in run_walk(seed).failures:
            failures.setdefault((seed, f.kind), f"seed {seed}, step {f.step}: {f.kind}: {f.text}")
    assert not failures, "\n".join(failures.values())
