"""The interface of the codec between the rules' values and stored JSON: player documents and audit log entries."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from msgspec import Struct

from gamekeeper.game.inventory import SlotAddress, Stack
from gamekeeper.game.players import Player
from gamekeeper.game.values import Value
from gamekeeper.store.guilds import GuildMember
from gamekeeper.store.leftovers import Leftover
from gamekeeper.store.player_texts import TextRow

# the ids of a player and an account (user) that a change or an answer is about
SubjectIds = tuple[str | None, str | None]


class GuildState(NamedTuple):
    """A guild on one side of a change, with the members who differ."""

    id: str
    name: str
    founded_at: int
    bank_slots: int
    instance_id: str | None
    members: Sequence[GuildMember]


class Attachments(NamedTuple):
    """What is deleted with a player and not in its record: text and decimal variables, guild, and leftovers."""

    texts: Sequence[TextRow] = ()
    membership: GuildMember | None = None
    leftovers: Sequence[Leftover] = ()


class ChangeSide(Struct, frozen=True):
    """One side of a change in the audit log, before or after: only the values that differ."""

    player: Mapping[str, object] = {}  # attribute of Player → value
    slots: Mapping[SlotAddress, Stack | None] = {}
    bags: Mapping[str, int] = {}  # id of a bag → its number of slots
    spells: Mapping[int, str | None] = {}
    variables: Mapping[str, int | bool | None] = {}
    server_variables: Mapping[str, Value | None] = {}  # variable of the server → value
    guild_variables: Mapping[tuple[str, str], Value | None] = {}  # guild and variable → value
    # field of an account, of its ban or of its mute → value
    user: Mapping[str, object] = {}
    catalogue: Mapping[str, object] = {}
    command: Mapping[str, object] = {}  # field of a command to the game, as the API names it → value
    guild: GuildState | None = None
    attached: Attachments = Attachments()
    sums: Mapping[str, int] = {}  # item id → quantity, in a bulk load
    unknown: Mapping[str, object] = {}  # fields that a newer version wrote, as JSON


class Codec(Protocol):
    """Encodes and decodes stored values. The only implementation is `http/codec.py`; `app.py` passes it in."""

    def encode_player(self, player: Player, /) -> bytes: ...

    def decode_player(self, document: bytes, last_online: int | None, /) -> Player:
        """Decode a player's document of any version: missing fields get their defaults, unknown ones are kept."""
        ...

    def encode_side(self, trace: ChangeSide, /) -> str: ...

    def decode_side(self, side: bytes | str, /) -> ChangeSide:
        """Decode what `encode_side` wrote. A field that players and accounts share is in both `player` and `user`."""
        ...

    def list_personal_fields(self) -> Sequence[str]:
        """Return the JSON names of audit log fields with personal data, which an erasure removes."""
        ...

    def count_items(self, side: bytes | str | None, /) -> Mapping[str, int]:
        """Return the quantity of each item on one side of an audit log entry."""
        ...
