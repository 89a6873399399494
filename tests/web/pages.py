"""What a user does on the pages, in words."""

TABLE = "length,width,kind\n" + "".join(
    f"{(7 * i) % 50 / 10},{(11 * i) % 30 / 10},{'cat' if (7 * i) % 50 + i % 5 > 25 else 'dog'}\n"
    for i in range(120)
)


def paste(page, text):
    """Paste a table on the Data tab."""
    page.get_by_text("Paste a table").click()
    page.get_by_label("Rows of the table").fill(text)
    page.get_by_role("button", name="Use this table").click()


def keep_machines(page, *labels):
    """Remove all machines of the Compare tab but these."""
    page.wait_for_selector(".machine")
    for name in page.locator(".machine-name").all_text_contents():
        if name not in labels:
            page.get_by_role("button", name=f"Remove {name}", exact=True).click()


def choose(page, label, value):
    """Set a number of the form."""
    box = page.get_by_label(label, exact=True)
    box.fill(str(value))
    box.press("Tab")


def small_run(page, *labels, repetitions=2):
    """Begin a run of few measurements; return its id."""
    page.goto(page.url.split("#")[0] + "#/compare")
    keep_machines(page, *(labels or ("svc", "libsvm")))
    choose(page, "Repetitions", repetitions)
    choose(page, "Training sizes", 3)
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".run-head")
    return page.url.rsplit("/", 1)[1]


def finished(page):
    """Wait until the run that is shown has finished."""
    page.wait_for_selector(".badge.finished")
    page.wait_for_selector("table.figures tbody tr")


def machines(page):
    """Return the first cells of the table of results, which is drawn again as figures come."""
    return page.locator("table.figures tbody th")


def painted(page):
    """Wait until the page has drawn what it knows."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
