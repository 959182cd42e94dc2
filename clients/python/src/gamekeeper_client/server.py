"""What the server says of itself: whether it is up, whether it can work, what it can do. Needs no token."""

from dataclasses import replace
from typing import Any

from gamekeeper_client.call import Call, get, reading
from gamekeeper_client.shapes import Health


def openapi() -> Call[dict[str, Any]]:
    """The API's description in OpenAPI 3.1."""
    return replace(get("/api/openapi.json", reading(dict[str, Any])), needs_token=False)


def live() -> Call[Health]:
    return replace(get("/health/live", reading(Health)), needs_token=False)


def ready() -> Call[Health]:
    """Raises DatabaseAway while the database takes no writes."""
    return replace(get("/health/ready", reading(Health)), needs_token=False)
