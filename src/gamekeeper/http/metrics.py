"""The /metrics page for Prometheus."""

import hmac

from gamekeeper.game.refusals import Denied
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

WRONG = "Unknown: send the server's setting metrics_token as the bearer token"
TEXT = b"text/plain; version=0.0.4; charset=utf-8"


async def show_metrics(request: Request) -> Response:
    """Show the metrics. The setting `metrics_token` enables this page, and is its bearer token."""
    token = request.services.keeper.settings.metrics_token
    authorization = request.headers.get(b"authorization", b"").strip()
    scheme, _, sent = authorization.partition(b" ")
    if scheme.lower() != b"bearer" or not hmac.compare_digest(sent.strip(), token.encode()):
        raise Denied(WRONG if authorization else "")
    return Response((await request.services.metrics.render()).encode(), content_type=TEXT)
