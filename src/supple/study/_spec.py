"""The specification of a study."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, NoReturn, Self, get_args

from supple.errors import InvalidInputError
from supple.study._machines import MACHINES
from supple.study._toml import write_toml

__all__ = ["DataSpec", "MachineSpec", "StudySpec", "parse_machine"]

Source = Literal["embedded", "file", "generator"]
Order = Literal["random", "as is", "sorted", "drift"]
Prepare = Literal["standardise", "none"]
Protocol = Literal["held-out", "prequential"]


@dataclass(frozen=True)
class DataSpec:
    """Which data, in which order.

    Parameters
    ----------
    source : {"embedded", "file", "generator"}
        A set of `supple.datasets`, a file (CSV, Parquet or LIBSVM), or a function of
        `supple.streams` that draws a stream.
    name : str
        The name of the set or the function, or the path of the file ("-": standard input).
    target : str or None, default=None
        File: the column with the classes; None takes the last one. LIBSVM files have their own.
    order : {"random", "as is", "sorted", "drift"}, default="random"
        Order of arrival: shuffled anew in every repetition; that of the source; by growing values
        of the column `by`; or shuffled, with every class renamed to the next one from the middle of
        the stream on.
    by : str or None, default=None
        The column that order "sorted" sorts by.
    prepare : {"standardise", "none"}, default="standardise"
        Whether features are scaled to mean 0 and variance 1 over the training rows, or in the
        prequential protocol over those of the first step. Sparse features stay as they are.
    rows : int or None, default=None
        Number of examples, the first ones of the order; None takes all. A generator draws as many.
    params : dict, default={}
        Parameters of the generator, such as ``{"noise": 0.2}``.
    """

    source: Source = "embedded"
    name: str = "wbc"
    target: str | None = None
    order: Order = "random"
    by: str | None = None
    prepare: Prepare = "standardise"
    rows: int | None = None
    params: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise InvalidInputError if a field is wrong."""
        _check_choice("data.source", self.source, get_args(Source))
        _check_choice("data.order", self.order, get_args(Order))
        _check_choice("data.prepare", self.prepare, get_args(Prepare))
        _check_text("data.name", self.name)
        for key in ("target", "by"):
            if getattr(self, key) is not None:
                _check_text(f"data.{key}", getattr(self, key))
        if self.rows is not None:
            _check_int("data.rows", self.rows, 4)
        if self.order == "sorted" and self.by is None:
            _refuse("data.by", self.by, "the name of a column, since data.order is 'sorted'")
        if self.order != "sorted" and self.by is not None:
            _refuse("data.by", self.by, "left out, or data.order be 'sorted'")
        if self.target is not None and self.source != "file":
            _refuse("data.target", self.target, "left out, since only files have a choice of it")
        if not isinstance(self.params, dict):
            _refuse("data.params", self.params, "a table, such as { noise = 0.2 }")
        if self.params and self.source != "generator":
            _refuse("data.params", self.params, "empty, since only generators have parameters")


