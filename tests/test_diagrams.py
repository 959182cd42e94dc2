"""docs/diagrams: each SVG file was rendered from its present source, is accessible, and loads nothing."""

import hashlib
import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
SOURCES = sorted((DOCS / "diagrams").glob("*.mmd"))
IMAGE = re.compile(r"!\[[^]]+\]\((?:docs/|\.\./)?diagrams/([\w-]+)\.svg\)")
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_every_diagram_was_rendered_from_its_present_source() -> None:
    rendered = {
        file.stem: re.findall(r'data-source-sha256="(\w+)"', file.read_text("utf-8"))
        for file in (DOCS / "diagrams").glob("*.svg")
    }
    sources = {file.stem: [hashlib.sha256(file.read_bytes()).hexdigest()] for file in SOURCES}
    assert len(sources) >= 5
    assert rendered == sources, "run: make diagrams"


def test_diagrams_have_a_title_and_real_text_and_load_nothing() -> None:
    for source in SOURCES:
        svg = source.with_suffix(".svg").read_text("utf-8")
        title = re.findall(r"^\s*accTitle: (.+)$", source.read_text("utf-8"), re.MULTILINE)
        found = re.search(r'aria-labelledby="([\w-]+)".*?<title id="\1">([^<]+)</title>', svg, re.DOTALL)
        assert [found and found[2]] == title, source.name
        assert ("<text" in svg, "<foreignObject" in svg, "<script" in svg) == (True, False, False), source.name
        assert set(re.findall(r"https?://[^\"'\s)]+", svg)) <= NAMESPACES, source.name
        assert "@import" not in svg, source.name


def test_every_diagram_is_shown_in_a_document() -> None:
    texts = [file.read_text("utf-8") for file in (*DOCS.parent.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("*/*.md"))]
    shown = {
        name for text in texts for name in re.findall(r"!\[[^]]+\]\((?:docs/|\.\./)?diagrams/([\w-]+)\.svg\)", text)
    }
    assert shown == {source.stem for source in SOURCES}
