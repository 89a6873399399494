"""Runs that are killed go on, and end with the files of a run that was not."""

import contextlib
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from supple.experiments import main, reproduce
from supple.experiments._store import Store

OUTCOME = [{"labels": {}, "values": {"accuracy": [0.5]}}]


def arguments(out, jobs=1):
    """Return those of an item with 39 cells of some hundredths of a second."""
    return ["rueping", "gaussian", "--quick", "--jobs", str(jobs), "--out", str(out)]


def files(folder):
    """Return the results by name, without the store, whose lines hold times."""
    return {
        path.name: path.read_bytes()
        for path in sorted((folder / "rueping").iterdir())
        if path.name != "cells.jsonl"
    }


def finished(folder):
    path = folder / "rueping" / "cells.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    assert main(arguments(folder)) == 0
    return files(folder)


def start(out, jobs=1):
    """Start the command as a user would."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "supple.experiments", *arguments(out, jobs)]
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    for line in process.stdout:  # a signal during the imports would show nothing
        if "cells" in line:
            break
    return process


def finish(process, sign=None):
    """Send a signal, if any, and return what the process still says."""
    if sign is not None:
        process.send_signal(sign)
    output, _ = process.communicate(timeout=300)
    return output


@pytest.mark.skipif(
    "forkserver" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
def test_killed_at_ten_random_moments(tmp_path, whole):
    context = multiprocessing.get_context("forkserver")  # imports once for all ten
    context.set_forkserver_preload(["supple.experiments"])
    rng, kept = random.Random(0), 0
    for number in range(10):
        process = context.Process(target=main, args=(arguments(tmp_path),))
        process.start()
        while process.is_alive() and finished(tmp_path) == kept:
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, 0.05))
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.kill(process.pid, signal.SIGKILL if number % 2 else signal.SIGINT)
        process.join(timeout=300)
        assert finished(tmp_path) >= kept
        kept = finished(tmp_path)
    assert kept > 0
    assert main(arguments(tmp_path)) == 0
    assert files(tmp_path) == whole


def test_ctrl_c_says_that_the_work_is_kept(tmp_path):
    process = start(tmp_path)
    output = finish(process, signal.SIGINT)
    assert process.returncode == 130
    assert "finished cells are kept" in output
    assert "Traceback" not in output


def test_several_processes_leave_with_their_parent_and_give_the_same_files(tmp_path, whole):
    # The workers hold the other end of the pipe: reading ends when the last one has left.
    finish(start(tmp_path, jobs=2), signal.SIGKILL)
    process = start(tmp_path, jobs=2)
    output = finish(process)
    assert process.returncode == 0, output
    assert files(tmp_path) == whole


def test_a_finished_run_computes_nothing(tmp_path):
    said = []
    for _ in range(2):
        said.clear()
        reproduce("rueping", "example", quick=True, out=tmp_path, report=said.append)
    assert said[0] == "example: 3 of 3 cells are there already"


def test_another_seed_is_another_cell(tmp_path):
    one = reproduce("rueping", "example", quick=True, out=tmp_path, report=len)
    two = reproduce("rueping", "example", quick=True, seed=1, out=tmp_path, report=len)
    assert one["example"].rows != two["example"].rows


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_line_that_was_cut_short_is_taken_away(tmp_path, cut):
    path = tmp_path / "cells.jsonl"
    store = Store(path)
    store.add({"C": 1.0}, OUTCOME, seconds=0.1)
    store.add({"C": 2.0}, OUTCOME, seconds=0.1)
    path.write_bytes(path.read_bytes()[:-cut])
    store = Store(path)
    assert store.find({"C": 1.0}) == OUTCOME
    if cut > 1:  # a line that lacks only its end is whole
        assert store.find({"C": 2.0}) is None
    store.add({"C": 3.0}, OUTCOME, seconds=0.1)
    store = Store(path)
    assert store.find({"C": 1.0}) == store.find({"C": 3.0}) == OUTCOME
    assert store.seconds({"C": 3.0}) == 0.1
