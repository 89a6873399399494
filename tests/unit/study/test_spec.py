"""A study goes through TOML and dicts unchanged, and a mistake names its field."""

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supple.errors import InvalidInputError
from supple.study import MACHINES, DataSpec, MachineSpec, StudySpec, parse_machine
from supple.study._toml import write_toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)


def spec(**changes):
    machines = (MachineSpec("svc", "svc"), MachineSpec("big C", "libsvm", {"C": 10.0}))
    return StudySpec(**{"data": DataSpec("embedded", "sonar"), "machines": machines, **changes})


@given(
    name=TEXT,
    path=TEXT,
    target=st.none() | TEXT,
    rows=st.none() | st.integers(4, 10**6),
    C=st.floats(1e-300, 1e300),
    share=st.floats(0.001, 0.999),
    seed=st.integers(0, 2**31 - 1),
)
def test_toml_and_json_keep_every_study(name, path, target, rows, C, share, seed):
    study = StudySpec(
        name,
        DataSpec("file", path, target, rows=rows),
        (MachineSpec(name, "svc", {"C": C}), MachineSpec(name + "2", "budget", {"budget": 9})),
        test_share=share,
        seed=seed,
    )
    assert StudySpec.from_toml(study.to_toml()) == study
    assert StudySpec.from_dict(json.loads(json.dumps(study.to_dict()))) == study


def test_generator_parameters_survive():
    data = DataSpec("generator", "sea", params={"thresholds": [8.0, 9.0], "noise": 0.2})
    assert StudySpec.from_toml(spec(data=data).to_toml()).data == data


@given(
    st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), st.text() | st.booleans())
)
def test_the_toml_writer_agrees_with_the_reader_of_python(values):
    values = {k: v for k, v in values.items() if v is True or v is False or v.isascii()}
    assert tomllib.loads(write_toml({"table": values})) == {"table": values}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"protocol": "both"}, "protocol"),
        ({"test_share": 1.0}, "test_share"),
        ({"test_share": True}, "test_share"),
        ({"points": 0}, "points"),
        ({"points": 2.5}, "points"),
        ({"batch_size": -1}, "batch_size"),
        ({"repetitions": 0}, "repetitions"),
        ({"seed": -1}, "seed"),
        ({"name": " "}, "name"),
        ({"machines": ()}, "machines"),
        ({"machines": (MachineSpec("a", "svc"), MachineSpec("a", "rvm"))}, "machines.label"),
        ({"machines": (MachineSpec("a", "svm"),)}, "machines.machine"),
        ({"machines": (MachineSpec("a", "svc", {"C": 0}),)}, "'C'"),
        ({"machines": (MachineSpec("a", "svc", {"cost": 1}),)}, "'cost'"),
        ({"data": DataSpec("web", "x")}, "data.source"),
        ({"data": DataSpec(order="sorted")}, "data.by"),
        ({"data": DataSpec(by="age")}, "data.by"),
        ({"data": DataSpec(target="age")}, "data.target"),
        ({"data": DataSpec(params={"noise": 1})}, "data.params"),
        ({"data": DataSpec(rows=1)}, "data.rows"),
    ],
)
def test_a_mistake_names_its_field(changes, field):
    with pytest.raises(InvalidInputError, match=field):
        spec(**changes).check()


@pytest.mark.parametrize(
    "text",
    [
        "points = ",
        "colour = 'red'",
        "machines = 3",
        "machines = [3]",
        "[[machines]]\nlabel = 'a'",
        "[[machines]]\nmachine = ['svc']",
        "[[machines]]\nmachine = 'svc'\nparams = 3",
        "data = 3",
        "[data]\ncolour = 1",
        "[data]\nparams = 1",
        "[data]\nname = 3\n[[machines]]\nmachine = 'svc'",
    ],
)
def test_wrong_toml_is_refused_in_words(text):
    with pytest.raises(InvalidInputError):
        StudySpec.from_toml(text)


def test_a_machine_is_read_as_people_write_it():
    assert parse_machine("svc  C=10 gamma=0.1") == MachineSpec(
        "svc C=10 gamma=0.1", "svc", {"C": 10.0, "gamma": 0.1}
    )
    assert parse_machine("windowed window=3").params == {"window": 3}
    assert parse_machine("windowed window=last").params == {"window": "last"}


@pytest.mark.parametrize(
    "text", ["", "svm", "svc C", "svc C=", "svc =3", "svc C=x", "svc C=nan", "svc C=inf",
             "svc degree=2.5", "svc kernel=tree", "svc colour=red", "budget budget=1"]
)  # fmt: skip
def test_a_machine_that_is_written_wrongly_is_refused(text):
    with pytest.raises(InvalidInputError):
        parse_machine(text)


@pytest.mark.parametrize("key", MACHINES)
def test_every_machine_is_made_with_its_defaults(key):
    machine = MACHINES[key]
    model = machine.make({})
    inner = model.steps[-1][1] if hasattr(model, "steps") else model
    for parameter in machine.parameters:
        assert getattr(inner, parameter.name) == parameter.default
        assert parameter.read(parameter.default, key) == parameter.default
        assert parameter.help
    assert machine.equation
    assert machine.paper
    assert machine.summary
