"""Time of the playground with 500 points: updates in the server, and input to paint in Chromium.

    python benchmarks/playground.py            # about a minute
    python benchmarks/playground.py --points 1000

The server runs in a process of its own, with one thread for the linear algebra. It reports the
time of each exact update alone, and of all that an answer needs but for the grid of decision
values. In the browser the time runs from the event of the mouse or the key to the frame after
the one that draws its effect.
"""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import httpx
import numpy as np
from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
SERVE = """
import sys
from pathlib import Path
from supple.workbench import Settings, serve
serve(Settings(folder=Path(sys.argv[1]), port=int(sys.argv[2])))
"""
OBSERVE = """() => {
    window.seen = [];
    new PerformanceObserver((list) => {
        for (const each of list.getEntriesByName("input-to-paint"))
            window.seen.push([each.detail, each.duration]);
    }).observe({ type: "measure" });
}"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(folder):
    """Start a server, and return its process and address."""
    port = free_port()
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, folder, str(port)], env={**os.environ, **one}
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(200):
        try:
            httpx.get(f"{address}/api/about", trust_env=False)
            return process, address
        except httpx.ConnectError:
            time.sleep(0.1)
    raise RuntimeError("the server did not start")


def line(name, values):
    values = sorted(values)
    high = values[min(len(values) - 1, int(0.95 * len(values)))]
    print(f"  {name:34s} {statistics.median(values):8.2f} {high:8.2f} {len(values):6d}")


def server_times(address, n, rounds):
    """Learn, move, re-weight and forget points over HTTP."""
    rng = np.random.default_rng(0)
    times = {}
    with httpx.Client(base_url=address, trust_env=False) as client:
        wanted = {"name": "two clouds", "n": n}
        shown = client.post("/api/playground/sessions", json=wanted).json()
        path = f"/api/playground/sessions/{shown['session']}"

        def change(**action):
            begun = time.perf_counter()
            answer = client.post(f"{path}/changes", json=action)
            total = 1e3 * (time.perf_counter() - begun)
            shown = answer.raise_for_status().json()
            for part, value in (
                ("update", shown["entry"]["microseconds"] / 1e3),
                ("answer without the grid", shown["timing"]["without_grid_ms"]),
                ("grid", shown["timing"]["grid_ms"]),
                ("whole request", total),
            ):
                times.setdefault((action["action"], part), []).append(value)
            return shown

        for _ in range(rounds):
            x, y = rng.normal(scale=1.2, size=2).tolist()
            shown = change(action="learn", x=x, y=y, label=int(rng.integers(2)))
            point = shown["points"][-1][0]
            change(action="move", point=point, x=x + 0.1, y=y - 0.1)
            change(action="reweight", point=point, weight=2.0)
            change(action="forget", point=point)
            change(action="C", value=float(10 ** rng.uniform(-1, 1)))
            change(action="C", value=1.0)
        refit = client.get(f"{path}/estimates").json()["estimates"]["refit_microseconds"]
    print(f"\nserver, {n} points, milliseconds        median     95 %  count")
    for (action, part), values in times.items():
        line(f"{action}: {part}", values)
    print(f"  {'a refit':34s} {refit / 1e3:8.2f}")


def browser_times(address, n, rounds):
    """Click, drag and turn sliders in Chromium."""
    rng = np.random.default_rng(1)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 950})
        page.goto(f"{address}/#/playground")
        page.get_by_label("Set").select_option("generated:two clouds")
        page.get_by_label("Points", exact=True).fill(str(n))
        page.get_by_role("button", name="Load").click()
        page.wait_for_timeout(1500)
        page.evaluate("scrollTo(0, 0)")
        page.evaluate(OBSERVE)
        box = page.locator("canvas.board").bounding_box()

        def place():
            at = rng.uniform(0.1, 0.9, size=2)
            return box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"]

        for _ in range(2 * rounds):  # some fall on a point, and forget it
            page.mouse.click(*place())
            page.wait_for_timeout(60)
        for _ in range(rounds // 5):
            page.mouse.click(*(corner := (box["x"] + 30, box["y"] + 30)))
            page.wait_for_timeout(60)
            page.mouse.move(*corner)
            page.mouse.down()
            page.mouse.move(*place(), steps=20)
            page.mouse.up()
            page.keyboard.press("Control+z")
            page.keyboard.press("Control+z")
            page.wait_for_timeout(100)
        for name in ("C, cost of a margin error", "gamma, width of the kernel"):
            for _ in range(rounds // 2):
                page.get_by_label(name).press("ArrowRight")
                page.wait_for_timeout(40)
        page.wait_for_timeout(500)
        seen = page.evaluate("window.seen")
        browser.close()
    print(f"\nChromium, {n} points, input to paint, ms  median     95 %  count")
    for action in sorted({action for action, _ in seen}):
        line(action, [time for each, time in seen if each == action])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        process, address = start(folder)
        try:
            server_times(address, options.points, options.rounds)
            browser_times(address, options.points, options.rounds)
        finally:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
