"""Ids of any kind in any container, groups, and what is done about missing ones."""

import pickle
import uuid

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from supple import (
    LASVC,
    SVC,
    SVDD,
    SVR,
    BudgetSVC,
    BudgetSVDD,
    NuSVC,
    OneClassSVM,
    SimpleSVC,
    SVIncrementalSVC,
    SVIncrementalSVR,
)
from supple.errors import DuplicateIdError, InvalidInputError, UnknownIdError
from supple.store import Store

MODELS = {
    "SVC": lambda: SVC(gamma=0.5),
    "SimpleSVC": lambda: SimpleSVC(gamma=0.5),
    "NuSVC": lambda: NuSVC(nu=0.3, gamma=0.5),
    "SVR": lambda: SVR(gamma=0.5),
    "OneClassSVM": lambda: OneClassSVM(gamma=0.5),
    "SVDD": lambda: SVDD(C=0.2, gamma=0.5),
    "BudgetSVC": lambda: BudgetSVC(budget=30, gamma=0.5),
    "BudgetSVDD": lambda: BudgetSVDD(budget=30, C=0.2, gamma=0.5),
    "SVIncrementalSVC": lambda: SVIncrementalSVC(sv_weight="ruping", gamma=0.5),
    "SVIncrementalSVR": lambda: SVIncrementalSVR(sv_weight="ruping", gamma=0.5),
    "LASVC": lambda: LASVC(gamma=0.5, random_state=0),
}
KINDS = {
    "int": lambda i: i,
    "str": lambda i: f"row-{i}",
    "bytes": lambda i: b"row-%d" % i,
    "UUID": lambda i: uuid.UUID(int=i),
    "tuple": lambda i: ("shop", i),
    "date": lambda i: np.datetime64("2020-01-01", "D") + i,
}
FORMS = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "generator": lambda names: (name for name in names),
    "dict keys": lambda names: dict.fromkeys(names).keys(),
    "array": np.array,
    "object array": lambda names: np.array(names, dtype=object),
    "Index": pd.Index,
    "Series": lambda names: pd.Series(names, index=range(7, 7 + len(names))),
    "Categorical": pd.Categorical,
}
UNORDERED = ("set", "frozenset")


def state(model):
    """All a user can see of ids and the model."""
    values = model.predict(np.linspace(-1, 1, 9).reshape(3, 3)).tolist()
    return (
        model.ids_.tolist(),
        model.ids_.dtype,
        model.groups_.tolist(),
        model.n_samples_seen_,
        np.asarray(model.dual_coef_).tolist(),
        values,
    )


def refuse(model, method, *args, match, error=InvalidInputError, **more):
    before = state(model)
    with pytest.raises(error, match=match):
        getattr(model, method)(*args, **more)
    assert state(model) == before


# ---------------------------------------------------------------------- every estimator


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MODELS)
def test_kinds_are_but_names(name, kind, data):
    """A model is the same to the last bit, whatever its examples are called."""
    X, y = data
    names = [KINDS[kind](i) for i in range(40)]
    model, plain = MODELS[name](), MODELS[name]()
    model.fit(X[:25], y[:25], ids=names[:25])
    model.partial_fit(X[25:], y[25:], ids=names[25:])
    plain.fit(X[:25], y[:25]).partial_fit(X[25:], y[25:])
    if hasattr(model, "forget"):
        leaving = plain.ids_[[0, 3, -1]].tolist()
        plain.forget(leaving).reweight(plain.ids_[1:3], [0.5, 2.0])
        model.forget([names[i] for i in leaving]).reweight(model.ids_[1:3], [0.5, 2.0])
    if hasattr(model, "refine"):
        plain.refine(X, y, ids=range(40))
        model.refine(X, y, ids=names)
        assert model.sv_weight_ == {names[i]: w for i, w in plain.sv_weight_.items()}
    assert model.ids_.tolist() == [names[i] for i in plain.ids_]
    assert model.ids_.dtype == (np.int64 if kind == "int" else object)
    assert model.support_ids_.tolist() == [names[i] for i in plain.support_ids_]
    np.testing.assert_array_equal(model.dual_coef_, plain.dual_coef_)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    restored = pickle.loads(pickle.dumps(model))
    assert state(restored) == state(model)
    restored.partial_fit(X[:1], y[:1], ids=[KINDS[kind](99)])


