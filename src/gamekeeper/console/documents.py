"""Pages of the documents that are shipped with the server; the help menu leads to them."""

import asyncio

from markupsafe import Markup

from gamekeeper.console import pages
from gamekeeper.console.document_files import DOCUMENTS
from gamekeeper.console.refusals import NoSuchPage
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response


async def show_list(request: Request) -> Response:
    listed = sorted(DOCUMENTS.items(), key=lambda each: each[1].title.lower())
    return pages.render(request, "documents.html", documents=listed)


async def show(request: Request) -> Response:
    name = request.params[0]
    if name not in DOCUMENTS:
        raise NoSuchPage
    content = await asyncio.to_thread(_render, name)
    return pages.render(request, "document.html", name=name, document=DOCUMENTS[name], content=content)


def _render(name: str) -> Markup:
    """Render a document. The parser is imported here, at the first document, so that the server starts fast."""
    from gamekeeper.console.document_markup import render  # noqa: PLC0415 - imported late, so that the server starts fast

    return render(name)
