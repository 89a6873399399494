"""What the tests of the command share."""

import pytest

from supple.cli._app import run

QUICK = ["--machines", "svc,libsvm", "--repetitions", "2", "--points", "2"]


@pytest.fixture
def supple(capsys, monkeypatch, tmp_path):
    """Run the command in an empty folder; return its exit code, output and errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SUPPLE_DATA", raising=False)

    def command(*arguments):
        capsys.readouterr()
        code = run([str(each) for each in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    return command
