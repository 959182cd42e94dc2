"""Pages of the documents that are shipped with the server, rendered as HTML with links that work in the console."""

import asyncio
import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from markupsafe import Markup

from gamekeeper.console.frame import pages
from gamekeeper.console.frame.menu import FOLDERS, PageHelp, list_documents, make_name
from gamekeeper.console.frame.refusals import NoSuchPage
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

PATH = "/console/documents"
LIST_HELP = PageHelp("All documents of this version: how to run, use and program the server.")
MOST_KEPT = 128  # rendered documents: all of them
LINK = re.compile(r"(?P<file>[\w./-]+)\.md(?P<heading>#.*)?", re.ASCII)
COMMENT = re.compile(r"^<!--.*-->\n", re.MULTILINE)  # for tests of the samples, not for readers
# a folded part, as the renderer escapes it: <details markdown="1"> and <summary>…</summary>, and </details>
FOLDED = re.compile(r"<p>&lt;details markdown=&quot;1&quot;&gt;\n&lt;summary&gt;(.*?)&lt;/summary&gt;</p>")
FOLD_END = "<p>&lt;/details&gt;</p>"
OPEN_SCROLL, CLOSE_SCROLL = '<div class="scroll" tabindex="0">', "</div>"


@lru_cache(maxsize=MOST_KEPT)
def render(name: str) -> Markup:
    """Render a document as HTML. HTML in its text is shown as text, except folded parts; pictures are left out."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 - imported with the first document, so that the server starts fast

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    file = list_documents()[name].file
    folder = file.parent.name if file.parent.name in FOLDERS else ""
    tokens = parser.parse(COMMENT.sub("", file.read_text("utf-8")))
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", make_heading_id(tokens[number + 1]))
        elif token.type in {"th_open", "td_open"}:
            _align_by_class(token)
        elif token.type in {"fence", "code_block"}:
            token.attrSet("tabindex", "0")  # so that the keyboard can scroll a long line
        elif token.type == "inline":
            token.children = _adapt_links(token.children or [], folder)
    html: str = parser.renderer.render(tokens, parser.options, {})
    html = FOLDED.sub(r"<details><summary>\1</summary>", html).replace(FOLD_END, "</details>")
    return Markup(html.replace("<table>", f"{OPEN_SCROLL}<table>").replace("</table>", f"</table>{CLOSE_SCROLL}"))  # noqa: S704 - escaped by the renderer


def make_heading_id(inline: "Token") -> str:
    """Make the id of a heading as the website of the documents does, so that links lead to it here too."""
    text = "".join(each.content for each in inline.children or ())
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


def _align_by_class(token: "Token") -> None:
    """Replace the inline style of a cell: the page's policy allows none."""
    style = str(token.attrs.pop("style", ""))
    if "right" in style:
        token.attrSet("class", "figure")


def _adapt_links(tokens: "Sequence[Token]", folder: str) -> "list[Token]":
    """Lead links to other documents to their pages. Links to files that are not shipped become plain text.

    `folder`: the folder of the document, below docs.
    """
    kept: list[Token] = []
    is_dropped = False
    for token in tokens:
        if token.type == "image":
            continue
        if token.type == "link_open":
            address = _find_address(str(token.attrGet("href") or ""), folder)
            is_dropped = not address
            token.attrSet("href", address)
            if address.startswith("https:"):
                token.attrSet("rel", "noreferrer")
        if token.type not in {"link_open", "link_close"} or not is_dropped:
            kept.append(token)
        if token.type == "link_close":
            is_dropped = False
    return kept


def _find_address(link: str, folder: str) -> str:
    """Return the address of a link in a document; empty: it leads to nothing that is shipped."""
    if link.startswith(("#", "https://")):
        return link
    found = LINK.fullmatch(link)
    if found is None:
        return ""
    name = make_name(*posixpath.split(posixpath.normpath(posixpath.join(folder, found["file"]))))
    return f"{PATH}/{name}{found['heading'] or ''}" if name in list_documents() else ""


async def show_list(request: Request) -> Response:
    listed = sorted(list_documents().items(), key=lambda each: each[1].title.lower())
    return pages.render(request, "frame/documents.html", documents=listed, help=LIST_HELP.translate())


async def show(request: Request) -> Response:
    name = request.params[0]
    if name not in list_documents():
        raise NoSuchPage
    content = await asyncio.to_thread(render, name)
    return pages.render(request, "frame/document.html", name=name, document=list_documents()[name], content=content)
