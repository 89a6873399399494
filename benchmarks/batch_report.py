"""Tables of the batch benchmark, for the terminal and for docs/benchmarks.md."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WORSE = 1e-6  # how much worse than a peer's our objective may be, relative
OFF = 1e-4  # a peer worse than ours by more than this has not solved the problem
LARGEST = 3  # how many cases count as the largest

# (what, peer, statistic) -> the least ratio; predict counts only on the largest cases
BARS = {
    ("fit", "scikit-learn", "geometric mean"): 6.0,
    ("fit", "scikit-learn", "minimum"): 3.0,
    ("fit", "intelex", "geometric mean"): 4.0,
    ("fit", "intelex", "minimum"): 1.5,
    ("predict", "scikit-learn", "minimum"): 8.0,
    ("predict", "intelex", "minimum"): 1.0,
}


def table(head: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table, padded so that it also reads well in a terminal."""
    widths = [max(len(cell) for cell in column) for column in zip(head, *lines, strict=True)]

    def join(cells, fill=" "):
        padded = [c.ljust(w, fill) for c, w in zip(cells, widths, strict=True)]
        return "| " + " | ".join(padded) + " |"

    return "\n".join([join(head), join([""] * len(head), "-"), *map(join, lines)])


def seconds(value: float) -> str:
    return f"{1e3 * value:.3g} ms" if value < 0.1 else f"{value:.3g} s"


def check(own: dict, peer: dict) -> dict:
    """Say by what a peer's solution was compared with ours, and whether ours is as good."""
    if "objective" in own and "objective" in peer and peer["violation"] <= WORSE:
        difference = (own["objective"] - peer["objective"]) / abs(peer["objective"])
        return {"by": "dual objective", "difference": difference, "ok": difference <= WORSE,
                "peer_is_off": difference < -OFF}  # fmt: skip
    difference = own["accuracy"] - peer["accuracy"]
    return {"by": "accuracy", "difference": difference, "ok": difference >= -0.005,
            "peer_is_off": difference > 0.005}  # fmt: skip


def measured(rows: list[dict]) -> list[dict]:
    return [r for r in rows if "fit_s" in r.get("systems", {}).get("supple", {})]


def peers_of(rows: list[dict]) -> list[str]:
    names = dict.fromkeys(name for r in rows for name in r.get("systems", {}))
    return [name for name in names if name != "supple"]


def largest(rows: list[dict]) -> list[dict]:
    """Return the cases that take scikit-learn longest to fit."""
    known = [r for r in measured(rows) if "fit_s" in r["systems"].get("scikit-learn", {})]
    return sorted(known, key=lambda r: -r["systems"]["scikit-learn"]["fit_s"])[:LARGEST]


def ratios(rows: list[dict], what: str, peer: str) -> dict[str, float]:
    """Return the peer's time over ours for each case that both have."""
    key = f"{what}_s"
    pairs = {r["case"]: (r["systems"].get(peer, {}).get(key), r["systems"]["supple"][key])
             for r in measured(rows)}  # fmt: skip
    return {case: theirs / ours for case, (theirs, ours) in pairs.items() if theirs}


def times(rows: list[dict], what: str) -> str:
    peers = peers_of(rows)
    lines = []
    for r in rows:
        if "skipped" in r:
            lines.append([r["case"], r["skipped"], *[""] * len(peers)])
            continue
        own = r["systems"]["supple"]
        line = [r["case"], seconds(own[f"{what}_s"]) if "fit_s" in own else own["error"]]
        for peer in peers:
            theirs = r["systems"].get(peer, {"error": ""})
            if "error" in theirs:
                line.append(theirs["error"])
            else:
                ratio = ratios([r], what, peer).get(r["case"])
                shown = f" ({ratio:.1f}x)" if ratio else ""
                note = f", {theirs['note']}" if "note" in theirs else ""
                line.append(seconds(theirs[f"{what}_s"]) + shown + note)
        lines.append(line)
    for name, statistic in (("geometric mean", geomean), ("minimum", min)):
        found = [ratios(rows, what, peer).values() for peer in peers]
        lines.append([name, "", *(f"{statistic(f):.2f}x" if f else "" for f in found)])
    return table([what, "supple", *peers], lines)


def geomean(values) -> float:
    return float(np.exp(np.mean(np.log(list(values)))))


def checks(rows: list[dict]) -> str:
    """Our objective minus the peer's, relative: negative is better."""
    peers, lines = peers_of(rows), []
    for r in measured(rows):
        own = r["systems"]["supple"]
        state = "" if own["ok"] else " **FAILED: not feasible**"
        line = [r["case"], str(own["n_sv"]), f"{own['accuracy']:.4f}",
                f"{own['objective']:.8g}{state}"]  # fmt: skip
        for peer in peers:
            found = r["systems"].get(peer, {}).get("check")
            if found is None:
                line.append("")
                continue
            text = f"{found['difference']:+.1e}"
            text += " (accuracy only)" if found["by"] == "accuracy" else ""
            text += " peer is off" if found["peer_is_off"] else ""
            line.append(text if found["ok"] else f"**FAILED** {text}")
        lines.append(line)
    return table(["ours - theirs", "SVs", "accuracy", "our dual objective", *peers], lines)


