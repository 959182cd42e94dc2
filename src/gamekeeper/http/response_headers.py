"""The headers of every response."""

from gamekeeper.http.cors import Cors
from gamekeeper.http.errors import Headers
from gamekeeper.http.request import Request
from gamekeeper.http.response import PRIVATE, Response
from gamekeeper.settings import Settings

CLOSE = (b"connection", b"close")
PUBLIC_ROOT = b"/api/public/"
ANY_ORIGIN = (b"access-control-allow-origin", b"*")  # of answers without a token, which any web page may read
NO_BODY = {204, 304}  # HTTP statuses whose responses have no body, Content-Type or Content-Length
SECURITY_HEADERS: Headers = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
HSTS_HEADERS: Headers = [(b"strict-transport-security", b"max-age=31536000")]


class ResponseHeaders:
    """Makes the headers of responses. The constant ones are prepared once."""

    def __init__(self, settings: Settings, cors: Cors) -> None:
        self._cors = cors if cors.origins else None
        safe = SECURITY_HEADERS + (HSTS_HEADERS if settings.tls_cert else [])
        vary = [(b"vary", b"origin")] if cors.origins else []
        both = b"authorization, origin" if cors.origins else b"authorization"
        self._shared: Headers = [*safe, *vary]
        codings = b"accept-encoding, origin" if cors.origins else b"accept-encoding"
        self._encoded: Headers = [*safe, (b"vary", codings)]
        self._not_cacheable: Headers = [*safe, (b"cache-control", b"no-store"), *vary]
        self._cacheable: Headers = [*safe, (b"cache-control", PRIVATE), (b"vary", both)]

    def make(self, request: Request, answer: Response) -> Headers:
        tag = answer.tag
        found: Headers = [
            (b"x-request-id", request.id.encode()),
            (b"content-security-policy", answer.policy),
            *answer.headers,
            *self._make_cache_headers(answer),
        ]
        if tag:
            found.append((b"etag", tag))
        if answer.status not in NO_BODY:
            found.append((b"content-type", answer.content_type))
            if answer.stream is None:
                found.append((b"content-length", b"%d" % len(answer.content)))
        if request.raw_path.startswith(PUBLIC_ROOT):
            found.append(ANY_ORIGIN)
        elif self._cors:
            found += self._cors.make_headers(request)
        if b"connection" in request.headers:
            _add_close_header(request, found)
        return found

    def _make_cache_headers(self, answer: Response) -> Headers:
        if answer.coding is not None:
            coding = [(b"content-encoding", answer.coding)] if answer.coding and answer.content else []
            return [*self._encoded, (b"cache-control", answer.cache_control), *coding]
        if answer.cache_control:
            return [*self._shared, (b"cache-control", answer.cache_control)]
        return self._cacheable if answer.tag else self._not_cacheable


def _add_close_header(request: Request, found: Headers) -> None:
    """Repeat the client's `Connection: close`."""
    if request.headers[b"connection"].lower() == b"close" and CLOSE not in found:
        found.append(CLOSE)
