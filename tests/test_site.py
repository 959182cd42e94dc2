"""The documents: every link inside the project leads somewhere, on disk and on the rendered pages."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import build_site

ROOT = build_site.ROOT
_HREF = re.compile(r'href="([^"]+)"')


def anchors(text: str) -> set[str]:
    return {str(each.attrGet("id")) for each in build_site.parse(text) if each.type == "heading_open"}


def broken(source: str, text: str) -> list[str]:
    """The links of a document that lead nowhere inside the project, and the pictures that are not there."""
    faults = [
        f"{source}: {picture}"
        for each in build_site.pictures(build_site.parse(text))
        if not ((ROOT / source).parent / (picture := str(each.attrGet("src")))).exists()
    ]
    for each in build_site.links(build_site.parse(text)):
        link = str(each.attrGet("href"))
        parts = urlsplit(link)
        file = (ROOT / source).parent / unquote(parts.path) if parts.path else ROOT / source
        if parts.scheme:
            continue
        if not file.exists():
            faults.append(f"{source}: {link}")
        elif parts.fragment and parts.fragment not in anchors(
            text if not parts.path else file.read_text(encoding="utf-8")
        ):
            faults.append(f"{source}: {link} has no such heading")
    return faults


@pytest.mark.parametrize("source", build_site.sources())
def test_every_link_leads_somewhere(source: str) -> None:
    assert broken(source, (ROOT / source).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        "[x](gone.md)",
        "[x](#gone)",
        "[x](README.md#gone)",
        "[x](docs/client.md#nothing-here)",
        "[x][y]\n\n[y]: gone.md",
        "![x](gone.svg)",
    ],
)
def test_a_link_that_leads_nowhere_is_noticed(text: str) -> None:
    assert len(broken("CONTRIBUTING.md", f"# Title\n\n{text}\n")) == 1


def test_every_document_is_linked_from_somewhere() -> None:
    linked = {
        (ROOT / source).parent.joinpath(urlsplit(str(each.attrGet("href"))).path).resolve()
        for source in build_site.sources()
        for each in build_site.links(build_site.parse((ROOT / source).read_text(encoding="utf-8")))
    }
    missing = [each for each in build_site.sources() if each != "README.md" and (ROOT / each).resolve() not in linked]
    assert missing == []


def broken_on_page(page: Path) -> list[str]:
    """The links of a rendered page to other pages that are not there, or to headings they do not have."""
    faults: list[str] = []
    hrefs: list[str] = _HREF.findall(page.read_text("utf-8"))
    for link in hrefs:
        parts = urlsplit(link)
        goal = (page.parent / parts.path) if parts.path else page
        if parts.scheme or goal.suffix != ".html":
            continue  # away from the site, or to a file that is not a document
        if not goal.exists() or (parts.fragment and f'id="{parts.fragment}"' not in goal.read_text("utf-8")):
            faults.append(f"{page.name}: {link}")
    return faults


def test_the_site(tmp_path: Path) -> None:
    command = [sys.executable, ROOT / "scripts" / "build_site.py", tmp_path]
    subprocess.run(command, check=True, capture_output=True)
    pages = sorted(tmp_path.rglob("*.html"))
    assert len(pages) == len(build_site.sources())
    for page in pages:
        text = page.read_text("utf-8")
        assert not re.search(r'<(script|link)\b|<img src="(?!data:)', text)  # nothing is fetched from anywhere
        assert text.count('aria-current="page"') == 1
        assert broken_on_page(page) == []
    assert (tmp_path / "docs" / "client.html").exists()


def test_a_drawing_is_part_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_site, "ROOT", tmp_path)
    (tmp_path / "drawn.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><title>a plot</title></svg>')
    (tmp_path / "README.md").write_text("# Title\n\n![A plot](drawn.svg)\n")
    page = build_site.page("README.md", ["README.md"])
    assert "<title>a plot</title></svg>" in page
    assert "<img" not in page


def test_a_broken_link_on_a_page_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<h1 id="here"></h1><a href="#here"></a><a href="#gone"></a><a href="gone.html"></a>')
    assert broken_on_page(page) == ["page.html: #gone", "page.html: gone.html"]