def failures(rows: list[dict]) -> list[str]:
    """Return the cases in which supple failed or its solution is not as good as a peer's."""
    bad = [r["case"] for r in rows if "error" in r.get("systems", {}).get("supple", {})]
    for r in measured(rows):
        found = [s["check"]["ok"] for s in r["systems"].values() if "check" in s]
        if not all([r["systems"]["supple"]["ok"], *found]):
            bad.append(r["case"])
    return bad


def bars(rows: list[dict]) -> str:
    lines = []
    for (what, peer, statistic), bar in BARS.items():
        counted = largest(rows) if what == "predict" else rows
        found = ratios(counted, what, peer)
        if not found:
            lines.append([what, peer, statistic, f"{bar:g}x", "not measured", ""])
            continue
        value = (geomean if statistic == "geometric mean" else min)(found.values())
        where = "" if statistic != "minimum" else f" ({min(found, key=found.get)})"
        where += "" if len(found) == len(counted) else f", {len(found)} of {len(counted)} cases"
        lines.append([what, peer, statistic, f"{bar:g}x", f"{value:.2f}x{where}",
                      "yes" if value >= bar else "NO"])  # fmt: skip
    return table(["what", "peer", "statistic", "bar", "measured", "holds"], lines)


def batch_text(result: dict) -> str:
    rows = result["rows"]
    names = ", ".join(r["case"] for r in largest(rows)) or "none"
    return "\n\n".join([
        environment(result), times(rows, "fit"), times(rows, "predict"), checks(rows),
        bars(rows), f"Largest cases (predict bars): {names}."])  # fmt: skip


def environment(result: dict) -> str:
    m = result["machine"]
    systems = ", ".join(f"{name} {about}" for name, about in m["systems"].items())
    return (f"{m['date']}, {m['processor']}, {m['processors']} processors, load "
            f"{m['load']:.1f} before the run; Python {m['python']}, NumPy {m['numpy']}; "
            f"{systems}. Threads: {m['threads']}.")  # fmt: skip


def scaling_text(result: dict) -> str:
    lines = [[r["case"], seconds(r["one_s"]), seconds(r["two_s"]), f"{r['gain']:.2f}x",
              "1.4x", "yes" if r["gain"] >= 1.4 else "NO"] for r in result["rows"]]  # fmt: skip
    head = ["fit, supple alone", "1 thread", "2 threads", "gain", "bar", "holds"]
    return environment(result) + "\n\n" + table(head, lines)


def warm_text(result: dict) -> str:
    lines = [[r["case"], seconds(r["warm_s"]), seconds(r["cold_s"]), f"{r['share']:.3f}",
              f"{r['difference']:+.1e}", "0.2", "yes" if r["share"] <= 0.2 else "NO"]
             for r in result["rows"]]  # fmt: skip
    head = ["200 rows to 20000", "partial_fit", "fit of all", "share", "objective, relative",
            "bar", "holds"]  # fmt: skip
    return environment(result) + "\n\n" + table(head, lines)


def imports_text(result: dict) -> str:
    value = result["median_s"]
    lines = [[seconds(value), "0.15 s", "yes" if value <= 0.15 else "NO"]]
    head = ["import supple after sklearn.svm", "bar", "holds"]
    return environment(result) + "\n\n" + table(head, lines)


def growth_text(result: dict) -> str:
    names = list(result["exponents"])
    lines = [[str(r["n"]), *(seconds(r[name]) if name in r else "" for name in names)]
             for r in result["rows"]]  # fmt: skip
    lines.append(["exponent", *(f"{result['exponents'][name]:.2f}" for name in names)])
    return environment(result) + "\n\n" + table(["n", *names], lines)


SECTIONS = {
    "batch": ("", batch_text),
    "scaling": ("### Two threads\n\n", scaling_text),
    "warm": ("### Adding to a fitted model\n\n", warm_text),
    "imports": ("### Import\n\n", imports_text),
}


def fill(page: Path, source: Path) -> None:
    """Replace what stands between the markers of `page` by the last results."""
    results = json.loads(source.read_text(encoding="utf-8"))
    parts = [title + write(results[key])
             for key, (title, write) in SECTIONS.items() if key in results]  # fmt: skip
    text = between(page.read_text(encoding="utf-8"), "batch", "\n\n".join(parts))
    growth = source.with_name("growth.json")
    if growth.exists():
        result = json.loads(growth.read_text(encoding="utf-8"))
        body = growth_text(result)
        picture = page.parent / "images" / "growth.png"
        if picture.exists():
            body += "\n\n![Time of fit against the number of rows](images/growth.png)"
        text = between(text, "growth", body)
    page.write_text(text, encoding="utf-8")
    print(f"filled: {page}")


def between(text: str, name: str, body: str) -> str:
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    head, rest = text.split(begin)
    return f"{head}{begin}\n\n{body}\n\n{end}{rest.split(end)[1]}"
