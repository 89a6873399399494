"""`supple compare`: tables, JSON, reports, data of all kinds, and runs that repeat."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from live_server import PATIENCE, wait_until
from rich.console import Console
from typer.testing import CliRunner
from unit.cli.conftest import QUICK

from supple.cli import _live, _output
from supple.cli._app import app
from supple.study import StudySpec, execute

SUPPLE = [sys.executable, "-m", "supple.cli"]


def figures(text):
    """Return what a repeated run must give again."""
    found = json.loads(text)
    known = ("repetition", "machine", "n_train", "accuracy", "n_vectors", "n_kernel_evals")
    return [[record[key] for key in known] for record in found["records"]]


def test_the_table_names_every_machine_and_the_verdict(supple):
    code, out, err = supple("compare", "heart", *QUICK)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].startswith("heart: 189 examples to learn, 81 held out")
    assert [line.split()[0] for line in lines[2:5]] == ["machine", "svc", "libsvm"]
    assert "libsvm      +0.0000     0.000          1.000      0.000" in out
    assert "\x1b" not in out + err
    assert all(line == line.rstrip() for line in lines)


def test_json_is_all_there_is_on_stdout(supple):
    code, out, err = supple("compare", "heart", *QUICK, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert len(found["records"]) == 8
    assert [each["machine"] for each in found["summary"]] == ["svc", "libsvm"]
    assert len(found["pairs"]) == 1


def test_reports_are_written_and_repeat_the_run(supple, tmp_path):
    code, out, _ = supple("compare", "heart", *QUICK, "--machine", "lasvm C=3", "--out", "a/b")
    assert code == 0
    assert "Wrote" in out
    written = {path.name for path in (tmp_path / "a/b").iterdir()}
    assert written == {"report.html", "results.csv", "results.json", "curves.png", "study.toml"}
    first = (tmp_path / "a/b/results.json").read_text()
    again = supple("compare", "--config", "a/b/study.toml", "--json")[1]
    assert figures(again) == figures(first)
    changed = supple("compare", "--config", "a/b/study.toml", "--repetitions", "1", "--json")[1]
    assert figures(changed) == figures(first)[: len(figures(changed))]
    spec = StudySpec.from_toml((tmp_path / "a/b/study.toml").read_text())
    assert [r.accuracy for r in execute(spec)] == [row[3] for row in figures(first)]


CSV = "n,kind,class\n" + "".join(f"{i % 7},{'ab'[i % 2]},{'xy'[i % 3 == 0]}\n" for i in range(60))
LIBSVM = "".join(f"{1 if i % 3 else -1} 1:{i % 7} {2 + i % 4}:1\n" for i in range(60))


@pytest.mark.parametrize("text", [CSV, LIBSVM])
@pytest.mark.parametrize("piped", [False, True])
def test_files_and_standard_input(supple, tmp_path, monkeypatch, text, piped):
    (tmp_path / "own.data").write_text(text)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    code, out, _ = supple("compare", "-" if piped else "own.data", *QUICK, "--json")
    assert code == 0
    assert json.loads(out)["records"][-1]["n_train"] == 42


def test_target_order_and_columns_left_out(supple, tmp_path):
    rows = "".join(f"{'xy'[i % 2]},{i},name{i}\n" for i in range(60))
    (tmp_path / "own.csv").write_text("class,n,who\n" + rows)
    code, out, err = supple("compare", "own.csv", "--target", "class", "--by", "n", *QUICK)
    assert code == 0
    assert "Note: Column 'who' is left out" in err
    assert "order sorted" in out


@pytest.mark.parametrize(
    "arguments", [["sea noise=0.0", "--rows", "300"], ["heart", "--order", "drift"],
                  ["heart", "--order", "as-is", "--protocol", "prequential", "--batch-size", "20"]]
)  # fmt: skip
def test_streams(supple, arguments):
    code, out, _ = supple("compare", *arguments, *QUICK)
    assert code == 0
    assert ("predicted before" in out) == ("sea" in arguments[0] or "prequential" in arguments)


def test_a_machine_that_fails_is_named_and_the_others_stay(supple):
    bad = "svc kernel=poly degree=20 gamma=1e300"
    options = ["--repetitions", "1", "--points", "2"]
    code, out, err = supple("compare", "heart", "--machines", "svc", "--machine", bad, *options)
    assert code == 0
    assert "failed" in out
    assert f"{bad} failed" in err
    assert supple("compare", "heart", "--machine", bad, *options)[0] == 1


@pytest.mark.parametrize("arguments", [[], ["compare"], ["data"], ["data", "list"], ["workbench"]])
def test_help(arguments):
    result = CliRunner().invoke(app, [*arguments, "--help"], env={"NO_COLOR": "1"})
    assert result.exit_code == 0
    assert "Usage: " in result.output
    assert "\x1b" not in result.output


def test_a_command_alone_helps(supple):
    assert "compare" in supple()[1]
    assert "list" in supple("data")[1]
    assert supple("--version")[1].startswith("supple ")


def test_the_live_table_on_a_terminal(monkeypatch):
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100, color_system=None)
    monkeypatch.setattr(_live, "errors", lambda: terminal)
    monkeypatch.setattr(_live.time, "monotonic", iter(range(10**6)).__next__)
    spec = StudySpec.from_dict(
        {"data": {"name": "heart"}, "machines": [{"machine": "svc"}], "repetitions": 2}
    )
    records = _live.watch(spec, execute(spec), quiet=False)
    assert len(records) == 16
    shown = terminal.file.getvalue()
    assert "repetition 2 of 2, 189 examples, about 0 s left" in shown
    assert "█" in shown


def test_the_share_that_is_done_ends_at_one():
    spec = StudySpec.from_dict(
        {"data": {"name": "heart"}, "machines": [{"machine": "svc"}], "repetitions": 2}
    )
    shares = [_live.Clock(spec).share(done, 16) for done in range(1, 17)]
    assert shares == sorted(shares)
    assert shares[7] == 0.5
    assert shares[-1] == 1.0


def test_a_sparkline_without_unicode():
    assert _output.sparkline([0.0, 0.5, None, 1.0], 0.0, 1.0, "ascii") == "_= #"


def environment(**changes):
    return {**os.environ, "OMP_NUM_THREADS": "1", **changes}


def test_the_command_as_a_process_in_a_pipe(tmp_path):
    arguments = [*SUPPLE, "compare", "heart", *QUICK]
    done = subprocess.run(
        arguments, cwd=tmp_path, capture_output=True, env=environment(NO_COLOR="1"), check=True
    )
    assert "svc" in done.stdout.decode()
    assert b"\x1b" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []
    wrong = subprocess.run([*SUPPLE, "compare", "no.csv"], capture_output=True, check=False)
    assert wrong.returncode == 2
    assert wrong.stderr.decode() == "Error: There is no file 'no.csv'.\n"


def test_ctrl_c_ends_it(tmp_path):
    arguments = [*SUPPLE, "compare", "--repetitions", "1000", "--out", "here"]
    process = subprocess.Popen(
        arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    )
    wait_until(Path(tmp_path, "here").exists)  # the folder is made when the work begins
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
