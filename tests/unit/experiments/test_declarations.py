"""Declarations are well formed: what they name exists, the paper's numbers are on the grid."""

import json

import pytest

from supple.datasets import names
from supple.errors import InvalidInputError
from supple.experiments import PAPERS, listing, reproduce
from supple.experiments._declare import key_of, printed
from supple.experiments._pictures import KINDS
from supple.experiments.protocols import PROTOCOLS

ITEMS = [(paper, item) for paper in PAPERS.values() for item in paper.items]
NAMES = [f"{paper.name}/{item.name}" for paper, item in ITEMS]


def cells(item, quick, present=True):
    return item.cells(quick=quick, seed=0, present=lambda name: present)


def test_the_five_papers_are_there():
    assert set(PAPERS) == {
        "rueping", "syed", "tax-laskov", "klinkenberg-joachims", "morgado-pereira",
    }  # fmt: skip


def test_every_claim_that_must_be_shown_is_declared():
    numbers = {claim.number for _, item in ITEMS for claim in item.claims}
    assert set(range(1, 9)) <= numbers


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=NAMES)
class TestEveryItem:
    def test_names_what_exists(self, paper, item):
        assert item.protocol in PROTOCOLS
        assert all(figure.kind in KINDS for figure in item.figures)
        assert [each.name for each in paper.items].count(item.name) == 1

    def test_figures_of_a_paper_have_names_of_their_own(self, paper, item):
        all_names = [figure.name for each in paper.items for figure in each.figures]
        assert len(all_names) == len(set(all_names))

    def test_cells_are_plain_data_and_differ(self, paper, item):
        for quick in (False, True):
            found = cells(item, quick)
            assert found
            assert len({key_of(cell) for cell in found}) == len(found)
            assert all(key_of(json.loads(json.dumps(cell))) == key_of(cell) for cell in found)

    def test_quick_is_smaller_and_uses_no_large_data(self, paper, item):
        assert len(cells(item, True)) <= len(cells(item, False))
        used = {v for cell in cells(item, True) for v in cell.values() if isinstance(v, str)}
        assert not used & set(item.stand_ins)
        assert not used & (set(names("openml")) - {"all"})

    def test_absent_data_have_a_stand_in(self, paper, item):
        for cell in cells(item, False, present=False):
            assert cell.get("data") not in item.stand_ins

    def test_numbers_of_the_paper_are_on_the_grid(self, paper, item):
        extra = set(item.table.labels) - set(item.axes)
        for values in item.paper.values():
            for key in values:
                for name, value in zip(item.table.labels, key, strict=True):
                    assert name in extra or value in map(str, item.axes[name])

    def test_claims_without_rows_do_not_hold(self, paper, item):
        assert not any(claim.judge([]).holds for claim in item.claims)

    def test_is_listed_with_its_time(self, paper, item):
        line = next(x for x in listing().splitlines() if x.split()[:2] == [paper.name, item.name])
        assert len(line.split()) >= 5


def test_quick_takes_at_most_two_minutes_for_a_paper():
    assert all(sum(item.quick_minutes for item in p.items) <= 2.0 for p in PAPERS.values())


def test_a_printed_table_has_a_value_in_every_column():
    assert printed("C SV SV-L\n1 1.5 -\n10 - 2") == {("1", "SV"): 1.5, ("10", "SV-L"): 2.0}
    with pytest.raises(ValueError, match="shorter"):
        printed("C SV SV-L\n1 1.5")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"paper": "rupping"}, "no paper 'rupping'.*rueping, syed"),
        ({"paper": "rueping", "item": "nine"}, "has no item 'nine'.*gaussian"),
        ({"paper": "rueping", "seed": -1}, "'seed' parameter of reproduce must be an int >= 0"),
        ({"paper": "rueping", "jobs": 0}, "'jobs' parameter of reproduce must be an int >= 1"),
    ],
)
def test_bad_input_is_named(given, message, tmp_path):
    with pytest.raises(InvalidInputError, match=message):
        reproduce(**given, out=tmp_path)
    assert not list(tmp_path.iterdir())


def test_reproduce_alone_lists(capsys):
    assert reproduce() == {}
    assert "klinkenberg-joachims" in capsys.readouterr().out
