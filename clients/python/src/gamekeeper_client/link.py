"""The game link: reports of a game server. Every method needs the role game.link."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Unpack

from msgspec import UNSET, Struct, UnsetType

from gamekeeper_client.call import Payload
from gamekeeper_client.items import Bag, ItemSlot
from gamekeeper_client.operation import WriteOptions, operation
from gamekeeper_client.paging import Page, build_page_query, iterate_pages
from gamekeeper_client.players import Player
from gamekeeper_client.spells import KnownSpell
from gamekeeper_client.variables import Variable

Kind = Literal[
    "items",
    "spells",
    "variables",
    "classes",
    "maps",
    "animations",
    "npcs",
    "projectiles",
    "quests",
    "resources",
    "shops",
    "crafttables",
    "crafts",
    "events",
    "tilesets",
    "uservariables",
    "time",
]


class ItemEntry(Struct, rename="pascal"):
    id: str
    name: str
    stackable: bool
    max_stack: int | None = None
    bag_slots: int = 0
    icon: str | None = None


class NamedEntry(Struct, rename="pascal"):
    """A spell, a class or a map of the catalogue."""

    id: str
    name: str


class VariableEntry(Struct, rename="pascal"):
    id: str
    name: str
    type: Literal["Integer", "Boolean", "String", "Number"]


class GuildVariableEntry(Struct, rename="pascal"):
    """A variable that guilds can have."""

    id: str
    name: str
    type: Literal["Integer", "Boolean", "String", "Number"]
    text_id: str = ""
    folder: str = ""
    time_created: int = 0


class ServerVariableEntry(GuildVariableEntry, rename="pascal"):
    """A variable of the server. `value` is taken only if the variable was never set."""

    value: Any = None


Entry = ItemEntry | NamedEntry | VariableEntry | ServerVariableEntry | GuildVariableEntry
ENTRIES: dict[str, Any] = {
    "items": ItemEntry,
    "variables": VariableEntry,
    "servervariables": ServerVariableEntry,
    "guildvariables": GuildVariableEntry,
}


class PutPlayer(Struct, rename="pascal"):
    """Fields of a player that a game server reports. A field that is not set keeps its value."""

    name: str | UnsetType = UNSET
    in_bank: bool | UnsetType = UNSET
    user_id: str | UnsetType = UNSET
    max_vitals: list[int] | UnsetType = UNSET
    level: int | UnsetType = UNSET
    exp: int | UnsetType = UNSET
    experience_to_next_level: int | UnsetType = UNSET
    class_id: str | UnsetType = UNSET
    gender: int | UnsetType = UNSET
    vitals: list[int] | UnsetType = UNSET
    base_stats: list[int] | UnsetType = UNSET
    stat_point_allocations: list[int] | UnsetType = UNSET
    stat_points: int | UnsetType = UNSET
    equipment: list[int] | UnsetType = UNSET
    map_id: str | UnsetType = UNSET
    x: int | UnsetType = UNSET
    y: int | UnsetType = UNSET
    z: int | UnsetType = UNSET
    dir: int | UnsetType = UNSET
    sprite: str | UnsetType = UNSET
    face: str | UnsetType = UNSET
    dead: bool | UnsetType = UNSET
    last_online: str | UnsetType | None = UNSET
    creation_date: str | UnsetType = UNSET
    play_time_seconds: int | UnsetType = UNSET
    items: list[ItemSlot] | UnsetType = UNSET
    bank: list[ItemSlot] | UnsetType = UNSET
    bags: list[Bag] | UnsetType = UNSET
    spells: list[KnownSpell] | UnsetType = UNSET
    variables: list[Variable] | UnsetType = UNSET
    applied_seq: int | UnsetType = UNSET


class ItemPicture(Struct, rename="pascal"):
    """The picture of an item; `hash` is None if it has none."""

    item_id: str
    hash: str | None


class ServerState(Struct, rename="pascal"):
    server: str
    expires_at: str
    online: int


class Ack(Struct, rename="pascal"):
    """An acknowledgement of a command: applied, failed or unknown."""

    seq: int
    state: Literal["applied", "failed", "unknown"]
    reason: str | None = None


class StandingAck(Struct, rename="pascal"):
    seq: int
    state: str


class Link:
    @operation("PUT", "/api/link/v1/catalogue/{kind}")
    def put_catalogue(
        self, kind: Kind, entries: Sequence[Entry | Mapping[str, object]], **options: Unpack[WriteOptions]
    ) -> Payload[int]:
        """Add entries to the catalogue, and replace those that have the same id.

        kind: items, spells, variables, classes, maps or another kind.
        entries: the entries, as the body of the request. A mapping, with the API's names, may have further fields.
        Returns how many entries were sent.
        Raises NoSuchKind, MissingField, BadField, UnknownField, RoleMissing.
        """
        return Payload(int, field="Count", body=list(entries))

    @operation("GET", "/api/link/v1/catalogue/{kind}")
    def list_catalogue(self, kind: Kind, page: int = 0, *, page_size: int | None = None) -> Payload[Page[Entry]]:
        """List one page of the catalogue, by name.

        kind: items, spells, variables, classes, maps or another kind.
        Returns the page, with the total number of entries.
        Raises NoSuchKind, BadField, RoleMissing.
        """
        shape: type[Page[Entry]] = Page[ENTRIES.get(kind, NamedEntry)]
        return Payload(shape, query=build_page_query(page, page_size))

    iterate_catalogue = iterate_pages(list_catalogue, "Iterate over the catalogue, by name.")

    @operation("PUT", "/api/link/v1/items/{item_id}/picture")
    def put_item_picture(self, item_id: str, picture: bytes, **options: Unpack[WriteOptions]) -> Payload[ItemPicture]:
        """Publish the picture of an item of the catalogue. The same picture again changes nothing.

        item_id: id of the item.
        picture: a PNG or WebP file of at most 64 KiB and 512 x 512 pixels, without animation.
        Returns the hash of the picture that is stored.
        Raises NoSuchItem, BadField, MissingField, UnknownField, RoleMissing.
        """
        return Payload(ItemPicture, body={"Picture": b64encode(picture).decode()})

    @operation("DELETE", "/api/link/v1/items/{item_id}/picture")
    def delete_item_picture(self, item_id: str, **options: Unpack[WriteOptions]) -> Payload[ItemPicture]:
        """Remove the picture of an item. An item without a picture stays as it is.

        item_id: id of the item.
        Returns the item's id, with None as the hash.
        Raises NoSuchItem, BadField, RoleMissing.
        """
        return Payload(ItemPicture)

    @operation("PUT", "/api/link/v1/players/{player_id}")
    def put_player(self, player_id: str, fields: PutPlayer, **options: Unpack[WriteOptions]) -> Payload[Player]:
        """Create a player, or set fields of an existing player, with the values of the game server.

        player_id: id of the player.
        fields: the fields to set; they are the body of the request.
        Returns the player's record after the change.
        Raises UnappliedChanges if `fields.applied_seq` is too old, MissingField, BadField, UnknownField, ReservedName,
        NameTaken, NoSuchPlayer, NoSuchUser, NoSuchItem, NoSuchBag, NoSuchSpell, NoSuchVariable, WrongVariableType,
        ReadOnlyVariable, SlotOutOfRange, StackTooLarge, SpellAlreadyKnown, ChangesTrimmed, CursorAhead,
        PlayerOnOtherServer, RoleMissing.
        """
        return Payload(Player, body=fields)

    @operation("DELETE", "/api/link/v1/players/{player_id}")
    def delete_player_by_id(self, player_id: str, **options: Unpack[WriteOptions]) -> Payload[Player]:
        """Delete a player as a game server. Programs without the role game.link use `delete_player`.

        player_id: id of the player.
        Returns the player's record before the change.
        Raises NoSuchPlayer, PlayerOnline, BadField, RoleMissing.
        """
        return Payload(Player)

    @operation("PUT", "/api/link/v1/servers/{server}")
    def send_heartbeat(
        self, server: str, lease: int, *, applied_seq: int | None = None, **options: Unpack[WriteOptions]
    ) -> Payload[ServerState]:
        """Renew the lease of a game server. When the lease expires, its players go offline.

        server: name of the game server.
        lease: seconds from now, 1 to 3600.
        applied_seq: the game server has applied all changes of the feed up to this number.
        Returns when the lease expires, and how many players are on the server.
        Raises CursorAhead if there is no such change yet, ServerNotAllowed, BadField, RoleMissing.
        """
        receipt = {} if applied_seq is None else {"AppliedSeq": applied_seq}
        return Payload(ServerState, body={"Lease": lease} | receipt)

    @operation("POST", "/api/link/v1/servers/{server}/joined")
    def report_joined(self, server: str, players: Sequence[str], **options: Unpack[WriteOptions]) -> Payload[int]:
        """Report that players came online on a game server.

        server: name of the game server.
        players: ids of the players.
        Returns how many players are on the server after the change.
        Raises ServerNotAllowed, PlayerOnOtherServer, NoSuchServer, NoSuchPlayer, BadField, RoleMissing.
        """
        return Payload(int, field="Online", body={"Players": list(players)})

    @operation("POST", "/api/link/v1/servers/{server}/left")
    def report_left(self, server: str, players: Sequence[str], **options: Unpack[WriteOptions]) -> Payload[int]:
        """Report that players went offline on a game server.

        server: name of the game server.
        players: ids of the players.
        Returns how many players are on the server after the change.
        Raises ServerNotAllowed, NoSuchServer, NoSuchPlayer, BadField, RoleMissing.
        """
        return Payload(int, field="Online", body={"Players": list(players)})

    @operation("POST", "/api/link/v1/servers/{server}/acks")
    def acknowledge_commands(
        self, server: str, acks: Sequence[Ack], **options: Unpack[WriteOptions]
    ) -> Payload[list[StandingAck]]:
        """Acknowledge commands of the change feed, all or none. A repetition changes nothing.

        server: name of the game server.
        acks: number and outcome of each command, up to 1000.
        Returns the state that stands for each command: the first one that was acknowledged, except `unknown`.
        Raises NotTold, ServerNotAllowed, BadField, MissingField, RoleMissing.
        """
        return Payload(list[StandingAck], field="Acks", body={"Acks": list(acks)})

    @operation("DELETE", "/api/link/v1/servers/{server}")
    def report_shutdown(self, server: str, **options: Unpack[WriteOptions]) -> Payload[int]:
        """Report that a game server shuts down: its lease ends, and all its players go offline.

        server: name of the game server.
        Returns how many players are on the server after the change: 0.
        Raises ServerNotAllowed, NoSuchServer, BadField, RoleMissing.
        """
        return Payload(int, field="Online")
