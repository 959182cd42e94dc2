"""Renders README and the documents as a small static site, with nothing from the internet: build_site.py FOLDER"""

import base64
import html
import os
import re
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parent.parent
FIRST = ("README.md", "docs/client.md", "docs/spec.md", "docs/decisions.md")
TITLES = {"README.md": "Gamekeeper"}
TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: #8884; --soft: #8881; }}
body {{ margin: 0; font: 1rem/1.6 system-ui, sans-serif; display: grid; grid-template-columns: 15rem minmax(0, 1fr); }}
nav {{ padding: 2rem 1rem; border-right: 1px solid var(--line); }}
nav a {{ display: block; padding: .15rem .5rem; text-decoration: none; border-radius: .3rem; }}
nav a[aria-current] {{ background: var(--soft); font-weight: 600; }}
main {{ padding: 1rem 2rem 4rem; max-width: 60rem; }}
svg, img {{ max-width: 100%; height: auto; }}
pre {{ padding: .8rem 1rem; overflow-x: auto; background: var(--soft); border-radius: .4rem; line-height: 1.4; }}
code {{ font-family: ui-monospace, monospace; font-size: .9em; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; }}
th, td {{ border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }}
@media (max-width: 50rem) {{ body {{ display: block; }} nav {{ border: 0; }} main {{ padding: 0 1rem; }} }}
</style>
</head>
<body>
<nav aria-label="Documents">
{navigation}
</nav>
<main>
{content}
</main>
</body>
</html>
"""


def sources() -> list[str]:
    """Every document, README first, as paths inside the project."""
    places = (ROOT.glob("*.md"), (ROOT / "docs").glob("*.md"), (ROOT / "examples").glob("*.md"))
    found = sorted(path.relative_to(ROOT).as_posix() for place in places for path in place)
    return [*(each for each in FIRST if each in found), *(each for each in found if each not in FIRST)]


def target(source: str) -> str:
    return "index.html" if source == "README.md" else source.removesuffix(".md").lower() + ".html"


def slug(heading: str) -> str:
    """A heading's anchor, as the usual hosts of Markdown make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def parse(text: str) -> list[Token]:
    """The document's tokens, its headings with their anchors."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            opening.attrSet("id", slug(_plain(inline)))
    return tokens


def links(tokens: Sequence[Token]) -> list[Token]:
    return [each for token in tokens for each in token.children or [] if each.type == "link_open"]


def pictures(tokens: Sequence[Token]) -> list[Token]:
    return [each for token in tokens for each in token.children or [] if each.type == "image"]


def rewritten(link: str, source: str, pages: Sequence[str]) -> str:
    """A link between documents as a link between pages; everything else stays."""
    parts = urlsplit(link)
    if parts.scheme or not parts.path:
        return link
    wanted = os.path.normpath(Path(source).parent / parts.path)
    if wanted not in pages:
        return link
    path = os.path.relpath(target(wanted), Path(target(source)).parent)
    return path + (f"#{parts.fragment}" if parts.fragment else "")


def page(source: str, pages: Sequence[str]) -> str:
    tokens = parse((ROOT / source).read_text(encoding="utf-8"))
    for each in links(tokens):
        each.attrSet("href", rewritten(str(each.attrGet("href")), source, pages))
    for each in pictures(tokens):
        _inline(each, (ROOT / source).parent / str(each.attrGet("src")))
    markdown = MarkdownIt("commonmark").enable("table")
    content = markdown.renderer.render(tokens, markdown.options, {})
    return TEMPLATE.format(title=html.escape(title(source)), navigation=_navigation(source, pages), content=content)


def title(source: str) -> str:
    """The first heading."""
    tokens = parse((ROOT / source).read_text(encoding="utf-8"))
    found = (_plain(after) for each, after in pairwise(tokens) if each.type == "heading_open")
    return TITLES.get(source) or next(found, source)


def build(folder: Path) -> list[Path]:
    pages, written = sources(), list[Path]()
    for source in pages:
        file = folder / target(source)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(source, pages), encoding="utf-8")
        written.append(file)
    return written


def _navigation(current: str, pages: Sequence[str]) -> str:
    lines: list[str] = []
    for source in pages:
        here = ' aria-current="page"' if source == current else ""
        path = os.path.relpath(target(source), Path(target(current)).parent)
        lines.append(f'<a href="{path}"{here}>{html.escape(title(source))}</a>')
    return "\n".join(lines)


def _inline(picture: Token, file: Path) -> None:
    """A picture becomes a part of the page, which then needs no other file."""
    if file.suffix == ".svg":
        picture.type, picture.content = "html_inline", file.read_text(encoding="utf-8")
    else:
        picture.attrSet("src", f"data:image/png;base64,{base64.b64encode(file.read_bytes()).decode()}")


def _plain(inline: Token) -> str:
    return "".join(each.content for each in inline.children or [])


def main() -> int:
    if len(sys.argv) != 2:  # noqa: PLR2004 - the program and its one argument
        print(__doc__)
        return 2
    written = build(Path(sys.argv[1]))
    print(f"{len(written)} pages, from {written[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
