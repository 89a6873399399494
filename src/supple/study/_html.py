"""A self-contained page with the results of a study."""

from collections.abc import Callable, Sequence
from html import escape
from math import log10

from supple.study._bayes import compare_machines
from supple.study._run import StudyRecord
from supple.study._spec import StudySpec
from supple.study._style import COLOURS, DASHES, PANELS
from supple.study._summary import CurvePoint, MachineSummary, learning_curves, summarise

__all__ = ["to_html"]

_STYLE = """
:root { color-scheme: light dark; --bg: #fff; --text: #1b1f24; --muted: #57606a; --line: #d0d7de; }
@media (prefers-color-scheme: dark) {
  :root { --bg: #14171b; --text: #e6e9ed; --muted: #9aa4b0; --line: #3a424c; } }
body { background: var(--bg); color: var(--text); font: 16px/1.5 system-ui, sans-serif;
  max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
p, caption { color: var(--muted); } caption { text-align: left; padding-bottom: .5rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(19rem, 1fr)); gap: 1.5rem; }
figure { margin: 0; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; } svg text { fill: var(--muted); font-size: 12px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .35rem .7rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child, td.text { text-align: left; }
.key { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .3rem 1.4rem; }
.key svg { width: 2.5rem; height: .8rem; vertical-align: middle; margin-right: .5rem; }
pre { border: 1px solid var(--line); padding: 1rem; overflow-x: auto; font-size: 14px; }
"""

_W, _H, _LEFT, _BOTTOM, _TOP = 360, 240, 58, 34, 10  # of a chart, in pixels


