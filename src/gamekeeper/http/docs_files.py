"""The files of the API explorer, from the package, and the two OpenAPI documents."""

import asyncio
import threading
from collections.abc import Callable
from importlib import resources

PAGE = "docs.html"
MEDIA_TYPES = {
    "docs.css": "text/css",
    "explorer.css": "text/css",
    "docs.js": "text/javascript",
    "explorer.js": "text/javascript",
    "run.js": "text/javascript",
    "request.js": "text/javascript",
    "schema.js": "text/javascript",
    "elements.js": "text/javascript",
    "sha256.js": "text/javascript",
}


class DocsFiles:
    """Files of the API explorer, read once at start. A name from a request never reaches the file system."""

    def __init__(self, make_document: Callable[[bool], bytes]) -> None:
        """`make_document` makes an OpenAPI document, the tolerant one if its argument is true."""
        folder = resources.files("gamekeeper.http") / "docs"
        self._make_document = make_document
        self._documents: dict[bool, bytes] = {}
        self._lock = threading.Lock()
        self.page = (folder / PAGE).read_bytes()
        self.named = {name: (folder / name).read_bytes() for name in MEDIA_TYPES}

    async def load_document(self, *, tolerant: bool) -> bytes:
        """Return an OpenAPI document. The first request makes it, in a thread: a server would start more slowly."""
        return self._documents.get(tolerant) or await asyncio.to_thread(self._make_once, tolerant)

    def _make_once(self, tolerant: bool) -> bytes:  # noqa: FBT001 - to_thread passes it by position
        with self._lock:
            if tolerant not in self._documents:
                self._documents[tolerant] = self._make_document(tolerant)
            return self._documents[tolerant]