@pytest.mark.parametrize("name", MODELS)
def test_no_trace_of_forgotten_names(name, data):
    X, y = data
    model = MODELS[name]()
    ids = [f"row-{i:03d}" for i in range(40)]
    groups = [f"customer-{i % 20:02d}" for i in range(40)]
    for part in (slice(0, 20), slice(20, 40)):
        model.partial_fit(X[part], y[part], ids=ids[part], groups=groups[part])
    if hasattr(model, "forget"):
        model.forget(groups=groups[:4], missing="ignore").forget(model.ids_[:2])
    assert 2 < len(model.ids_) < 40
    saved = pickle.dumps(model)
    for given_names, held in ((ids, model.ids_), (groups, model.groups_)):
        assert {name for name in given_names if name.encode() in saved} == set(held)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "LASVC"])
def test_a_group_goes_as_a_whole(name, data):
    X, y = data
    groups = np.array(["a", "b", "c", "d"])[np.arange(40) % 5 % 4]
    model, other = MODELS[name](), MODELS[name]()
    for m in (model, other):
        m.fit(X[:30], y[:30], groups=groups[:30])
        m.partial_fit(X[30:35], y[30:35], groups=pd.Series(groups[30:35]))
        m.partial_fit(X[35:], y[35:])  # of no group
    held = dict(zip(model.ids_.tolist(), model.groups_.tolist(), strict=True))
    assert held == {i: str(groups[i]) if i < 35 else None for i in held}
    model.forget(groups={"a", "c"})
    other.forget([i for i, group in held.items() if group in ("a", "c")])
    assert state(model) == state(other)
    assert set(model.groups_) == {"b", "d", None}
    refuse(model, "forget", groups=["b", "a"], error=UnknownIdError, match="Unknown groups: 'a'")
    model.forget(groups=["b", "a"], missing="ignore")
    assert set(model.groups_) == {"d", None}
    before = state(model)
    assert state(model.forget(groups=[])) == before
    assert state(model.forget(groups="zz", missing="ignore")) == before


def test_refine_takes_groups(data):
    X, y = data
    model = SVIncrementalSVC(gamma=0.5, C=10.0).partial_fit(X[:20], y[:20], groups=["x"] * 20)
    model.partial_fit(X[20:], y[20:], groups=["x"] * 20)
    model.refine(X, y, ids=range(40), groups=["z"] * 40)
    assert set(model.groups_) <= {"x", "z"}
    assert "z" in model.groups_


# ---------------------------------------------------------------------- containers


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["int", "str"])
def test_containers(kind, form, data):
    X, y = data
    names = [KINDS[kind](i) for i in range(40)]
    wrapped = FORMS[form]
    model, plain = SVC(gamma=0.5), SVC(gamma=0.5).fit(X, y, ids=names)
    if form in UNORDERED:
        model.fit(X, y, ids=names)
        refuse(model, "partial_fit", X[:2], y[:2], ids=wrapped(names[:2]), match="no order")
        refuse(model, "reweight", wrapped(names[:2]), [1.0, 2.0], match="no order")
        model.forget(wrapped(names[:1])).partial_fit(X[:1], y[:1], ids=wrapped(names[:1]))
        plain.forget(names[:1]).partial_fit(X[:1], y[:1], ids=names[:1])
    else:
        model.fit(X, y, ids=wrapped(names))
    model.reweight(wrapped(names[5:8]), 0.5).forget(wrapped(names[7:15]))
    plain.reweight(names[5:8], 0.5).forget(names[7:15])
    assert state(model) == state(plain)
    assert {type(i) for i in model.ids_.tolist()} == {int if kind == "int" else str}
    before = state(model)
    assert state(model.forget(wrapped([]))) == before
    assert state(model.reweight(wrapped([]), 2.0)) == before


@pytest.mark.parametrize("empty", [np.array([]), np.empty(0, dtype="U3"), {}.keys(), iter(())])
def test_nothing_to_forget(empty, data):
    X, y = data
    model = SVC(gamma="scale").fit(X, y)
    before = state(model)
    assert model.forget(empty) is model
    assert state(model.forget([], rescale=True)) == before
    assert state(model.reweight([], [])) == before
    with pytest.raises(InvalidInputError, match=r"one id per row of X, 1\. Got 0"):
        model.partial_fit(X[:1], y[:1], ids=[])


def test_one_id_alone(data):
    X, y = data
    for kind in ("str", "bytes", "UUID"):
        names = [KINDS[kind](i) for i in range(40)]
        model = SVC(gamma=0.5).fit(X, y, ids=names)
        model.forget(names[0]).reweight(names[1], 2.0)
        model.partial_fit(X[:1], y[:1], ids=names[0])
        assert set(model.ids_.tolist()) == set(names)


# ---------------------------------------------------------------------- kinds


