"""What docs/architecture.md says of the layout is true."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE, LIBRARY = ROOT / "src" / "core", ROOT / "src" / "supple"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def section(title):
    """Return the text below a heading that begins with `title`."""
    return re.split(r"^## ", PAGE.split(f"\n## {title}", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def named(title):
    """Return the names in the first column of the tables below a heading."""
    return set(re.findall(r"^\| `([\w/]+?)/?` \|", section(title), flags=re.MULTILINE))


def folders(place):
    return {each.name for each in place.iterdir() if each.is_dir() and each.name != "__pycache__"}


@pytest.mark.parametrize(
    ("place", "endings", "limit"),
    [(CORE, {".cpp", ".hpp", ".inc"}, 450), (LIBRARY, {".py", ".pyi"}, 400)],
    ids=["core", "library"],
)
def test_files_are_short(place, endings, limit):
    lines = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in place.rglob("*")
        if path.suffix in endings
    }
    assert {name: n for name, n in lines.items() if n > limit} == {}


def test_folders_of_the_core():
    assert named("The core") == folders(CORE)


def test_modules_of_the_library():
    files = {path.stem for path in LIBRARY.glob("*.py")} - {"__init__"}
    packages = {name for name in folders(LIBRARY) if (LIBRARY / name / "__init__.py").is_file()}
    assert named("The library") == files | packages


def test_folders_of_the_tests():
    for name in named("Tests"):
        assert (ROOT / name).is_dir(), name
    mirrored = folders(ROOT / "tests" / "unit")
    assert mirrored <= folders(LIBRARY)


def test_import_rules():
    """The line of arrows is the contract of import-linter."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    line = re.search(r"^cli ->.*$", PAGE, flags=re.MULTILINE)[0]
    said = [frozenset(layer.split(" | ")) for layer in line.split(" -> ")]
    kept = [frozenset(re.findall(r"supple\.(\w+)", layer)) for layer in layers]
    assert said == kept


def test_places_to_touch_exist():
    rows = section("Places to touch")
    for name in re.findall(r"`((?:tests|docs)/[\w/.]+)`", rows):
        assert (ROOT / name).exists(), name
    for name in re.findall(r"`((?:estimators|memory|problems|kernels)[\w/.]*)`", rows):
        found = [place for place in (LIBRARY, CORE) if list(place.glob(f"{name.rstrip('/')}*"))]
        assert found, name
