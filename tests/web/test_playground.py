"""The tabs Playground and Stream in a real browser."""

from pathlib import Path

import pytest
from live_server import settled, wait_until
from playwright.sync_api import expect
from web.pages import painted

from supple.workbench import playground, streaming

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
RADIUS_OF_A_CIRCLE = """async () => {
    const { contours } = await import("/static/contours.js");
    const values = new Float32Array(80 * 60);
    for (let i = 0; i < values.length; i++)
        values[i] = 20 - Math.hypot((i % 80) - 40, Math.floor(i / 80) - 30);
    const lines = contours(values, 80, 60, 0);
    const radii = lines[0].map(([x, y]) => Math.hypot(x - 40, y - 30));
    return { lines: lines.length, low: Math.min(...radii), high: Math.max(...radii),
             closed: String(lines[0][0]) === String(lines[0].at(-1)) };
}"""


def open_tab(watched, tab, width=1280, theme="light"):
    page = watched.open(f"#/{tab}", viewport={"width": width, "height": 900}, color_scheme=theme)
    page.get_by_role("heading", level=1).wait_for()
    return page


def canvas_of(page):
    """Return the canvas that the page shows, as the server holds it."""
    name = page.evaluate("sessionStorage.getItem('supple-playground')")
    return playground.sessions[name]


def begin(page, n=60):
    page.get_by_label("Points", exact=True).fill(str(n))
    page.get_by_role("button", name="Load").click()
    shows(page, n)
    page.evaluate("scrollTo(0, 0)")
    painted(page)


def shows(page, n):
    """Wait until the page shows so many points."""
    page.wait_for_function(
        """n => [...document.querySelectorAll(".counts b")]
            .reduce((sum, each) => sum + Number(each.textContent), 0) === n""",
        arg=n,
    )


def wait_for(canvas, condition):
    """Wait until a canvas is so, between two of its changes."""

    def so():
        with canvas.lock:
            return condition()

    wait_until(so)


def pixel(page, x, y):
    """Return where a place of the plane is on the page."""
    view, box = canvas_of(page).view, page.locator("canvas.board").bounding_box()
    return (
        box["x"] + box["width"] * (x - view.x0) / (view.x1 - view.x0),
        box["y"] + box["height"] * (view.y1 - y) / (view.y1 - view.y0),
    )


def lonely(canvas):
    """Return the point whose nearest neighbour is farthest away."""
    places = {i: complex(p.x, p.y) for i, p in canvas.points.items()}
    return max(places, key=lambda i: min(abs(places[i] - z) for j, z in places.items() if j != i))


def test_lines_of_equal_value(workbench):
    found = open_tab(workbench, "playground").evaluate(RADIUS_OF_A_CIRCLE)
    assert found["lines"] == 1
    assert found["closed"]
    assert found["low"] == pytest.approx(20.0, abs=0.02)
    assert found["high"] == pytest.approx(20.0, abs=0.02)


def test_learn_drag_and_forget_with_the_mouse(workbench):
    page = open_tab(workbench, "playground")
    begin(page)
    canvas = canvas_of(page)
    corner = canvas.view.x0 + 0.1, canvas.view.y0 + 0.1
    page.mouse.click(*pixel(page, *corner))
    wait_for(canvas, lambda: 60 in canvas.points)
    assert canvas.points[60].label == 1
    page.get_by_role("radio", name="class 0").check()
    page.mouse.click(*pixel(page, corner[0] + 0.6, corner[1]))
    wait_for(canvas, lambda: 61 in canvas.points)
    assert canvas.points[61].label == 0
    page.get_by_text("Learned point 61").wait_for()

    start, end = pixel(page, *corner), pixel(page, canvas.view.x1 - 0.1, canvas.view.y0 + 0.1)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=12)
    page.mouse.up()
    wait_for(canvas, lambda: abs(canvas.points[60].x - canvas.view.x1 + 0.1) < 0.05)
    assert canvas.changes[-1].kind == "move"
    assert [change.kind for change in canvas.changes] == ["learn", "learn", "move"]
    page.get_by_text("Moved point 60").wait_for()  # the page knows it, too

    page.mouse.click(*end)
    wait_for(canvas, lambda: 60 not in canvas.points)
    page.get_by_text("Forgot point 60").wait_for()
    assert canvas.model.kkt_violation_ < 1e-9


