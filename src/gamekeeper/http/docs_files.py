"""The files of the API explorer, from the package, and the two OpenAPI documents.

Pages name the files with a hash of their content, so a browser keeps them without asking again. When the package is
built, a compressed file is put beside each file (hatch_build.py); a checkout has none, and compresses them when asked.
"""

import asyncio
import re
import threading
from collections.abc import Callable
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable

from gamekeeper.http.encodings import SUFFIX, Encoded

ROOT = "/api/docs/"
PAGE = "docs.html"
FOREVER = b"public, max-age=31536000, immutable"  # one year, in seconds
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
ADDRESS = re.compile(rf'"(?:{ROOT}|\./)(?:{"|".join(map(re.escape, MEDIA_TYPES))})(?=")')


def hash_files(files: dict[str, bytes]) -> str:
    """Hash all files together: scripts import each other by relative addresses, so they share one version."""
    listed = sorted((name, sha256(content).hexdigest()) for name, content in files.items())
    return sha256(repr(listed).encode()).hexdigest()[:16]


FOLDER = resources.files("gamekeeper.http") / "docs"
FILES = {name: (FOLDER / name).read_bytes() for name in (PAGE, *MEDIA_TYPES)}
VERSION = hash_files(FILES)


def add_version(text: str) -> str:
    """Add the version to the addresses of these files in a page or script."""
    return ADDRESS.sub(rf"\g<0>?v={VERSION}", text)


def make_served(content: bytes) -> bytes:
    """Make what is served of a file of the package: with the versions in the addresses of the explorer's files."""
    return add_version(content.decode()).encode()


def encode_file(folder: Traversable, name: str, served: bytes) -> Encoded:
    """Return a file of the package, with its compressed form if the package has it."""
    built = folder / f"{name}{SUFFIX}"
    return Encoded(served, built.read_bytes() if built.is_file() else None)


ENCODED = {name: encode_file(FOLDER, name, make_served(content)) for name, content in FILES.items()}


class DocsFiles:
    """Files of the API explorer, read once at start. A name from a request never reaches the file system."""

    def __init__(self, make_document: Callable[[bool], bytes]) -> None:
        """`make_document` makes an OpenAPI document, the tolerant one if its argument is true."""
        self._make_document = make_document
        self._documents: dict[bool, Encoded] = {}
        self._lock = threading.Lock()
        self.named = dict(ENCODED)
        self.page = self.named.pop(PAGE)

    async def load_document(self, *, tolerant: bool) -> Encoded:
        """Return an OpenAPI document. The first request makes it, in a thread: a server would start more slowly."""
        return self._documents.get(tolerant) or await asyncio.to_thread(self._make_once, tolerant)

    def _make_once(self, tolerant: bool) -> Encoded:  # noqa: FBT001 - to_thread passes it by position
        with self._lock:
            if tolerant not in self._documents:
                made = Encoded(self._make_document(tolerant))
                _ = made.packed  # compressed here, not on the event loop
                self._documents[tolerant] = made
            return self._documents[tolerant]
