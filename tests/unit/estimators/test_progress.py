"""verbose tells what happens while it happens."""

import pickle
import re

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

import supple
from supple import SVC, progress
from supple._core import Phase
from supple.progress import Progress

NUMBER = r"[\d,]+"
SIZE = r"\d(e[+-]\d+)?"
SOLVING = rf"solving: {NUMBER} of {NUMBER} rows optimal, gap {SIZE}"
FACTORING = rf"preparing the exact finish: {NUMBER} of {NUMBER} margin vectors"
FINISHING = rf"finishing exactly: {NUMBER} of {NUMBER} margin vectors, violation {SIZE}"
ADMITTING = rf"adding vectors one by one: {NUMBER} of {NUMBER}, violation {SIZE}"
PATH = rf"following the path: \d+ % of the way, {NUMBER} breakpoints"
KERNEL = rf"computing kernel values: {NUMBER} of {NUMBER} rows"
LEFT = r"(; about \d+ (s|min) left)?"


def noise(n, d=10):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)), rng.integers(0, 2, n)


@pytest.fixture
def eager(monkeypatch):
    """Every piece of news is a line."""
    monkeypatch.setattr(progress, "PAUSE", 0.0)


def lines(capsys, name="SVC"):
    out = capsys.readouterr().out.splitlines()
    assert all(line.startswith(f"[{name}] ") for line in out)
    return [line.removeprefix(f"[{name}] ") for line in out]


def says(out, pattern):
    return any(re.fullmatch(pattern + LEFT, line) for line in out)


def test_a_batch_fit_speaks_in_every_phase(capsys, eager):
    X, y = noise(1500)
    SVC(C=1000.0, gamma=0.1, verbose=1).fit(X, y)
    out = lines(capsys)
    assert says(out, SOLVING + rf"( \({KERNEL}\))?")
    assert says(out, FACTORING)
    assert says(out, FINISHING + rf"( \({KERNEL}\))?")
    assert out[-1].startswith("fit 1500: block")


def test_smo_in_double_precision_speaks(capsys, eager):
    X, y = noise(1000)
    SVC(kernel="sigmoid", gamma=0.01, C=100.0, verbose=1).fit(X, y)
    assert says(lines(capsys), SOLVING)


def test_rows_of_a_kernel_in_python_are_counted(capsys, eager):
    X, y = noise(200, 2)
    model = SVC(kernel=rbf_kernel, C=10.0, verbose=1).fit(X, y)
    out = lines(capsys)
    assert says(out, SOLVING)
    assert says(out, KERNEL)
    assert model.exact_


def test_a_path_speaks(capsys, eager):
    X, y = noise(100, 2)
    model = SVC(C=1000.0, gamma=1.0).fit(X, y)
    model.verbose = 1
    model.forget(np.arange(16))
    assert says(lines(capsys), PATH)


def test_simple_svm_speaks(capsys, eager):
    X, y = noise(600)
    supple.SimpleSVC(C=10.0, verbose=1).fit(X, y)
    assert says(lines(capsys, "SimpleSVC"), ADMITTING)


@pytest.mark.parametrize("kind", ["SVC", "NuSVC", "LASVC"])
def test_machines_are_counted(capsys, eager, kind):
    X, _ = noise(300)
    y = np.arange(300) % 4
    getattr(supple, kind)(verbose=1).fit(X, y)
    out = lines(capsys, kind)
    for number in range(1, 7):
        assert says(out, f"machine {number} of 6.*")


@pytest.mark.parametrize("kind", ["BudgetSVC", "LASVC"])
def test_examples_of_a_stream_are_counted(capsys, eager, kind):
    X, y = noise(60)
    getattr(supple, kind)(verbose=1).fit(X, y)
    out = lines(capsys, kind)
    assert says(out, "example 1 of 60")
    assert says(out, "example 60 of 60")


def test_relevance_vector_machines_speak(capsys, eager):
    X, _ = noise(60, 3)
    supple.RVC(verbose=1).fit(X, np.arange(60) % 3)
    out = lines(capsys, "RVC")
    searching = rf"searching: {NUMBER} relevance vectors, the next move gains -?{SIZE}"
    dropping = rf"dropping functions: {NUMBER} left after \d+ sweeps"
    assert says(out, rf"machine 2 of 3, search \d of 7: {searching}")
    assert says(out, rf"machine 2 of 3, search \d of 7: {dropping}")
    supple.RVR(verbose=1).fit(X, X[:, 0])
    assert says(lines(capsys, "RVR"), rf"search 2 of 2: {searching}")


def test_a_short_or_silent_fit_has_one_line_or_none(capsys):
    X, y = np.eye(4), [0, 1, 0, 1]
    SVC(verbose=1).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == 1
    model = SVC().fit(X, y)
    assert capsys.readouterr().out == ""
    model.verbose = 1
    model.partial_fit(X + 1.0, y)
    assert "partial_fit 4" in capsys.readouterr().out
    model.retune(C=2.0)
    assert len(capsys.readouterr().out.splitlines()) == 1
    pickle.dumps(model)


class Clock:
    """Time that passes when the test says so."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(progress.time, "perf_counter", lambda: self.now)


def test_there_is_one_line_a_second(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    voice = Progress("SVC")
    for clock.now in (0.0, 0.5, 0.99, 1.0, 1.5, 1.99, 2.0, 2.5):
        voice(Phase.solving, 12_000, 18_000, 3e-3)
    assert lines(capsys) == ["solving: 12,000 of 18,000 rows optimal, gap 3e-03"] * 2


def test_the_time_left_follows_from_what_is_done(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    voice = Progress("SVC")
    for number in range(1, 13):
        clock.now = 2.0 * number
        voice(Phase.machine, number, 45, 0.0)
    clock.now += 1.0  # of the 2 s that the twelfth will take
    voice(Phase.finishing, 340, 2100, 2e-6)
    assert lines(capsys)[-1] == (
        "machine 12 of 45: finishing exactly: 340 of 2,100 margin vectors, violation 2e-06; "
        "about 67 s left"
    )
    clock.now += 1000.0
    voice.at("example", 1, 3, alike=False)
    assert lines(capsys) == ["machine 12 of 45, example 1 of 3"]  # that took far too long


def test_parts_begin_anew_with_the_whole(capsys, monkeypatch):
    clock = Clock(monkeypatch)
    voice = Progress("SVC")
    voice.at("example", 1, 3)
    voice.at("machine", 2, 2)
    clock.now = 200.0
    voice.at("example", 2, 3)
    clock.now = 201.0
    voice.say("thinking")
    assert lines(capsys) == [
        "example 2 of 3; about 7 min left",
        "example 2 of 3: thinking; about 7 min left",
    ]
