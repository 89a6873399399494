"""A few walks of the fuzzer; ``make fuzz`` goes on from here."""

import pytest
from fuzzing.runner import run_walk

pytest.importorskip("clarabel")
BLOCK = 8


@pytest.mark.parametrize("first", range(0, 160, BLOCK))
def test_walks_are_certified(first):
    """Repeat a failure by ``python benchmarks/fuzz.py --replay SEED``."""
    failures = {}  # the first of each kind
    for seed in range(first, first + BLOCK):
        for f in run_walk(seed).failures:
            failures.setdefault((seed, f.kind), f"seed {seed}, step {f.step}: {f.kind}: {f.text}")
    assert not failures, "\n".join(failures.values())
