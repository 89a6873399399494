"""The stub `_core.pyi` declares names, members and numbers of arguments of the compiled core."""

import ast
from pathlib import Path

import pytest

import supple
from supple import _core

stubgen = pytest.importorskip("nanobind.stubgen")


def arguments(function):
    given = function.args
    return len(given.posonlyargs + given.args + given.kwonlyargs)


def declared(body):
    """Return names and, of functions, the numbers of arguments; of classes, their members."""
    found = {}
    for node in body:
        match node:
            case ast.ClassDef(name=name):
                found[name] = declared(node.body)
            case ast.FunctionDef(name=name):
                read = any(getattr(each, "id", "") == "property" for each in node.decorator_list)
                setter = any(getattr(each, "attr", "") == "setter" for each in node.decorator_list)
                if not setter:
                    found[name] = None if read else arguments(node)
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = None
    return {name: what for name, what in found.items() if name == "__init__" or name[0] != "_"}


def test_the_stub_and_the_compiled_module_agree():
    generator = stubgen.StubGen(_core, quiet=True)
    generator.put(_core)
    compiled = declared(ast.parse(generator.get()).body)
    stub = Path(supple.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    assert declared(ast.parse(stub).body) == compiled
