"""The head of every answer."""

from gamekeeper.http.cors import Cors
from gamekeeper.http.errors import Headers
from gamekeeper.http.request import Request
from gamekeeper.http.response import Answer
from gamekeeper.settings import Settings

CLOSE = (b"connection", b"close")
BARE = {204, 304}  # they have no body, and say nothing of one
SAFE: Headers = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
ONLY_TLS: Headers = [(b"strict-transport-security", b"max-age=31536000")]


class Heads:
    """What is the same in all of them is put together once."""

    def __init__(self, settings: Settings, cors: Cors) -> None:
        self._cors = cors if cors.origins else None
        safe = SAFE + (ONLY_TLS if settings.tls_cert else [])
        vary = [(b"vary", b"origin")] if cors.origins else []
        both = b"authorization, origin" if cors.origins else b"authorization"
        self._unkept: Headers = [*safe, (b"cache-control", b"no-store"), *vary]
        self._kept: Headers = [*safe, (b"cache-control", b"private, no-cache"), (b"vary", both)]

    def of(self, request: Request, answer: Answer) -> Headers:
        found: Headers = [
            (b"x-request-id", request.id.encode()),
            (b"content-security-policy", answer.policy),
            *answer.headers,
        ]
        if answer.tag:
            found += self._kept
            found.append((b"etag", answer.tag))
        else:
            found += self._unkept
        if answer.status not in BARE:
            found.append((b"content-type", answer.content_type))
            if answer.stream is None:
                found.append((b"content-length", b"%d" % len(answer.content)))
        if self._cors:
            found += self._cors.granted(request)
        if request.headers.get(b"connection", b"").lower() == b"close" and CLOSE not in found:
            found.append(CLOSE)
        return found
