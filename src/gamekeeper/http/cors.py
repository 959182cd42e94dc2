"""CORS: which web origins may call the API from a browser. Cookies are never allowed."""

import re

from gamekeeper.http.errors import Headers, MethodNotAllowed
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.settings import BadSetting, Settings, variable

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
