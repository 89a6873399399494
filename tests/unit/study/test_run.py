"""Studies: the same machines agree, the same seed repeats, orders and protocols are as said."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from supple.errors import InvalidInputError
from supple.study import (
    MACHINES,
    DataSpec,
    MachineSpec,
    StudySpec,
    data_of,
    execute,
    learning_curves,
    parse_machine,
    read_table,
    summarise,
    to_script,
    to_text,
)
from supple.study._run import _part

MACHINE = (parse_machine("libsvm"),)
SMALL = StudySpec("small", DataSpec("embedded", "heart"), MACHINE, repetitions=2, points=3)


def without_times(records):
    return [replace(r, fit_seconds=0.0, predict_seconds=0.0, model_bytes=None) for r in records]


@pytest.mark.parametrize("protocol", ["held-out", "prequential"])
def test_every_machine_takes_part(protocol):
    machines = tuple(MachineSpec(key, key) for key in MACHINES)
    study = replace(SMALL, machines=machines, protocol=protocol, batch_size=40, repetitions=1)
    records = list(execute(study))
    assert len(records) == len(machines) * 3 == records[0].n_total
    assert not any(record.error for record in records)
    assert all(each.accuracy > 0.6 for each in summarise(records))


def test_machines_of_one_optimum_agree():
    machines = tuple(parse_machine(key) for key in ("svc", "batch", "libsvm", "simple"))
    records = list(execute(replace(SMALL, machines=machines)))
    for i in range(0, len(records), 4):
        assert len({(r.accuracy, r.n_vectors, r.n_train) for r in records[i : i + 4]}) == 1


def test_a_study_from_toml_gives_the_same_figures():
    study = replace(SMALL, machines=(parse_machine("lasvm"), parse_machine("rvm")))
    again = StudySpec.from_toml(study.to_toml())
    assert without_times(execute(again)) == without_times(execute(study))
    other = replace(study, seed=1)
    assert without_times(execute(other)) != without_times(execute(study))


def test_held_out_rows_are_scaled_by_the_rows_to_learn():
    record = next(iter(execute(replace(SMALL, points=1))))
    data = data_of(SMALL.data)
    rng = np.random.default_rng([0, 0])
    rows = rng.permutation(len(data.y))
    held = np.zeros(len(rows), dtype=bool)
    for label in (1, 2):
        own = rng.permutation(np.flatnonzero(data.y[rows] == label))
        held[own[: round(0.3 * len(own))]] = True
    X, y = data.X[rows], data.y[rows]
    scaler = StandardScaler().fit(X[~held])
    model = SVC(gamma="auto").fit(scaler.transform(X[~held]), y[~held])
    assert record.accuracy == model.score(scaler.transform(X[held]), y[held])
    assert record.n_vectors == len(model.support_)
    assert (record.n_train, record.n_test) == ((~held).sum(), held.sum())


def test_prequential_scores_come_before_learning():
    study = replace(SMALL, protocol="prequential", repetitions=1)
    records = list(execute(study))
    part = _part(study, data_of(study.data), 0)
    assert [record.n_tested for record in records] == [0, 90, 90]
    assert [record.n_test for record in records] == [0, 0, 0]
    model = SVC(gamma="auto").fit(part.X[:90], part.y[:90])
    assert records[1].accuracy == model.score(part.X[90:180], part.y[90:180])
    np.testing.assert_allclose(part.X[:90].mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("protocol", ["held-out", "prequential"])
def test_orders(protocol):
    rows = "".join(f"{(i * 7) % 40},{'xyz'[i % 3]}\n" for i in range(40))
    table = read_table(b"n,class\n" + rows.encode(), "t.csv")
    first = DataSpec("file", "t.csv", order="as is", prepare="none")
    study = StudySpec("t", first, MACHINE, protocol=protocol)

    def part(**changes):
        data = replace(first, **changes)
        return _part(replace(study, data=data), data_of(data, table=table), 0)

    def label(n):
        return "xyz"[next(i for i in range(40) if (i * 7) % 40 == n) % 3]

    as_is = [int(n) for n in part().X[:, 0]]
    assert as_is == [n for n in ((i * 7) % 40 for i in range(40)) if n in as_is]
    by_value = part(order="sorted", by="n").X[:, 0]
    assert (np.diff(by_value) > 0).all()
    assert sorted(part(order="random").X[:, 0]) != part(order="random").X[:, 0].tolist()
    drift = part(order="drift")
    half = len(drift.y) // 2
    following = {"x": "y", "y": "z", "z": "x"}
    assert [label(n) for n in drift.X[:half, 0]] == drift.y[:half].tolist()
    assert [following[label(n)] for n in drift.X[half:, 0]] == drift.y[half:].tolist()
    if protocol == "held-out":
        assert [following[label(n)] for n in drift.X_test[:, 0]] == drift.y_test.tolist()
    assert (
        len(part(rows=20).y) + (len(part(rows=20).y_test) if drift.y_test is not None else 0) == 20
    )


def test_generators_are_drawn_anew_in_every_repetition():
    data = DataSpec("generator", "sea", order="as is", rows=200, params={"noise": 0.0})
    records = list(execute(StudySpec("sea", data, MACHINE, "prequential", repetitions=3)))
    ends = [r for r in records if r.n_train == 200]
    assert len(ends) == 3
    assert len({r.n_vectors for r in ends}) > 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": DataSpec("embedded", "hart")}, "Did you mean 'heart'"),
        ({"data": DataSpec("embedded", "mnist")}, "does not come with supple"),
        ({"data": DataSpec("generator", "see")}, "no generator named 'see'"),
        ({"data": DataSpec("generator", "sea", params={"noise": 7})}, "noise"),
        ({"data": DataSpec("generator", "sea", params={"colour": 7})}, "colour"),
        ({"data": DataSpec("embedded", "heart", order="sorted", by="agge")}, "no column 'agge'"),
        ({"data": DataSpec("embedded", "heart", rows=4), "test_share": 0.01}, "nothing to test"),
        ({"data": DataSpec("file", "absent.csv")}, "no file"),
    ],
)
def test_mistakes_show_before_anything_is_learned(changes, words, monkeypatch):
    monkeypatch.delenv("SUPPLE_DATA", raising=False)
    with pytest.raises(InvalidInputError, match=words):
        execute(replace(SMALL, **changes))


def test_a_machine_that_fails_leaves_the_others():
    """gamma of 1e308 makes every kernel value overflow or vanish; sigmoid fails in LIBSVM's way."""
    machines = (parse_machine("svc"), parse_machine("svc kernel=poly degree=20 gamma=1e300"))
    records = list(execute(replace(SMALL, machines=machines, repetitions=1)))
    good, bad = summarise(records)
    assert good.accuracy > 0.7
    assert bad.errors
    assert set(learning_curves(records)) == {"svc"}


def test_the_script_repeats_the_figures(tmp_path):
    (tmp_path / "study.py").write_text(to_script(SMALL), encoding="utf-8")
    run = [sys.executable, "study.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == to_text(SMALL, list(execute(SMALL)))


def test_a_script_holds_any_name():
    for name in ("'''", '"""', "\\", "a'''b\\", "{x}"):
        compile(to_script(replace(SMALL, name=name)), "study.py", "exec")
