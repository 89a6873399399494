"""Results of a study as CSV, JSON, picture and script; the page is in _html."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

from supple.study._bayes import compare_machines
from supple.study._run import StudyRecord
from supple.study._spec import StudySpec
from supple.study._style import COLOURS, DASHES, PANELS
from supple.study._summary import learning_curves, summarise

__all__ = ["results", "to_csv", "to_json", "to_png", "to_script", "to_text"]

_SCRIPT = '''"""Repeat the study {name} and print its figures. It needs supple."""

from pathlib import Path

from supple.study import StudySpec, execute, to_text

TOML = {toml}

if __name__ == "__main__":
    spec = StudySpec.from_toml(TOML)
    records = list(execute(spec, folder=Path.cwd()))
    print(to_text(spec, records))
'''


def to_csv(spec: StudySpec, records: Sequence[StudyRecord]) -> str:
    """Return the records as CSV, one line each, with the name of the study."""
    lines = io.StringIO()
    columns = ["study", *(each.name for each in fields(StudyRecord) if each.name != "n_total")]
    writer = csv.DictWriter(lines, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows({"study": spec.name, **asdict(record)} for record in records)
    return lines.getvalue()


def results(spec: StudySpec, records: Sequence[StudyRecord], rope: float = 0.01) -> dict[str, Any]:
    """Return the study and its results as plain dicts and lists."""
    from supple import __version__

    return {
        "supple": __version__,
        "study": spec.to_dict(),
        "summary": [asdict(each) for each in summarise(records)],
        "pairs": [asdict(each) for each in compare_machines(records, rope)],
        "records": [asdict(record) for record in records],
    }


def to_json(spec: StudySpec, records: Sequence[StudyRecord], rope: float = 0.01) -> str:
    """Return the study, its summary, the Bayesian comparison and the records as JSON."""
    return json.dumps(results(spec, records, rope), indent=1, ensure_ascii=False) + "\n"


def to_text(spec: StudySpec, records: Sequence[StudyRecord]) -> str:
    """Return the reproducible figures: all except the times.

    Examples
    --------
    >>> from supple.study import DataSpec, StudySpec, execute, parse_machine, to_text
    >>> machines = (parse_machine("svc"),)
    >>> spec = StudySpec("sonar", DataSpec("embedded", "sonar"), machines, repetitions=1, points=1)
    >>> print(to_text(spec, list(execute(spec))))
    sonar
    repetition  machine  n_train  accuracy  n_vectors
             1  svc          146  0.838710        119
    """
    width = max([7, *(len(record.machine) for record in records)])
    lines = [spec.name, f"repetition  {'machine':<{width}}  n_train  accuracy  n_vectors"]
    for record in records:
        accuracy = "-" if record.accuracy is None else f"{record.accuracy:.6f}"
        vectors = "-" if record.n_vectors is None else str(record.n_vectors)
        lines.append(
            f"{record.repetition + 1:>10}  {record.machine:<{width}}  {record.n_train:>7}  "
            f"{accuracy:>8}  {vectors:>9}{'  ' + record.error if record.error else ''}"
        )
    return "\n".join(lines)


def to_script(spec: StudySpec) -> str:
    """Return a Python script that repeats the study and prints its figures (`to_text`)."""
    toml = spec.to_toml()
    quoted = f"r'''\n{toml}'''" if "'''" not in toml else repr(toml)
    return _SCRIPT.format(name=repr(spec.name).replace('"""', "'"), toml=quoted)


def to_png(spec: StudySpec, records: Sequence[StudyRecord]) -> bytes:
    """Return the curves of the study as a picture: accuracy, vectors and time."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "A picture needs matplotlib, which is not installed. Install it: "
            "pip install 'supple[plots]'."
        ) from error
    figure = Figure(figsize=(13, 4), layout="constrained")
    curves = learning_curves(records)
    axes = figure.subplots(1, len(PANELS))
    for ax, (field, title, logarithmic) in zip(axes, PANELS, strict=True):
        for i, (machine, points) in enumerate(curves.items()):
            known = [
                (p.n_train, getattr(p, field)) for p in points if getattr(p, field) is not None
            ]
            colour, dash = COLOURS[i % len(COLOURS)], DASHES[i % len(DASHES)]
            style = (0, tuple(map(float, dash.split()))) if dash else "-"
            x, y = zip(*known, strict=True) if known else ((), ())
            ax.plot(x, y, color=colour, linestyle=style, marker=".", label=_plain(machine))
        scale = "log" if logarithmic else "linear"
        ax.set(xlabel="training examples", title=title, yscale=scale)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].legend(fontsize="small", frameon=False)
    figure.suptitle(_plain(spec.name))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return buffer.getvalue()


def _plain(text: str) -> str:
    """Return a text that matplotlib neither reads as mathematics nor hides from the legend."""
    return text.replace("$", r"\$").lstrip("_")
