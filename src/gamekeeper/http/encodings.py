"""Content that does not change while the server runs, plain and compressed with gzip, each form with its own ETag."""

import gzip
import zlib
from functools import cached_property
from typing import NamedTuple

from gamekeeper.http import etags

SUFFIX = ".gz"  # of a file that was compressed when the package was built, beside the plain one
LEVEL = 6  # higher levels take twice as long, for a hundredth less
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
        self.plain = Form(content, etags.make_etag(content))
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
        return Form(packed, etags.make_etag(packed), b"gzip") if len(packed) < len(content) else self.plain


def compress(content: bytes) -> bytes:
    return gzip.compress(content, LEVEL, mtime=0)  # without a time, each build gives the same bytes


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
