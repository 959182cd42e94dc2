"""The headers of every response, and CORS: which web origins may call the API from a browser.

Cookies are never allowed across origins.
"""

import re

from gamekeeper.ground.settings import BadSetting, Settings, variable
from gamekeeper.http.server.errors import Headers, MethodNotAllowed
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import PRIVATE, Response

ORIGIN = re.compile(r"(https?)://(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?")
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
NO_CONTENT = 204
EXPOSED = (
    b"access-control-expose-headers",
    b"x-request-id, etag, idempotent-replay, x-dry-run, retry-after, deprecation, link, www-authenticate",
)
PREFLIGHT: Headers = [
    (b"access-control-allow-headers", b"authorization, content-type, idempotency-key, if-none-match, x-reason"),
    (b"access-control-max-age", b"600"),
]


class Cors:
    """The web origins of the setting `cors_origins`, parsed once."""

    def __init__(self, settings: Settings) -> None:
        texts = settings.cors_origins.split(",") if settings.cors_origins.strip() else []
        self.origins = frozenset(_normalize_origin(text.strip()) for text in texts)

    def make_headers(self, request: Request) -> Headers:
        """Make the CORS headers that allow a web origin to read the response."""
        origin = request.headers.get(b"origin")
        return [(b"access-control-allow-origin", origin), EXPOSED] if origin in self.origins and origin else []

    def is_preflight(self, request: Request) -> bool:
        """Check whether the request is a CORS preflight (OPTIONS) from an allowed origin."""
        asks = request.method == "OPTIONS" and b"access-control-request-method" in request.headers
        return asks and request.headers.get(b"origin") in self.origins

    def answer_preflight(self, refusal: MethodNotAllowed) -> Response:
        """Answer a CORS preflight with the methods that the path allows, taken from the 405 answer to OPTIONS."""
        allowed = (b"access-control-allow-methods", refusal.allowed.encode())
        return Response(status=NO_CONTENT, headers=(allowed, *PREFLIGHT))


def _normalize_origin(text: str) -> bytes:
    """Normalise a web origin as browsers send it: lower case, without a default port."""
    found = ORIGIN.fullmatch(text.lower())
    if found is None:
        problem = "each must be a scheme and a host, like https://portal.example.com, with commas between them"
        raise BadSetting(f"{variable('cors_origins')} has '{text}' in it; {problem}.")
    port = found[2] or ""
    return text.lower().removesuffix(port if port == DEFAULT_PORTS[found[1]] else "").encode()


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