def test_one_kind_per_model(data):
    X, y = data
    words = SVC(gamma=0.5).fit(X, y, ids=[f"{i}" for i in range(40)])
    numbers = SVC(gamma=0.5).fit(X, y)
    one = (X[:1], y[:1])
    refuse(words, "partial_fit", *one, match="'ids' must be given.* strings.* Got None")
    refuse(words, "partial_fit", *one, ids=[77], match=r"'ids' must be strings.*Got 77 \(int\)")
    refuse(words, "partial_fit", *one, ids=[b"0"], match=r"must be strings.*Got b'0' \(bytes\)")
    for method, more in (("forget", ()), ("reweight", (1.0,))):
        for missing in ("error", "ignore"):
            refuse(words, method, 0, *more, missing=missing, match="'ids' must be strings")
            refuse(numbers, method, "0", *more, missing=missing, match="'ids' must be integers")
    refuse(numbers, "partial_fit", *one, ids=["x"], match="'ids' must be integers, as those")
    match = "'ids' must be of one kind. Got integers and strings instead, such as 1 and 'b'"
    for mixed in ([1, "b"], np.array([1, "b"], dtype=object), pd.Series([1, "b"])):
        refuse(words, "forget", mixed, match=match)
        refuse(numbers, "partial_fit", X[:2], y[:2], ids=mixed, match=match)
    refuse(numbers, "partial_fit", X[:2], y[:2], groups=mixed, match="'groups' must be of one kind")


def test_an_empty_model_takes_any_kind(data):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y, ids=[f"{i}" for i in range(40)])
    model.forget(model.ids_)
    assert model.ids_.dtype == np.int64
    assert not len(model.ids_)
    model.partial_fit(X, y)
    assert model.ids_.tolist() == list(range(40))
    model.forget(model.ids_).partial_fit(X, y, ids=[KINDS["UUID"](i) for i in range(40)])
    assert model.forget(model.ids_[:20]).ids_.dtype == object


@pytest.mark.parametrize("parameter", ["ids", "groups"])
@pytest.mark.parametrize(
    "bad",
    [[1], {"a": 1}, {1}, 0.5, 2.0, np.float32(1), np.nan, pd.NaT, pd.NA, None, True, np.True_, 1j],
    ids=repr,
)
def test_no_names(parameter, bad, data):
    X, y = data
    words = SVC(gamma=0.5).fit(X, y, ids=[f"{i}" for i in range(40)])
    match = f"'{parameter}' must be integers, strings or other hashable .* Got .*instead"
    for values in ([bad, bad], ["x", bad]):
        more = {"ids": ["x", "y"]} | {parameter: values}
        refuse(words, "partial_fit", X[:2], y[:2], **more, match=match)
        refuse(words, "forget", **{parameter: values}, match=match)
    if not isinstance(bad, list | set):
        refuse(words, "forget", **{parameter: pd.Series(["x", bad], dtype=object)}, match=match)


def test_shapes(data):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y)
    frame = pd.DataFrame({0: [1, 2]})
    for bad in (frame, np.zeros((2, 2), int), np.array([["a"]]), np.array(3)):
        refuse(model, "forget", bad, match="one-dimensional.*Got shape")
    refuse(
        model, "partial_fit", X[:2], y[:2], groups=["a"], match="one group per row of X, 2. Got 1"
    )
    refuse(model, "forget", [1], groups=["a"], match="either 'ids' or 'groups'. Got both")
    refuse(model, "forget", groups=["a"], error=UnknownIdError, match="Unknown groups: 'a'")


# ---------------------------------------------------------------------- missing


def test_missing(data):
    X, y = data
    model = SVC(gamma=0.5).fit(X, y, ids=[f"{i}" for i in range(40)])
    other = SVC(gamma=0.5).fit(X, y, ids=[f"{i}" for i in range(40)])
    refuse(model, "forget", ["1", "no"], error=UnknownIdError, match="Unknown ids: 'no'")
    refuse(model, "reweight", ["1", "no"], 2.0, error=UnknownIdError, match="Unknown ids: 'no'")
    for bad in ("skip", None, True):
        refuse(model, "forget", ["1"], missing=bad, match="'missing' must be 'error' or 'ignore'")
        refuse(model, "reweight", ["1"], 2.0, missing=bad, match="'missing' must be")
    refuse(model, "forget", ["1", "1"], missing="ignore", error=DuplicateIdError, match="repeat")
    model.reweight(["no", "1", "2"], [9.0, 0.5, 2.0], missing="ignore")
    other.reweight(["1", "2"], [0.5, 2.0])
    model.forget(["3", "no", "4"], missing="ignore")
    other.forget(["3", "4"])
    assert state(model) == state(other)
    before = state(model)
    assert state(model.forget("no", missing="ignore")) == before
    assert state(model.reweight(["no"], [3.0], missing="ignore")) == before


