"""The interface of changes: values that describe one effect and its entry in the audit log; and of the codec.

The codec converts between the rules' values and stored JSON: player documents and audit log entries. A `Step` is what
the transaction of a change does besides the change: for bulk jobs, and for changes of the past.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeGuard, TypeVar

from msgspec import Struct

from gamekeeper.game.core import lookup
from gamekeeper.game.core.values import Value
from gamekeeper.game.players.inventory import SlotAddress, Stack
from gamekeeper.game.players.players import Player
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players.player_texts import TextRow
from gamekeeper.store.world.guilds import GuildMember
from gamekeeper.store.world.imports import Leftover

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
    """Encodes and decodes stored values. The only implementation is `http/audit/codec.py`; `app.py` passes it in."""

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


@dataclass(frozen=True, slots=True)
class Unlogged:
    """An effect that is not recorded in the audit log, such as presence and tokens."""

    effect: Callable[[Writing], Coroutine[Any, Any, None]]


class Change(Protocol):
    """A value that describes one effect and its entry in the audit log. `changes.py` carries it out."""

    @property
    def kind(self) -> str:
        """The kind of the change in the audit log."""
        ...

    def whose(self) -> SubjectIds:
        """Return the player and the account that the change is about."""
        ...

    def sides(self) -> tuple[ChangeSide | None, ChangeSide | None]:
        """Return the state before and after the change."""
        ...

    def carry_out(self, tx: Writing, _: Codec, /) -> None:
        """Write the effect to the tables."""
        ...


class Command(Change, Protocol):
    """A change that game servers must carry out: it has deliveries."""

    @property
    def servers(self) -> Sequence[str]: ...

    @property
    def life_ms(self) -> int | None:
        """Time until the command expires, in ms; None: never."""
        ...


C = TypeVar("C", bound=Command)
_COMMANDS: set[type] = set()


def command(kind: type[C]) -> type[C]:
    """Register a class of changes as commands to the game."""
    _COMMANDS.add(kind)
    return kind


def is_command(change: Change) -> TypeGuard[Command]:
    return type(change) in _COMMANDS


REQUEST_PREFIX = "bulk-"  # of the request id that all changes of a bulk job have


class Step(NamedTuple):
    begin: Callable[[Writing], Coroutine[Any, Any, None]]  # locks the job; raises if the change must not be made
    # stores the result: the numbers of the changes, or the id of the approval for which they wait
    record: Callable[[Writing, Sequence[int], str | None], None]
    is_approved: bool  # a second person approved the whole job, so its changes are not held again


def find_job_id(request_id: str) -> str | None:
    """Return the id of the bulk job that a change belongs to, by the change's request id. None: it is of no job."""
    return lookup.parse_guid(request_id.removeprefix(REQUEST_PREFIX)) if request_id.startswith(REQUEST_PREFIX) else None
