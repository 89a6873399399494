"""Copies the results of full runs to the documentation, and writes its pages."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from supple.experiments._declare import Paper
from supple.experiments._pages import index, page, read
from supple.experiments.papers import PAPERS

__all__ = ["pages", "publish"]


def publish(out: Path, folder: Path) -> Iterator[str]:
    """Copy full results and pictures from `out`, write the pages, and report it.

    Parameters
    ----------
    out : Path
        The folder for results of `reproduce`. Results of quick runs stay there.
    folder : Path
        The folder of the pages; results go to its folder "results", pictures to "images".
    """
    for paper in PAPERS.values():
        for item, result in read(out, paper).items():
            if result.quick:
                yield f"{paper.name}, {item}: left out, of a quick run"
            else:
                _copy(out, folder, paper, item)
                yield f"{paper.name}, {item}: published"
    for name, text in pages(folder / "results").items():
        (folder / name).write_text(text, encoding="utf-8")
        yield f"written: {folder / name}"


def _copy(out: Path, folder: Path, paper: Paper, item: str) -> None:
    target, images = folder / "results" / paper.name, folder / "images"
    target.mkdir(parents=True, exist_ok=True)
    images.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(out / paper.name / f"{item}.json", target / f"{item}.json")
    for figure in paper.item(item).figures:
        source = out / paper.name / f"{figure.name}.png"
        shutil.copyfile(source, images / f"{paper.name}-{figure.name}.png")


def pages(results: Path) -> dict[str, str]:
    """Return the pages of the results in a folder, by file name."""
    found = {paper.name: read(results, paper) for paper in PAPERS.values()}
    texts = {f"{paper.name}.md": page(paper, found[paper.name]) for paper in PAPERS.values()}
    return {"README.md": index(PAPERS.values(), found), **texts}
