"""Entity tags (RFC 9110), with which clients check whether a cached response is still valid."""

import re
from binascii import hexlify
from hashlib import sha256

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
