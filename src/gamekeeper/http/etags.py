"""Entity tags: what a caller holds against its copy of an answer, as RFC 9110 has them."""

import hashlib
import re

_MEMBER = re.compile(rb'[ \t]*+(?:(?:W/)?("[\x21\x23-\x7e\x80-\xff]*+"))?+[ \t]*+(?:,|\Z)')


def make_etag(content: bytes) -> bytes:
    """A strong tag: the same bytes have it on every instance and after every restart, and no others."""
    return b'"%b"' % hashlib.sha256(content).hexdigest()[:32].encode()


def is_listed(tag: bytes, given: bytes | None) -> bool:
    """Whether an If-None-Match names the tag, weak or strong; one that makes no sense names none."""
    if given is None:
        return False
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
