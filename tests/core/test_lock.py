"""Threads that use one model at a time; `make stress` does the same for longer."""

import copy
import multiprocessing
import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from crowd import ESTIMATORS, growing, make, rows, swapping
from numpy.testing import assert_array_equal

from supple import SVC, SVR
from supple._core import model_lock

SECONDS = 0.3


@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_that_is_read_belongs_to_one_of_two_fits(name):
    crowd = swapping(name, SECONDS)
    assert crowd.calls > 0
    assert not crowd.failures


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_row_is_lost_between_writers(name):
    crowd = growing(name, SECONDS)
    assert crowd.calls > 0
    assert not crowd.failures


class Meeting:
    """A linear kernel that waits, where it is asked to, until `parties` calls are in it."""

    def __init__(self, parties):
        self.barrier = threading.Barrier(parties, timeout=30)
        self.on = False

    def __call__(self, A, B):
        if self.on:
            self.barrier.wait()
        return A @ B.T

    def __deepcopy__(self, memo):
        return self


def in_threads(*jobs):
    """Run functions at the same time and return what they return or raise."""
    results = [None] * len(jobs)

    def work(k):
        try:
            results[k] = jobs[k]()
        except BaseException as error:
            results[k] = error

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return results


@pytest.fixture
def data():
    X, y = rows("SVC", 40, 3, 2, 0)
    return X, y


def test_readers_run_together(data):
    X, y = data
    kernel = Meeting(3)
    model = SVC(kernel=kernel).fit(X, y)
    expected = model.predict(X)
    kernel.on = True  # each prediction calls the kernel once: all three must be inside
    for found in in_threads(*[lambda: model.predict(X)] * 3):
        assert_array_equal(found, expected)


def test_fit_builds_the_next_model_while_others_read(data):
    X, y = data
    inside, go_on = threading.Event(), threading.Event()

    def kernel(A, B):
        if threading.current_thread().name == "writer":
            inside.set()
            assert go_on.wait(30)
        return A @ B.T

    model = SVC(kernel=kernel).fit(X, y)
    before = model.ids_
    writer = threading.Thread(target=model.fit, args=(X[:20], y[:20]), name="writer")
    writer.start()
    assert inside.wait(30)
    assert_array_equal(model.ids_, before)
    assert_array_equal(copy.deepcopy(model).ids_, before)
    go_on.set()
    writer.join()
    assert len(model.ids_) == 20


def test_a_reader_waits_for_an_update(data):
    X, y = data
    inside, go_on = threading.Event(), threading.Event()

    def kernel(A, B):
        if threading.current_thread().name == "writer":
            inside.set()
            assert go_on.wait(30)
        return A @ B.T

    model = SVC(kernel=kernel).fit(X[:30], y[:30])
    writer = threading.Thread(target=model.partial_fit, args=(X[30:], y[30:]), name="writer")
    writer.start()
    assert inside.wait(30)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(len(model.ids_)))
    reader.start()
    time.sleep(0.05)
    assert not seen
    go_on.set()
    writer.join()
    reader.join()
    assert seen == [40]


def test_a_reader_within_a_reader_does_not_wait_for_a_writer(data):
    X, y = data
    model = None
    inside, go_on = threading.Event(), threading.Event()

    def kernel(A, B):
        if threading.current_thread().name == "reader":
            inside.set()
            assert go_on.wait(30)
            return A @ B.T + 0 * len(model.ids_)
        return A @ B.T

    model = SVC(kernel=kernel).fit(X, y)
    reader = threading.Thread(target=model.predict, args=(X,), name="reader")
    writer = threading.Thread(target=model.forget, args=([0],))
    reader.start()
    assert inside.wait(30)
    writer.start()
    time.sleep(0.05)  # the writer waits for the reader now
    go_on.set()
    reader.join(30)
    writer.join(30)
    assert not reader.is_alive()
    assert not writer.is_alive()
    assert len(model.ids_) == 39


def test_listeners_may_read_and_write(data):
    X, y = data
    model = SVC(kernel="linear").fit(X[:30], y[:30])
    seen = []

    def listener(step):
        seen.append((len(model.ids_), len(pickle.loads(pickle.dumps(model)).ids_)))
        if len(seen) == 1:
            model.forget(0)

    model._model.engine.run.listeners.append(listener)
    model.partial_fit(X[30:], y[30:])
    assert seen == [(40, 40), (39, 39)]