@dataclass(frozen=True)
class MachineSpec:
    """One machine of a study.

    Parameters
    ----------
    label : str
        Its unique name in the results.
    machine : str
        A key of `MACHINES`.
    params : dict, default={}
        Parameters that differ from the defaults.
    """

    label: str
    machine: str
    params: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raise InvalidInputError if a field is wrong."""
        _check_text("machines.label", self.label)
        _check_choice("machines.machine", self.machine, tuple(MACHINES))
        MACHINES[self.machine].check(self.params)


@dataclass(frozen=True)
class StudySpec:
    """A study: which machines are compared, on which data, and how.

    Parameters
    ----------
    name : str, default="study"
        Its name.
    data : DataSpec
        The data.
    machines : tuple of MachineSpec
        The machines.
    protocol : {"held-out", "prequential"}, default="held-out"
        Measured on rows that are held out, or on every new example before it is learned.
    test_share : float, default=0.3
        Share of the rows that are held out, between 0 and 1.
    points : int, default=8
        Number of training sizes at which machines are measured.
    batch_size : int or None, default=None
        Examples in one call of partial_fit; None passes all of a step at once.
    repetitions : int, default=5
        Number of repetitions, each with another order and other held-out rows.
    seed : int, default=0
        Seed. With the same seed everything but the times is the same.

    Examples
    --------
    >>> from supple.study import DataSpec, StudySpec, parse_machine
    >>> machines = (parse_machine("svc C=10"), parse_machine("rvm"))
    >>> spec = StudySpec("mine", DataSpec("embedded", "sonar"), machines)
    >>> StudySpec.from_toml(spec.to_toml()) == spec
    True
    """

    name: str = "study"
    data: DataSpec = field(default_factory=DataSpec)
    machines: tuple[MachineSpec, ...] = ()
    protocol: Protocol = "held-out"
    test_share: float = 0.3
    points: int = 8
    batch_size: int | None = None
    repetitions: int = 5
    seed: int = 0

    def check(self) -> None:
        """Raise InvalidInputError, which names field, value and remedy, if a field is wrong."""
        _check_text("name", self.name)
        self.data.check()
        if not self.machines:
            _refuse("machines", [], f"one machine or more, of: {', '.join(MACHINES)}")
        for machine in self.machines:
            machine.check()
        labels = [machine.label for machine in self.machines]
        for label in labels:
            if labels.count(label) > 1:
                _refuse("machines.label", label, "different for every machine")
        _check_choice("protocol", self.protocol, get_args(Protocol))
        share = self.test_share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0.0 < share < 1.0:
            _refuse("test_share", share, "a number between 0 and 1, such as 0.3")
        _check_int("points", self.points, 1, 1000)
        if self.batch_size is not None:
            _check_int("batch_size", self.batch_size, 1)
        _check_int("repetitions", self.repetitions, 1, 1000)
        _check_int("seed", self.seed, 0, 2**31 - 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain dicts and lists, for JSON."""
        return {**asdict(self), "machines": [asdict(machine) for machine in self.machines]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the checked study that `to_dict` has written."""
        given = _known(values, cls, "")
        data = _known(given.pop("data", {}), DataSpec, "data.")
        listed = given.pop("machines", [])
        if not isinstance(listed, list | tuple):
            _refuse("machines", listed, "a list of machines")
        machines = tuple(_machine(each) for each in listed)
        spec = cls(data=DataSpec(**data), machines=machines, **given)
        spec.check()
        return spec

    def to_toml(self) -> str:
        """Return the study as TOML."""
        return write_toml(self.to_dict())

    @classmethod
    def from_toml(cls, text: str) -> Self:
        """Return the checked study that `to_toml` has written."""
        try:
            values = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInputError(f"This is not TOML: {error}.") from error
        return cls.from_dict(values)


def parse_machine(text: str) -> MachineSpec:
    """Read a machine as users write it, such as ``svc C=10 gamma=0.1``; the text is its label.

    Examples
    --------
    >>> from supple.study import parse_machine
    >>> parse_machine("svc C=10").params
    {'C': 10.0}
    """
    words = text.split()
    if not words:
        _refuse("machines", text, "the name of a machine, such as 'svc C=10 gamma=0.1'")
    key, *settings = words
    _check_choice("machines", key, tuple(MACHINES))
    params = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not (name and equals and value):
            _refuse("machines", setting, "written as name=value, such as 'svc C=10 gamma=0.1'")
        params[name] = value
    return MachineSpec(" ".join(words), key, MACHINES[key].check(params))


def _machine(values: Any) -> MachineSpec:
    given = _known(values, MachineSpec, "machines.")
    if "machine" not in given:
        _refuse("machines.machine", None, f"one of {', '.join(MACHINES)}")
    _check_choice("machines.machine", given["machine"], tuple(MACHINES))
    if not isinstance(given.get("params", {}), Mapping):
        _refuse("machines.params", given["params"], "a table, such as { C = 10.0 }")
    params = MACHINES[given["machine"]].check(given.get("params", {}))
    return MachineSpec(given.get("label", given["machine"]), given["machine"], params)


def _known(values: Any, owner: type, prefix: str) -> dict[str, Any]:
    """Return a mapping as a dict; raise if a key is not a field of `owner`."""
    if not isinstance(values, Mapping):
        _refuse(prefix.rstrip(".") or "study", values, "a table")
    names = [each.name for each in fields(owner)]
    for key in values:
        if key not in names:
            raise InvalidInputError(
                f"A study has no field {prefix + str(key)!r}. Known are: "
                f"{', '.join(prefix + name for name in names)}."
            )
    return dict(values)


def _refuse(name: str, value: Any, wanted: str) -> NoReturn:
    raise InvalidInputError(f"The field {name!r} of a study must be {wanted}. Got {value!r:.80}.")


def _check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        _refuse(name, value, f"one of {', '.join(choices)}")


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str) or not value.strip() or len(value) > 1000:
        _refuse(name, value, "a text of 1 to 1000 characters")


def _check_int(name: str, value: Any, low: int, high: int | None = None) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        _refuse(name, value, f"an int >= {low}" + (f" and <= {high}" if high is not None else ""))