def test_a_point_stays_where_it_was_dropped_before_the_server_answers(workbench):
    page = open_tab(workbench, "playground")
    begin(page)
    canvas, held = canvas_of(page), []
    chosen = lonely(canvas)
    start = pixel(page, canvas.points[chosen].x, canvas.points[chosen].y)
    end = pixel(page, canvas.view.x1 - 0.1, canvas.view.y0 + 0.1)

    def hold_two(route):
        if len(held) == 2:
            route.continue_()
        else:
            held.append(route)

    page.route("**/changes", hold_two)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=6)
    page.mouse.up()
    wait_until(lambda: held, lambda seconds: page.wait_for_timeout(1000 * seconds))
    held[0].continue_()  # the beginning of the movement is answered, its end waits
    wait_until(lambda: len(held) == 2, lambda seconds: page.wait_for_timeout(1000 * seconds))
    page.mouse.click(*end)
    held[1].continue_()
    page.get_by_text(f"Forgot point {chosen}").wait_for()
    assert len(canvas.points) == 59


def test_keys_select_weigh_flip_move_and_forget(workbench):
    page = open_tab(workbench, "playground")
    begin(page)
    canvas = canvas_of(page)
    page.locator("canvas.board").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".chosen")).to_contain_text("Point ")
    chosen = int(page.locator(".chosen").inner_text().split()[1].rstrip(":"))
    before = canvas.points[chosen]
    page.keyboard.press("+")
    wait_for(canvas, lambda: canvas.points[chosen].weight == 2.0)
    page.keyboard.press("-")
    wait_for(canvas, lambda: canvas.points[chosen].weight == 1.0)
    page.keyboard.press("f")
    wait_for(canvas, lambda: canvas.points[chosen].label == 1 - before.label)
    page.keyboard.press("Shift+ArrowUp")
    wait_for(canvas, lambda: canvas.points[chosen].y > before.y)
    page.keyboard.press("n")
    wait_for(canvas, lambda: len(canvas.points) == 61)
    page.keyboard.press("Delete")
    wait_for(canvas, lambda: chosen not in canvas.points)
    page.keyboard.press("Control+z")
    wait_for(canvas, lambda: chosen in canvas.points)


def test_time_goes_back_and_the_page_comes_back(workbench):
    page = open_tab(workbench, "playground")
    begin(page)
    canvas = canvas_of(page)
    first = dict(canvas.points)
    for _ in range(3):
        point = canvas.points[lonely(canvas)]
        held = len(canvas.points)
        page.mouse.click(*pixel(page, point.x, point.y))
        wait_for(canvas, lambda held=held: len(canvas.points) == held - 1)
    page.get_by_text("3 of 3").wait_for()
    page.get_by_label("Time").press("Home")
    wait_for(canvas, lambda: canvas.points == first)
    page.get_by_role("button", name="Redo").click()
    page.get_by_text("1 of 3").wait_for()
    page.reload()
    page.get_by_text("1 of 3").wait_for()
    assert canvas_of(page) is canvas


def test_C_and_gamma_follow_their_sliders(workbench):
    page = open_tab(workbench, "playground")
    begin(page)
    canvas = canvas_of(page)
    before = canvas.gamma
    page.get_by_label("C, cost of a margin error").press("End")
    wait_for(canvas, lambda: canvas.C == 1000.0)
    page.get_by_label("gamma, width of the kernel").press("ArrowRight")
    wait_for(canvas, lambda: canvas.gamma != before)
    page.locator("dd").first.filter(has_text="%").wait_for()


