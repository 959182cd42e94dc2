"""Files that do not change while the server runs, each plain and compressed with gzip and each form with its own ETag.

The files of the API explorer come from the package, and the two OpenAPI documents are made at the first request.
`hatch_build.py` imports this module without any dependency installed. Entity tags are those of RFC 9110.
"""

import asyncio
import re
import threading
import zlib
from binascii import hexlify
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

_MEMBER = re.compile(rb'[ \t]*+(?:(?:W/)?("[\x21\x23-\x7e\x80-\xff]*+"))?+[ \t]*+(?:,|\Z)')


def make_etag(content: bytes) -> bytes:
    """Make a strong ETag from a hash of the content: equal on every instance and after every restart."""
    return b'"%b"' % hexlify(sha256(content).digest()[:16])


def is_listed(tag: bytes, given: bytes) -> bool:
    """Check whether an If-None-Match header contains the ETag, weak or strong. A malformed header contains none."""
    return given == tag or given.strip(b" \t") == b"*" or tag in _split_list(given)


def _split_list(given: bytes) -> list[bytes]:
    found: list[bytes] = []
    at = 0
    while at < len(given):
        member = _MEMBER.match(given, at)
        if member is None:
            return []
        found.append(member[1])
        at = member.end()
    return found


SUFFIX = ".gz"  # of a file that was compressed when the package was built, beside the plain one
LEVEL = 6  # higher levels take twice as long, for a hundredth less
GZIP = 31  # argument of zlib for the format of gzip files; without a time, so each build gives the same bytes
GZIP_NAMES = (b"gzip", b"x-gzip")


class Form(NamedTuple):
    """One form of a content; `coding` is its Content-Encoding, empty for the plain one."""

    content: bytes
    tag: bytes
    coding: bytes = b""


class Encoded:
    """A content in its two forms. The compressed one is made at the first request for it."""

    def __init__(self, content: bytes, built: bytes | None = None) -> None:
        """`built`: the content as it was compressed when the package was built, if it was."""
        self.plain = Form(content, make_etag(content))
        self._built = built

    def choose(self, accepted: bytes) -> Form:
        """Return the form for an Accept-Encoding header."""
        return self.packed if accepted and accepts_gzip(accepted) else self.plain

    @cached_property
    def packed(self) -> Form:
        """The compressed form; the plain one if that is not larger."""
        content = self.plain.content
        packed = self._built
        if packed is None or packed[-8:] != _make_trailer(content):
            packed = compress(content)
        return Form(packed, make_etag(packed), b"gzip") if len(packed) < len(content) else self.plain


def compress(content: bytes) -> bytes:
    return zlib.compress(content, LEVEL, GZIP)


def accepts_gzip(header: bytes) -> bool:
    """Tell whether an Accept-Encoding header (RFC 9110) accepts gzip, by its name or by `*`."""
    weights = {
        name.strip().lower(): _read_weight(rest)
        for name, _, rest in (each.partition(b";") for each in header.split(b","))
    }
    found = next((weights[each] for each in GZIP_NAMES if each in weights), weights.get(b"*", 0.0))
    return found > 0


def _read_weight(parameter: bytes) -> float:
    name, _, text = parameter.partition(b"=")
    if not parameter.strip():
        return 1.0
    try:
        return float(text) if name.strip().lower() == b"q" else 0.0
    except ValueError:
        return 0.0


def _make_trailer(content: bytes) -> bytes:
    """Make the last 8 bytes of a gzip file, by which it is known to be of this content: checksum and length."""
    return zlib.crc32(content).to_bytes(4, "little") + (len(content) & 0xFFFFFFFF).to_bytes(4, "little")


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


FOLDER = Path(__file__).parents[1] / "docs"
FILES = {name: (FOLDER / name).read_bytes() for name in (PAGE, *MEDIA_TYPES)}
VERSION = hash_files(FILES)


def add_version(text: str) -> str:
    """Add the version to the addresses of these files in a page or script."""
    return ADDRESS.sub(rf"\g<0>?v={VERSION}", text)


def make_served(content: bytes) -> bytes:
    """Make what is served of a file of the package: with the versions in the addresses of the explorer's files."""
    return add_version(content.decode()).encode()


def encode_file(folder: Path, name: str, served: bytes) -> Encoded:
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
