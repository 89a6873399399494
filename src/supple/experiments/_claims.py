"""Judges of claims: each function returns a judge of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from supple.experiments._declare import Row, Verdict

__all__ = ["above", "at_least_on_average", "best", "close", "costs_more", "falls", "near_paper"]

Judge = Callable[[list[Row]], Verdict]
Where = Mapping[str, Sequence[str | None]]  # None: rows without this label
NOTHING = Verdict(False, "nothing was measured that could show it")


def _values(rows: list[Row], measure: str, column: str, where: Where) -> dict[str, dict[str, Row]]:
    """Return rows by the value of `column`, then by their other labels."""
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        if row.measure != measure or column not in row.labels:
            continue
        if any(row.labels.get(name) not in allowed for name, allowed in where.items()):
            continue
        others = ", ".join(v for name, v in row.labels.items() if name != column)
        found.setdefault(row.labels[column], {})[others] = row
    return found


def _pairs(
    rows: list[Row], a: str, b: str, measure: str, column: str, where: Where
) -> dict[str, tuple[Row, Row]]:
    found = _values(rows, measure, column, where)
    first, second = found.get(a, {}), found.get(b, {})
    return {key: (first[key], second[key]) for key in first if key in second}


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


def above(
    a: str, b: str, *, measure: str, column: str, where: Where | None = None, scale: float = 1.0
) -> Judge:
    """Judge whether `a` is above `b` everywhere."""

    def judge(rows: list[Row]) -> Verdict:
        pairs = _pairs(rows, a, b, measure, column, where or {})
        if not pairs:
            return NOTHING
        gains = {key: scale * (x.ours - y.ours) for key, (x, y) in pairs.items()}
        failed = [key for key, gain in gains.items() if gain <= 0.0]
        text = (
            f"{a} - {b}: {min(gains.values()):.2f} to {max(gains.values()):.2f}, mean "
            f"{np.mean(list(gains.values())):.2f}, at {len(gains)} points; not above at: "
            f"{_listed(failed)}"
        )
        each = tuple((x, gains[key] > 0.0) for key, (x, _) in pairs.items())
        return Verdict(not failed, text, each)

    return judge


def close(
    a: str,
    b: str,
    points: float,
    *,
    measure: str,
    column: str,
    where: Where | None = None,
    scale: float = 1.0,
    mean: bool = False,
) -> Judge:
    """Judge whether `a` and `b` differ by at most `points`, everywhere or on average."""

    def judge(rows: list[Row]) -> Verdict:
        pairs = _pairs(rows, a, b, measure, column, where or {})
        if not pairs:
            return NOTHING
        off = {key: scale * abs(x.ours - y.ours) for key, (x, y) in pairs.items()}
        average, largest = float(np.mean(list(off.values()))), max(off, key=lambda k: off[k])
        text = (
            f"distance of {a} and {b}: mean {average:.2f}, largest {off[largest]:.2f} "
            f"({largest}), at {len(off)} points; allowed {points:g}"
        )
        if mean:
            return Verdict(average <= points, text)
        each = tuple((x, off[key] <= points) for key, (x, _) in pairs.items())
        return Verdict(off[largest] <= points, text, each)

    return judge


def at_least_on_average(
    a: str, b: str, *, measure: str, column: str, where: Where | None = None, scale: float = 1.0
) -> Judge:
    """Judge whether the mean of `a` is at least that of `b`."""

    def judge(rows: list[Row]) -> Verdict:
        pairs = _pairs(rows, a, b, measure, column, where or {})
        if not pairs:
            return NOTHING
        first = scale * float(np.mean([x.ours for x, _ in pairs.values()]))
        second = scale * float(np.mean([y.ours for _, y in pairs.values()]))
        higher = sum(x.ours > y.ours for x, y in pairs.values())
        lower = sum(x.ours < y.ours for x, y in pairs.values())
        text = (
            f"mean {a} {first:.2f}, mean {b} {second:.2f}; {a} is above at {higher}, below at "
            f"{lower} of {len(pairs)} points"
        )
        return Verdict(first >= second, text)

    return judge


def costs_more(
    whole: str,
    a: str,
    b: str,
    *,
    measure: str,
    column: str,
    where: Where | None = None,
    scale: float = 1.0,
) -> Judge:
    """Judge whether `a` loses clearly more of `whole` than `b`: by two standard errors."""

    def judge(rows: list[Row]) -> Verdict:
        found = _values(rows, measure, column, where or {})
        keys = [k for k in found.get(whole, {}) if k in found.get(a, {}) and k in found.get(b, {})]
        if len(keys) < 2:
            return NOTHING
        loss = {
            name: np.array([scale * (found[whole][k].ours - found[name][k].ours) for k in keys])
            for name in (a, b)
        }
        more = loss[a] - loss[b]
        error = float(more.std(ddof=1) / np.sqrt(len(more)))
        text = (
            f"{a} costs {loss[a].mean():.2f} on average, {b} {loss[b].mean():.2f}; difference "
            f"{more.mean():.2f} ± {error:.2f} (standard error over {len(keys)}); more on "
            f"{int((more > 0).sum())} of them"
        )
        each = tuple((found[a][k], bool(m > 0)) for k, m in zip(keys, more, strict=True))
        return Verdict(bool(more.mean() > 2 * error), text, each)

    return judge


def falls(
    along: str, *, measure: str, where: Where | None = None, within_error: bool = False
) -> Judge:
    """Judge whether the value falls at every step `along` an axis.

    With `within_error`, a rise by at most the row's "standard error" is allowed.
    """

    def judge(rows: list[Row]) -> Verdict:
        found = _values(rows, measure, along, where or {})
        if len(found) < 2:
            return NOTHING
        one = {place: next(iter(group.values())).ours for place, group in found.items()}
        errors = _values(rows, "standard error", along, where or {})
        allowed = {
            place: next(iter(errors[place].values())).ours if within_error else 0.0 for place in one
        }
        rises = [(p, q, one[q] - one[p]) for p, q in pairwise(one) if one[q] >= one[p]]
        values = ", ".join(f"{place}: {value:.2f}" for place, value in one.items())
        named = _listed([f"{p} to {q} (+{rise:.2f})" for p, q, rise in rises])
        text = f"{values}; does not fall from {named}"
        if within_error:
            text += f"; a standard error is up to {max(allowed.values()):.2f}"
            return Verdict(all(rise <= allowed[p] for p, _, rise in rises), text)
        return Verdict(not rises, text)

    return judge


def best(
    a: str,
    others: Sequence[str],
    *,
    measure: str,
    column: str,
    where: Where | None = None,
    scale: float = 1.0,
    margin: float = 0.0,
) -> Judge:
    """Judge whether the error of `a` is the least, or at most `margin` above the least."""

    def judge(rows: list[Row]) -> Verdict:
        found = _values(rows, measure, column, where or {})
        texts, each = [], []
        for key, row in found.get(a, {}).items():
            rest = {name: found[name][key].ours for name in others if key in found.get(name, {})}
            if not rest:
                continue
            least = min(rest, key=lambda name: rest[name])
            holds = row.ours < rest[least] if not margin else row.ours <= rest[least] + margin
            texts.append(f"{key}: {scale * row.ours:.2f}, {least} {scale * rest[least]:.2f}")
            each.append((row, bool(holds)))
        if not each:
            return NOTHING
        return Verdict(all(h for _, h in each), f"{a} " + "; ".join(texts), tuple(each))

    return judge


def near_paper(
    points: float, *, measure: str, where: Where | None = None, scale: float = 1.0
) -> Judge:
    """Judge whether ours is within `points` of the paper's value, wherever it has one."""

    def judge(rows: list[Row]) -> Verdict:
        off = {}
        for row in rows:
            allowed = all(row.labels.get(k) in v for k, v in (where or {}).items())
            if row.measure == measure and row.paper is not None and allowed:
                off[", ".join(row.labels.values())] = row
        if not off:
            return NOTHING
        gaps = {key: scale * (row.ours - float(row.paper or 0.0)) for key, row in off.items()}
        failed = [f"{key} ({gap:+.1f})" for key, gap in gaps.items() if abs(gap) > points]
        text = f"{len(gaps) - len(failed)} of {len(gaps)} within {points:g} points; not: "
        each = tuple((row, abs(gaps[key]) <= points) for key, row in off.items())
        return Verdict(not failed, text + _listed(failed), each)

    return judge