@pytest.mark.parametrize("name", MODELS)
def test_a_failure_leaves_ids_and_groups(name, data):
    """A kernel that breaks down in the middle of an operation."""
    X, y = data

    def kernel(A, B):
        if broken:
            raise ZeroDivisionError
        return np.exp(-0.5 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    broken = False
    model = MODELS[name]().set_params(kernel=kernel)
    ids, groups = [f"{i}" for i in range(40)], [f"g{i % 3}" for i in range(40)]
    model.fit(X[:20], y[:20], ids=ids[:20], groups=groups[:20])
    before = state(model)
    broken = True
    with pytest.raises(ZeroDivisionError):
        model.partial_fit(X[20:], y[20:], ids=ids[20:], groups=groups[20:])
    with pytest.raises(ZeroDivisionError):
        model.fit(X, y)
    broken = False
    assert state(model) == before
    model.partial_fit(X[20:], y[20:], ids=ids[20:], groups=groups[20:])
    assert set(model.ids_) <= set(ids)


# ---------------------------------------------------------------------- any sequence


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_the_table_after_any_sequence(kind, data):
    """The store against a dictionary of id and (weight, group)."""
    store, held = Store(), {}
    for _ in range(data.draw(st.integers(1, 12))):
        free = [i for i in range(30) if KINDS[kind](i) not in held]
        if data.draw(st.booleans()) and free:
            new = data.draw(st.lists(st.sampled_from(free), unique=True, min_size=1))
            ids = np.fromiter(map(KINDS[kind], new), object, len(new))
            ids = ids.astype(np.int64) if kind == "int" else ids
            groups = data.draw(st.sampled_from([None, ["a"] * len(new), [*map(str, new)]]))
            store.check_new(ids)
            column = None if groups is None else np.array(groups, dtype=object)
            store.append(np.zeros(len(new)), np.array(new, dtype=float), ids, column)
            held |= zip(
                ids.tolist(), zip(new, groups or [None] * len(new), strict=True), strict=True
            )
            if data.draw(st.booleans()):  # the operation fails
                store.truncate(len(held) - len(new))
                held = dict(list(held.items())[: len(held) - len(new)])
        elif held:
            chosen = data.draw(st.lists(st.sampled_from(list(held)), unique=True, min_size=1))
            ids = np.fromiter(chosen, object, len(chosen))
            ids = ids.astype(np.int64) if kind == "int" else ids
            store.remove(-np.sort(-store.slots(ids)))
            for one in chosen:
                del held[one]
        if data.draw(st.booleans()):
            store = pickle.loads(pickle.dumps(store))
        found = zip(store.ids.tolist(), store.weight.tolist(), store.groups.tolist(), strict=True)
        seen = {i: (w, g) for i, w, g in found}
        assert seen == held
        assert len(store) == len(held)
        assert store.ids.dtype == (np.int64 if kind == "int" or not held else object)
        held = {i: held[i] for i in store.ids.tolist()}  # in the order of slots
        wanted = np.array(["a", "3"], dtype=object)
        members = store.members(wanted, ignore=True)
        assert {store.ids.item(s) for s in members} == {i for i in held if held[i][1] in ("a", "3")}


@pytest.mark.parametrize("kind", ["int", "str"])
@given(steps=st.lists(st.tuples(st.sampled_from(sorted(FORMS)), st.integers(1, 3)), max_size=6))
def test_add_and_forget_in_any_container(kind, steps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    names = [KINDS[kind](i) for i in range(60)]
    model = SVR(gamma=0.5).fit(X[:12], X[:12, 0], ids=names[:12])
    start, stop = 0, 12
    for form, number in steps:
        new = slice(stop, stop + number)
        wrapped = list if form in UNORDERED else FORMS[form]
        model.partial_fit(X[new], X[new, 0], ids=wrapped(names[new]), groups=wrapped(names[new]))
        if form == "generator":
            model.forget(groups=FORMS[form](names[12 : 12 + number]), missing="ignore")
        model.forget(FORMS[form](names[start : start + number]), missing="ignore")
        start, stop = start + number, stop + number
    rows = [names.index(i) for i in model.ids_.tolist()]
    assert set(range(max(start, 12 + 3 * len(steps)), stop)) <= set(rows) <= set(range(start, stop))
    fresh = SVR(gamma=0.5).fit(X[rows], X[rows, 0])
    np.testing.assert_allclose(model.predict(X), fresh.predict(X), rtol=0, atol=1e-7)
