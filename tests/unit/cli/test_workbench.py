"""`supple workbench`: the page is imported when it is asked for, and served where one says."""

import socket
import sys
from types import ModuleType, SimpleNamespace

import pytest

from supple.cli import _workbench


@pytest.fixture
def page(monkeypatch):
    """A stand-in of the workbench that notes what is served."""
    served = []

    def for_host(host, port):
        return SimpleNamespace(url=f"http://{host}:{port}/")

    module = ModuleType("supple.workbench")
    module.Settings, module.serve, module.served = (
        SimpleNamespace(for_host=for_host), served.append, served
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "supple.workbench", module)
    return module


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_it_serves_and_says_where(supple, page, monkeypatch):
    opened = []
    monkeypatch.setattr(_workbench.webbrowser, "open", opened.append)
    port = free_port()
    code, out, _ = supple("workbench", "--no-open", "--port", port)
    assert code == 0
    assert out == f"The workbench is at http://127.0.0.1:{port}/\n"
    assert [settings.url for settings in page.served] == [f"http://127.0.0.1:{port}/"]
    assert opened == []


def test_a_port_in_use_is_named(supple, page):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, out, err = supple("workbench", "--no-open", "--port", port)
    assert (code, out, page.served) == (2, "", [])
    assert err.startswith(f"Error: The workbench cannot listen on 127.0.0.1, port {port}: ")


def test_a_host_that_is_unknown_is_named(supple, page):
    code, _, err = supple("workbench", "--no-open", "--host", "no.such.host.invalid")
    assert code == 2
    assert "no.such.host.invalid" in err


def test_without_the_workbench_one_sentence_says_so(supple, monkeypatch):
    monkeypatch.setitem(sys.modules, "supple.workbench", None)
    code, out, err = supple("workbench", "--no-open")
    assert (code, out) == (1, "")
    assert err == "Error: This installation of supple has no workbench.\n"
