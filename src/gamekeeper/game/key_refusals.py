"""Refusals of requests about API keys, of requests that a key may not send, and of gifts beyond a limit.

Malformed        BadAddressRange
Forbidden        KeyOutOfReach  KeyBeyondQuota  KeyManagesNoKeys  AddressNotAllowed  ServerNotAllowed
                 PlayerOnOtherServer
NotFound         NoSuchKey
Conflict         KeyRevoked  ItemNotAllowed  GiftTooLarge  QuotaReached
TooManyRequests  TooManyKeyRequests
"""

from gamekeeper.game.refusals import Conflict, Forbidden, Malformed, NotFound, TooManyRequests


class BadAddressRange(Malformed):
    """'{range}' is not an address range. Write an address or a network, such as 192.0.2.7 or 192.0.2.0/24."""


class KeyOutOfReach(Forbidden):
    """The API key has the permission {permission}, which you do not have."""


class KeyBeyondQuota(Forbidden):
    """The API key '{name}' of another account can give items, but your gifts have a daily limit. Ask an admin."""


class KeyManagesNoKeys(Forbidden):
    """An API key cannot create, rotate or change API keys. Log in, or run: gamekeeper keys"""


class AddressNotAllowed(Forbidden):
    """The API key '{name}' may not be used from the address {address}. Create a key with this address in Addresses."""


class ServerNotAllowed(Forbidden):
    """The API key '{name}' may not speak for the game server '{server}', only for: {known}."""


class PlayerOnOtherServer(Forbidden):
    """Player '{player}' is online on the game server '{server}', for which the API key '{name}' may not speak."""


class NoSuchKey(NotFound):
    """There is no such API key. GET /api/keeper/v1/keys lists all."""


class KeyRevoked(Conflict):
    """The API key '{name}' was revoked. Create a new one."""


def name_item(item_id: str, name: str) -> str:
    """Name an item in a message for people and programs: by its name, if the catalogue has it, and by its id."""
    return f"{name} ({item_id})" if name else item_id


class ItemNotAllowed(Conflict):
    """The API key may not give the item '{item}'. Nothing was given."""


class GiftTooLarge(Conflict):
    """The API key may give at most {most} of an item in one request. Nothing was given."""


class QuotaReached(Conflict):
    """At most {most} of item '{item}' may be given per UTC day, and {given} were given today. Nothing was given."""

    def __init__(self, *, most: int, item: str, given: int, ends_at: int, name: str = "") -> None:
        super().__init__(most=most, item=name_item(item, name), given=given)
        self.most, self.item, self.given = most, item, given
        self.name = name  # of the item; empty: the catalogue does not have it
        self.ends_at = ends_at  # end of the day, in milliseconds since 1970


class TooManyKeyRequests(TooManyRequests):
    """The API key has sent its number of requests of this minute to this server process; wait {seconds} seconds."""