def test_a_change_from_within_a_reader_is_refused(data):
    X, y = data
    model = None

    def kernel(A, B):
        if model is not None:
            model.forget(0)
        return A @ B.T

    fitted = SVR(kernel=kernel).fit(X, y)
    model = fitted
    with pytest.raises(RuntimeError, match="cannot be changed from within"):
        fitted.predict(X)
    model = None
    assert len(fitted.forget(0).ids_) == 39


def test_a_kernel_that_asks_its_own_model_for_kernel_values():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(560, 2)), rng.random(560) > 0.5  # more than the cache has room for
    model = None

    def kernel(A, B):
        if model is not None:
            model.kkt_violation_  # noqa: B018
        return A @ B.T

    fitted = SVC(kernel=kernel, cache_size=1e-6).fit(X, y)
    model = fitted
    with pytest.raises(RuntimeError, match="must not use the model"):
        fitted.kkt_violation_  # noqa: B018
    model = None
    assert fitted.kkt_violation_ <= 1e-8


def test_the_lock_is_made_once(data):
    for _ in range(20):
        model = SVC()
        barrier = threading.Barrier(8, timeout=30)

        def first(model=model, barrier=barrier):
            barrier.wait()
            model.get_params()
            return model.__dict__["_guards"]

        assert len({id(found) for found in in_threads(*[first] * 8)}) == 1


def test_a_copy_has_a_lock_of_its_own(data):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y)
    for twin in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert "_guards" not in twin.__dict__
        twin.forget(0)
        assert twin.__dict__["_guards"] is not model.__dict__["_guards"]
    assert len(model.ids_) == 40


def _answer(model, X, pipe):
    try:
        pipe.send(model.predict(X))
    except BaseException as error:
        pipe.send(error)


def _in_a_fork(model, X):
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe()
    child = fork.Process(target=_answer, args=(model, X, there))
    child.start()
    assert here.poll(60)
    found = here.recv()
    child.join(30)
    return found


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="no fork on this system"
)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("change", ["partial_fit", "fit"])
def test_a_fork_in_the_middle(data, change):
    """Another thread is at work: the child can use its copy, or is told that it is incomplete."""
    X, y = data
    inside, go_on = threading.Event(), threading.Event()

    def kernel(A, B):
        if threading.current_thread().name == "writer":
            inside.set()
            assert go_on.wait(60)
        return A @ B.T

    model = SVC(kernel=kernel).fit(X[:30], y[:30])
    expected = model.predict(X)
    writer = threading.Thread(target=getattr(model, change), args=(X[30:], y[30:]), name="writer")
    writer.start()
    assert inside.wait(30)
    found = _in_a_fork(model, X)
    go_on.set()
    writer.join()
    if change == "fit":  # the model itself was not touched yet
        assert_array_equal(found, expected)
    else:
        assert isinstance(found, RuntimeError)
        assert "forked while another thread" in str(found)
    assert_array_equal(_in_a_fork(model, X), model.predict(X))


def test_parameters_change_together():
    model = make("SVC", C=1.0, degree=1)
    stop = time.monotonic() + SECONDS

    def write():
        k = 1
        while time.monotonic() < stop:
            k += 1
            model.set_params(C=float(k), degree=k)

    def read():
        while time.monotonic() < stop:
            params = model.get_params()
            assert params["C"] == params["degree"]

    assert in_threads(write, write, read, read) == [None] * 4


def test_values_of_a_waiting_reader_are_whole():
    """Readers that come while writers queue up get their turn."""
    X, y = rows("SVC", 40, 3, 2, 0)
    model = SVC(gamma=0.5).fit(X, y)
    done = threading.Event()

    def write(k):
        while not done.is_set():
            model.reweight(k, np.array([1.0 + k]))

    def read():
        for _ in range(50):
            model.ids_  # noqa: B018
        done.set()

    assert in_threads(*(lambda k=k: write(k) for k in range(3)), read) == [None] * 4


def test_a_writer_that_gives_up_waiting_lets_nobody_in():
    """Ctrl-C ends the wait of the second writer; the first one still runs alone."""
    reading, _, writing = model_lock()
    inside, go_on, seen = threading.Event(), threading.Event(), []

    def write():
        with writing:
            inside.set()
            assert go_on.wait(30)

    def read():
        with reading:
            seen.append(go_on.is_set())

    writer, reader = threading.Thread(target=write), threading.Thread(target=read)
    writer.start()
    assert inside.wait(30)
    reader.start()
    alarm = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    alarm.start()
    with pytest.raises(KeyboardInterrupt), writing:
        pytest.fail("the other writer is at work")
    time.sleep(0.05)
    assert not seen
    go_on.set()
    writer.join(30)
    reader.join(30)
    assert seen == [True]
    with writing:  # nothing is left of the wait
        pass
