"""Judges of claims, on rows made by hand."""

import pytest

from supple.experiments._claims import (
    above,
    at_least_on_average,
    best,
    close,
    costs_more,
    falls,
    near_paper,
)
from supple.experiments._declare import Row


def rows(values, measure="accuracy", **more):
    """Return rows of {(place, machine): value}."""
    return [
        Row({"place": place, "machine": machine, **more}, measure, value, None, 1)
        for (place, machine), value in values.items()
    ]


KIND = {"measure": "accuracy", "column": "machine"}


def test_above_names_where_it_fails():
    found = rows({("1", "a"): 3.0, ("2", "a"): 1.0, ("1", "b"): 2.0, ("2", "b"): 1.0})
    verdict = above("a", "b", **KIND)(found)
    assert not verdict.holds
    assert verdict.text.endswith("not above at: 2")
    assert [(row.labels["place"], holds) for row, holds in verdict.of_rows] == [
        ("1", True),
        ("2", False),
    ]
    assert above("a", "b", where={"place": ("1",)}, **KIND)(found).holds


def test_close_everywhere_or_on_average():
    found = rows({("1", "a"): 3.0, ("2", "a"): 1.0, ("1", "b"): 1.0, ("2", "b"): 1.0})
    assert not close("a", "b", 1.0, **KIND)(found).holds
    assert close("a", "b", 1.0, mean=True, **KIND)(found).holds


def test_rows_with_and_without_a_label_can_be_told_apart():
    found = rows({("1", "a"): 1.0, ("1", "b"): 0.0}) + rows(
        {("1", "a"): 0.0, ("1", "b"): 1.0}, step="1"
    )
    assert above("a", "b", where={"step": (None,)}, **KIND)(found).holds
    assert not above("a", "b", where={"step": ("1",)}, **KIND)(found).holds


def test_at_least_on_average():
    found = rows({("1", "a"): 3.0, ("2", "a"): 0.0, ("1", "b"): 1.0, ("2", "b"): 1.0})
    assert at_least_on_average("a", "b", **KIND)(found).holds
    assert not at_least_on_average("b", "a", **KIND)(found).holds


@pytest.mark.parametrize(("noise", "holds"), [(0.1, True), (5.0, False)])
def test_clearly_means_two_standard_errors(noise, holds):
    values = {}
    for number in range(4):
        place, sign = str(number), (-1) ** number
        values |= {(place, "all"): 90.0, (place, "some"): 88.0}
        values |= {(place, "few"): 86.0 + sign * noise}
    assert costs_more("all", "few", "some", **KIND)(rows(values)).holds is holds


def test_falls_strictly_or_within_the_error():
    values = {("1", "a"): 9.0, ("2", "a"): 4.0, ("3", "a"): 4.2}
    found = rows(values) + rows(dict.fromkeys(values, 0.3), measure="standard error")
    kind = {"measure": "accuracy"}
    assert not falls("place", **kind)(found).holds
    assert falls("place", within_error=True, **kind)(found).holds
    assert not falls("place", **kind)(rows({("1", "a"): 4.0, ("2", "a"): 4.0})).holds
    assert falls("place", **kind)(found[:2]).holds


def test_best_is_the_least_or_near_it():
    found = rows({("1", "a"): 3.0, ("1", "b"): 2.5, ("1", "c"): 4.0})
    assert not best("a", ("b", "c"), **KIND)(found).holds
    assert best("a", ("b", "c"), margin=0.5, **KIND)(found).holds
    assert best("b", ("a", "c"), **KIND)(found).holds


def test_near_paper_looks_at_rows_that_the_paper_has():
    found = [
        Row({"machine": "a"}, "accuracy", 80.0, None, 1, 82.0),
        Row({"machine": "b"}, "accuracy", 80.0, None, 1),
        Row({"machine": "c"}, "accuracy", 80.0, None, 1, 90.0),
    ]
    verdict = near_paper(3.0, measure="accuracy")(found)
    assert not verdict.holds
    assert "1 of 2" in verdict.text
    assert "c (-10.0)" in verdict.text
    assert near_paper(3.0, measure="accuracy", where={"machine": ("a", "b")})(found).holds
