"""Protocols: a small cell of every item, and some beside the same done with scikit-learn."""

import json

import numpy as np
import pytest
from sklearn.svm import SVC

from supple.experiments import PAPERS, data
from supple.experiments.protocols import FIRST, PROTOCOLS, SECOND, draw
from supple.experiments.protocols._batches import divide
from supple.streams import relevance_change

ITEMS = [(paper, item) for paper in PAPERS.values() for item in paper.items]
SMALL = {"repetitions": 1, "folds": 1, "steps": 1, "n_samples": 300, "size": 520, "M": "all"}


def run(cell):
    return PROTOCOLS[cell["protocol"]](cell)


@pytest.mark.parametrize(("paper", "item"), ITEMS, ids=[f"{p.name}/{i.name}" for p, i in ITEMS])
def test_a_small_cell_gives_the_measures_of_the_table(paper, item):
    cell = item.cells(quick=True, seed=0, present=lambda name: False)[0]
    outcomes = run(cell | {name: value for name, value in SMALL.items() if name in cell})
    assert json.loads(json.dumps(outcomes, allow_nan=False)) == outcomes
    labels = set(item.axes)
    of_table = [o for o in outcomes if labels | set(o["labels"]) == set(item.table.labels)]
    assert of_table or not item.table.measures
    for outcome in of_table:
        assert set(item.table.measures) <= set(outcome["values"])


def test_two_batches_are_those_of_the_paper():
    rng = np.random.default_rng([3, 0])
    X1, y1 = draw(rng, FIRST, 100)
    X2, y2 = draw(rng, SECOND, 100)
    halves = draw(rng, FIRST, 50), draw(rng, SECOND, 50)
    X, y = np.vstack([X1, X2]), np.concatenate([y1, y2])
    reference = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    expected = np.mean([reference.score(*half) for half in halves])
    cell = {
        "protocol": "two batches", "machine": "batch", "C": "1", "kernel": "linear",
        "change": True, "repetitions": 1, "seed": 3,
    }  # fmt: skip
    assert run(cell)[0]["values"]["accuracy"] == [pytest.approx(expected)]
    assert run({**cell, "C": "100", "share": 0.01}) == run(cell)
    old = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X1, y1).support_
    both = SVC(kernel="linear", C=1.0, tol=1e-8)
    weight = np.concatenate([np.full(len(old), 100 / len(old)), np.ones(100)])
    both.fit(np.vstack([X1[old], X2]), np.concatenate([y1[old], y2]), sample_weight=weight)
    found = run({**cell, "machine": "SV-L"})[0]["values"]["accuracy"]
    assert found == [pytest.approx(np.mean([both.score(*half) for half in halves]))]


@pytest.mark.parametrize("order", ["random", "sorted"])
def test_folds_of_batch_are_a_plain_cross_validation(order):
    cell = {
        "protocol": "folds", "data": "sonar", "machine": "batch", "C": 1.0, "gamma": 0.01,
        "order": order, "folds": 10, "seed": 0,
    }  # fmt: skip
    X, y = data.table("sonar")
    parts = divide(len(y), 10, 0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(y)))
    expected = []
    for part in parts:
        kept = np.setdiff1d(np.arange(len(y)), part)
        reference = SVC(C=1.0, gamma=0.01, tol=1e-8).fit(X[kept], y[kept])
        expected.append(100.0 * reference.score(X[part], y[part]))
    assert run(cell)[0]["values"]["accuracy"] == pytest.approx(expected)


def test_removal_tests_on_the_support_vectors_that_were_removed():
    cell = {
        "protocol": "removal", "data": "sonar", "machine": "batch", "C": 1.0, "gamma": 0.01,
        "remove": "support vectors", "test": "removed", "folds": 2, "seed": 0,
    }  # fmt: skip
    X, y = data.table("sonar")
    pool = SVC(C=1.0, gamma=0.01, tol=1e-10).fit(X, y).support_
    expected = []
    for part in divide(len(pool), 10, 0)[:2]:
        kept = np.delete(pool, part)
        reference = SVC(C=1.0, gamma=0.01, tol=1e-8).fit(X[kept], y[kept])
        expected.append(100.0 * reference.score(X[pool[part]], y[pool[part]]))
    assert run(cell)[0]["values"]["accuracy"] == pytest.approx(expected)


def test_full_memory_is_a_machine_on_all_batches_so_far():
    cell = {
        "protocol": "relevance", "data": data.GENERATED_TEXT, "scenario": "B", "window": "full",
        "repetitions": 1, "seed": 0, "size": 520,
    }  # fmt: skip
    X, labels, categories = data.collection(data.GENERATED_TEXT, 0)
    stream = relevance_change(
        X, labels, "B", relevant=categories[:2], n_batches=5, batch_size=520, random_state=0
    )
    errors = []
    for start in range(520, 2600, 520):
        reference = SVC(kernel="linear", tol=1e-8).fit(stream.X[:start], stream.y[:start])
        batch = slice(start, start + 520)
        errors.append(100.0 * np.mean(reference.predict(stream.X[batch]) != stream.y[batch]))
    assert run(cell)[0]["values"]["error"] == [pytest.approx(np.mean(errors))]


def test_machines_that_solve_one_problem_agree():
    cell = {
        "protocol": "growth", "data": "wbc", "order": "file", "split": "thirds", "steps": 2,
        "gamma": 0.07, "C": 10.0, "seed": 0,
    }  # fmt: skip
    found = {
        machine: [o["values"]["accuracy"] for o in run({**cell, "machine": machine})]
        for machine in ("C&P", "SimpleSVM", "batch", "LIBSVM")
    }
    assert found["C&P"] == found["SimpleSVM"] == found["batch"] == found["LIBSVM"]
    sizes = [o["labels"] for o in run({**cell, "machine": "batch"})]
    assert sizes == [{}, {"n": 233}, {"n": 466}]


def test_promoters_are_split_by_their_numbers():
    cell = {
        "protocol": "growth", "data": "promoters", "order": "file", "split": "multiples",
        "steps": 1, "gamma": 0.04, "C": 5.0, "seed": 0, "machine": "batch",
    }  # fmt: skip
    assert run(cell)[1]["labels"] == {"n": 71}


def test_generated_text_has_unit_length_and_five_categories():
    X, labels, categories = data.collection(data.GENERATED_TEXT, 0)
    np.testing.assert_allclose(np.sqrt(X.multiply(X).sum(axis=1)), 1.0)
    assert set(labels) == set(categories)
    assert len(categories) == 5