def test_a_feature_pair_of_an_embedded_set(workbench):
    page = open_tab(workbench, "playground")
    page.get_by_label("Set").select_option("embedded:yeast")
    page.get_by_label("Across").select_option("2")
    page.get_by_label("Class against the others").select_option("CYT")
    page.get_by_label("Kernel", exact=True).select_option("matern52")
    page.get_by_role("button", name="Load").click()
    page.get_by_text("200 of 1484 rows, drawn at random.").wait_for()
    page.get_by_text("matern52 kernel").wait_for()


def test_a_lost_canvas_is_said(serve):
    page = open_tab(serve(), "playground")
    begin(page)
    playground.sessions.close(page.evaluate("sessionStorage.getItem('supple-playground')"))
    page.mouse.click(*(page.locator("canvas.board").bounding_box()[side] + 30 for side in "xy"))
    page.get_by_role("alert").filter(has_text="not held any more").wait_for()
    page.get_by_role("button", name="Load").click()
    page.get_by_role("alert").wait_for(state="detached")


def test_the_canvas_that_was_asked_for_last_is_shown(workbench):
    page = workbench.open("#/data")
    page.get_by_role("heading", name="wbc").wait_for()
    late = []

    def hold_the_first(route):
        answer = route.fetch()
        if late:
            route.fulfill(response=answer)
        else:
            late.append((route, answer))

    page.route("**/api/playground/sessions", hold_the_first)
    page.goto(f"{workbench.url}/#/playground")
    wait_until(lambda: late, lambda seconds: page.wait_for_timeout(1000 * seconds))
    begin(page)
    route, answer = late[0]
    outdated = answer.json()["session"]
    with page.expect_response(f"**/api/playground/sessions/{outdated}") as removed:
        route.fulfill(response=answer)
    assert removed.value.request.method == "DELETE"
    assert outdated not in playground.sessions._held
    shows(page, 60)
    assert len(canvas_of(page).points) == 60


def test_a_tab_that_is_left_before_its_answer_is_gone(workbench):
    page = workbench.open("#/compare")
    page.wait_for_selector(".machine")
    late = []
    page.route("**/api/about", lambda route: late.append(route))
    page.get_by_role("link", name="Data", exact=True).click()
    wait_until(lambda: late, lambda seconds: page.wait_for_timeout(1000 * seconds))
    page.get_by_role("link", name="Runs").click()
    page.get_by_text("The history is empty").wait_for()
    late[0].continue_()
    page.get_by_role("link", name="Compare", exact=True).click()
    page.wait_for_selector(".machine")


def test_a_stream_plays_pauses_and_ends_with_its_page(workbench):
    page = open_tab(workbench, "stream")
    page.get_by_label("Examples", exact=True).fill("20000")
    page.get_by_role("button", name="Play").click()
    page.get_by_text("playing").wait_for()
    name = page.evaluate("sessionStorage.getItem('supple-stream')")
    player = streaming.players[name]
    wait_until(lambda: len(player.records) > 3)
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("paused").wait_for()
    page.reload()
    page.get_by_text("paused").wait_for()
    held = settled(lambda: len(player.records))  # the present batch may still come
    page.get_by_role("button", name="Resume").click()
    wait_until(lambda: len(player.records) > held)
    page.get_by_role("link", name="Playground").click()
    wait_until(lambda: player.reader is None)
    page.get_by_role("link", name="Stream").click()
    wait_until(lambda: player.reader is not None)
    page.close()
    wait_until(lambda: player.reader is None)
    streaming.players.close(name)


@pytest.mark.parametrize("tab", ["playground", "stream"])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_no_barriers(workbench, tab, theme, width):
    page = open_tab(workbench, tab, width=width, theme=theme)
    if tab == "playground":
        begin(page)
        page.locator("canvas.board").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("+")
        page.locator(".playlog .entry").first.wait_for()
        page.get_by_text("Keys", exact=True).click()
    else:
        page.get_by_label("Examples", exact=True).fill("800")
        page.get_by_role("button", name="Play").click()
        page.get_by_text("finished").wait_for()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    violations = page.evaluate("axe.run().then((found) => found.violations)")
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
