"""A hang is a failure: an alarm where signals get through, an exit where they do not."""

import faulthandler
import signal

import pytest

SECONDS = 90


@pytest.fixture(autouse=True)
def no_hang():
    def ring(signum, frame):
        raise TimeoutError(f"still running after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    faulthandler.dump_traceback_later(2 * SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