def to_html(spec: StudySpec, records: Sequence[StudyRecord], rope: float = 0.01) -> str:
    """Return one page with curves, tables and the study itself as TOML; it loads nothing.

    Examples
    --------
    >>> from supple.study import DataSpec, StudySpec, execute, parse_machine, to_html
    >>> machines = (parse_machine("svc"),)
    >>> spec = StudySpec("a < b", DataSpec("embedded", "sonar"), machines, repetitions=1, points=2)
    >>> page = to_html(spec, list(execute(spec)))
    >>> "<h1>a &lt; b</h1>" in page, "http" in page
    (True, False)
    """
    name = escape(spec.name)
    curves = learning_curves(records)
    parts = [
        f"<h1>{name}</h1>",
        f"<p>{escape(_setting(spec))}</p>",
        _legend(list(curves)),
        f'<div class="charts">{"".join(_chart(curves, *panel) for panel in PANELS)}</div>',
        "<h2>Machines</h2>",
        _machines(summarise(records)),
        _verdicts(records, rope),
        "<h2>Repeat this study</h2>",
        "<p>Save the lines below as study.toml and run: supple compare --config study.toml. All "
        "but the times will be the same.</p>",
        f'<pre id="study-toml">{escape(spec.to_toml())}</pre>',
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{name} - supple</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _setting(spec: StudySpec) -> str:
    data = spec.data
    order = f"sorted by {data.by}" if data.order == "sorted" else data.order
    test = f"{spec.test_share:.0%} held out" if spec.protocol == "held-out" else spec.protocol
    repeats = "1 repetition" if spec.repetitions == 1 else f"{spec.repetitions} repetitions"
    return (
        f"Data: {data.name} ({data.source}), order: {order}; {test}; {repeats}, seed {spec.seed}."
    )


def _line(i: int) -> str:
    dash = DASHES[i % len(DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{COLOURS[i % len(COLOURS)]}" stroke-width="2" fill="none"{dashes}'


def _legend(machines: list[str]) -> str:
    entries = "".join(
        f'<li><svg viewBox="0 0 40 10" aria-hidden="true"><path d="M0 5H40" {_line(i)}/></svg>'
        f"{escape(machine)}</li>"
        for i, machine in enumerate(machines)
    )
    return f'<ul class="key">{entries}</ul>'


def _chart(curves: dict[str, list[CurvePoint]], field: str, title: str, logarithmic: bool) -> str:
    measure = log10 if logarithmic else float
    known = {
        machine: [
            (p.n_train, measure(getattr(p, field))) for p in points if _drawn(p, field, logarithmic)
        ]
        for machine, points in curves.items()
    }
    every = [point for points in known.values() for point in points]
    if not every:
        return f"<figure><figcaption>{title}</figcaption><p>Nothing was measured.</p></figure>"
    low = 0.0 if field == "n_vectors" else min(y for _, y in every)
    high = max(low + 1e-3, *(y for _, y in every))
    longest = max(x for x, _ in every)
    across = _scale(0.0, longest, _LEFT, _W - 12)
    up = _scale(low, high, _H - _BOTTOM, _TOP)
    lines = []
    for i, (machine, points) in enumerate(known.items()):
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        name, colour = escape(machine), COLOURS[i % len(COLOURS)]
        lines.append(f"<polyline {_line(i)} points='{path}'><title>{name}</title></polyline>")
        for x, y in points:
            told = f"{name}: {10**y if logarithmic else y:.4g} at {x}"
            lines.append(
                f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}">'
                f"<title>{told}</title></circle>"
            )
    ticks = {y: 10**y if logarithmic else y for y in (low, (low + high) / 2, high)}
    return (
        f"<figure><figcaption>{title}</figcaption>"
        f'<svg viewBox="0 0 {_W} {_H}" role="img" aria-label="{title} over training examples">'
        f"{_axes(across, up, longest, ticks)}{''.join(lines)}</svg></figure>"
    )


def _drawn(point: CurvePoint, field: str, logarithmic: bool) -> bool:
    value = getattr(point, field)
    return value is not None and (value > 0.0 or not logarithmic)


def _scale(low: float, high: float, start: float, stop: float) -> Callable[[float], float]:
    return lambda value: start + (value - low) / (high - low) * (stop - start)


def _axes(
    across: Callable[[float], float],
    up: Callable[[float], float],
    longest: int,
    ticks: dict[float, float],
) -> str:
    """Return the axes; `ticks` maps positions on the scale to values."""
    ground = _H - _BOTTOM
    parts = [f'<path d="M{_LEFT} {_TOP}V{ground}H{_W - 12}" stroke="currentColor" fill="none"/>']
    for place, value in ticks.items():
        parts.append(
            f'<text x="{_LEFT - 6}" y="{up(place) + 4:.1f}" text-anchor="end">{value:.3g}</text>'
        )
    for count in (0, longest // 2, longest):
        parts.append(
            f'<text x="{across(count):.1f}" y="{ground + 16}" text-anchor="middle">{count}</text>'
        )
    middle = (_LEFT + _W) / 2
    parts.append(f'<text x="{middle}" y="{_H - 3}" text-anchor="middle">training examples</text>')
    return "".join(parts)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    told = f"<caption>{caption}</caption>" if caption else ""
    return (
        f'<div class="scroll" tabindex="0"><table>{told}<thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _machines(summaries: Sequence[MachineSummary]) -> str:
    head = ("machine", "accuracy", "± deviation", "vectors", "fit s", "predict s", "kB")
    rows = [
        (
            escape(each.machine),
            _figure(each.accuracy, ".4f"),
            _figure(each.deviation, ".4f"),
            _figure(each.n_vectors, ".0f"),
            f"{each.fit_seconds:.3g}",
            f"{each.predict_seconds:.3g}",
            _figure(None if each.model_bytes is None else each.model_bytes / 1000, ".0f"),
        )
        for each in summaries
    ]
    failed = "".join(
        f"<p>{escape(each.machine)} failed: {escape(error)}</p>"
        for each in summaries
        for error in each.errors
    )
    return (
        _table(head, rows, "Means over the repetitions; times are those of a whole repetition.")
        + failed
    )


def _verdicts(records: Sequence[StudyRecord], rope: float) -> str:
    pairs = compare_machines(records, rope)
    if not pairs:
        return ""
    head = ("pair", "difference", "95 % interval", "first better", "equivalent", "second better")
    rows = [
        (
            f"{escape(pair.first)} - {escape(pair.second)}",
            f"{pair.mean:+.4f}",
            f"{pair.low:+.4f} ... {pair.high:+.4f}",
            f"{pair.first_better:.3f}",
            f"{pair.equivalent:.3f}",
            f"{pair.second_better:.3f}",
        )
        for pair in pairs
    ]
    caption = (
        f"Probabilities by the Bayesian correlated t-test over {pairs[0].n} repetitions; "
        f"accuracies that differ by less than {pairs[0].rope:g} count as equivalent (Benavoli, "
        "Corani, Demšar & Zaffalon 2017)."
    )
    return "<h2>Which machine is better?</h2>" + _table(head, rows, caption)


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
