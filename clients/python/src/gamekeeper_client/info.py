"""The server itself: versions, limits, health, and the description of its API."""

from typing import Any

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.config import Config
from gamekeeper_client.operation import operation


class Info(Struct):
    name: str
    port: int


class ServerStats(Struct, rename="camel"):
    uptime: int
    cps: int
    connected_clients: int
    online_count: int


class Health(Struct, rename="pascal"):
    status: str


class ServerInfo:
    @operation("GET", "/api/info", needs_token=False)
    def list_versions(self) -> Payload[list[str]]:
        """List the versions of the API. Needs no token.

        Returns the versions.
        """
        return Payload(list[str], field="versions")

    @operation("GET", "/api/v1/info")
    def get_info(self) -> Payload[Info]:
        """Get the name of the game and the port of its server.

        Returns the name and the port.
        """
        return Payload(Info)

    @operation("GET", "/api/v1/info/authorized")
    def is_authorized(self) -> Payload[bool]:
        """Check that the token is valid.

        Returns True.
        Raises Denied if it is not.
        """
        return Payload(bool, field="authorized")

    @operation("GET", "/api/v1/info/stats")
    def get_server_stats(self) -> Payload[ServerStats]:
        """Get the uptime of the server, and how many players are online.

        Returns the figures.
        """
        return Payload(ServerStats)

    @operation("GET", "/api/v1/info/metrics")
    def get_server_metrics(self) -> Payload[dict[str, Any]]:
        """Get figures about the server, in the shape of the Intersect engine. Those that are not known are zero.

        Returns `uptime`, `datetime` and `metrics`.
        """
        return Payload(dict[str, Any])

    @operation("GET", "/api/v1/info/config")
    def get_config(self) -> Payload[Config]:
        """Get the limits of the game, such as the highest level and the slots of an inventory.

        Returns the limits.
        """
        return Payload(Config)

    @operation("GET", "/api/v1/info/config/stats")
    def list_stat_names(self) -> Payload[list[str]]:
        """List the names of the five stats, in the order used by all lists of stats in a player's record.

        Returns the names.
        """
        return Payload(list[str])

    @operation("GET", "/api/openapi.json", needs_token=False)
    def get_openapi(self) -> Payload[dict[str, Any]]:
        """Get the description of the API in OpenAPI 3.1. Needs no token.

        Returns the document.
        """
        return Payload(dict[str, Any])

    @operation("GET", "/health/live", needs_token=False)
    def get_liveness(self) -> Payload[Health]:
        """Check that the server answers. Needs no token.

        Returns the status.
        """
        return Payload(Health)

    @operation("GET", "/health/ready", needs_token=False)
    def get_readiness(self) -> Payload[Health]:
        """Check that the server can read and write its database. Needs no token.

        Returns the status.
        Raises DatabaseAway if it cannot.
        """
        return Payload(Health)
