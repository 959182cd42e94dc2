"""Refusals of requests about API keys, and of requests that an API key may not send. `refusals.py` has all others.

Malformed        BadAddressRange
Forbidden        KeyOutOfReach  KeyManagesNoKeys  AddressNotAllowed  ServerNotAllowed
NotFound         NoSuchKey
Conflict         KeyRevoked
TooManyRequests  TooManyKeyRequests
"""

from gamekeeper.game.refusals import Conflict, Forbidden, Malformed, NotFound, TooManyRequests


class BadAddressRange(Malformed):
    """'{range}' is not an address range. Write an address or a network, such as 192.0.2.7 or 192.0.2.0/24."""


class KeyOutOfReach(Forbidden):
    """The API key has the permission {permission}, which you do not have."""


class KeyManagesNoKeys(Forbidden):
    """An API key cannot create, rotate or change API keys. Log in, or run: gamekeeper keys"""


class AddressNotAllowed(Forbidden):
    """The API key '{name}' may not be used from the address {address}. Create a key with this address in Addresses."""


class ServerNotAllowed(Forbidden):
    """The API key '{name}' may not speak for the game server '{server}', only for: {known}."""


class NoSuchKey(NotFound):
    """There is no such API key. GET /api/keeper/v1/keys lists all."""


class KeyRevoked(Conflict):
    """The API key '{name}' was revoked. Create a new one."""


class TooManyKeyRequests(TooManyRequests):
    """The API key has sent its number of requests of this minute to this server process; wait {seconds} seconds."""
