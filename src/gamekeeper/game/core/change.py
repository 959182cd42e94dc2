"""The interface of changes: values that describe one effect and its entry in the audit log, and their kinds.

The codec, whose interface is here too, converts between the rules' values and stored JSON: player documents and audit
log entries. A `Step` is what the transaction of a change does besides the change: for bulk jobs, and for changes of the
past.
"""

import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Concatenate, NamedTuple, ParamSpec, Protocol

from msgspec import Struct

from gamekeeper.game.core import lookup
from gamekeeper.game.core.player import Player, SlotAddress, Stack
from gamekeeper.game.core.values import Value
from gamekeeper.store.audit.history import HistoryChange
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players.variables import TextRow
from gamekeeper.store.world.guilds import GuildMember
from gamekeeper.store.world.imports import Leftover

P = ParamSpec("P")
# the ids of a player and an account (user) that a change or an answer is about
SubjectIds = tuple[str | None, str | None]


class Actor(NamedTuple):
    """The account that asks for a change, with the permissions of the credential that it uses."""

    id: str
    name: str
    permissions: frozenset[str]  # permissions of the credential; the account may have more
    require: Callable[[frozenset[str]], None]  # raises if the credential lacks one of the given permissions
    has_gift_limits: bool = False  # gifts of the credential have a limit, such as that of an API key


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


class Unlogged(Struct, frozen=True):
    """An effect that is not recorded in the audit log, such as presence and tokens."""

    effect: Callable[[Writing], Coroutine[Any, Any, None]]


def unlogged(write: Callable[Concatenate[Writing, P], Coroutine[Any, Any, None]]) -> Callable[P, Unlogged]:
    """Decorate a function that writes: a call without the transaction returns it as an effect that is not recorded."""

    @functools.wraps(write)
    def make(*args: P.args, **kwargs: P.kwargs) -> Unlogged:
        return Unlogged(lambda tx: write(tx, *args, **kwargs))

    return make


class Change:
    """A value that describes one effect and its entry in the audit log; `writes.py` writes both. Rooms subclass it.

    A subclass is of one kind, or each of its values says of which kind it is. `Kind` declares the kinds.
    """

    __slots__ = ()
    kind: str
    held_by = ""  # permission of the approval rule that holds this change; empty: no rule holds it
    command_line = (
        ""  # `gamekeeper` command for the same change; refusals of a change without a possible approver name it
    )

    def whose(self) -> SubjectIds:
        """Return the player and the account that the change is about."""
        return None, None

    def sides(self) -> tuple[ChangeSide | None, ChangeSide | None]:
        """Return the state before and after the change."""
        raise NotImplementedError

    def carry_out(self, tx: Writing, codec: Codec, /) -> None:
        """Write the effect to the tables. A change without an effect is only an entry in the audit log."""


class Command(Change):
    """A change that game servers must carry out: it has deliveries."""

    __slots__ = ()
    servers: Sequence[str]
    life_ms: int | None  # time until the command expires, in ms; None: never


PLAYERS, ACCOUNTS, COMMANDS, WORLD, SIGNALS, GLOBAL = "players", "accounts", "commands", "world", "signals", "global"
GROUPS = (PLAYERS, ACCOUNTS, COMMANDS, WORLD, SIGNALS, GLOBAL)  # of kinds, in the order of documents and menus
LAST = 1_000  # place of new kinds in their group
_kinds: dict[str, "Kind"] = {}


class Kind(Struct, frozen=True):
    """A kind of changes, with all that the server knows of it besides its fields. It registers itself."""

    name: str
    title: str  # in English; the console translates it
    group: str
    place: int = LAST  # in its group, in documents and menus
    # permissions of the operation that makes such changes, which an undo needs too; they may depend on the change
    needs: AbstractSet[str] | Callable[[HistoryChange], AbstractSet[str]] = frozenset()
    why_not: str = ""  # why such changes cannot be undone, if no rule undoes them
    fields: AbstractSet[str] = frozenset()  # JSON fields that no other kind has, and that its rule of undo knows
    reaction: str = ""  # what a game server does with the change; empty: the change feed does not have it
    by_undo: bool = False  # an undo can make such changes
    is_sanction: bool = False
    is_note: bool = False  # its content is only for callers that may read notes

    def __post_init__(self) -> None:
        if self.name in _kinds:
            raise ValueError(f"the kind of change {self.name} is declared twice")
        _kinds[self.name] = self


def list_kinds() -> dict[str, Kind]:
    """List the declared kinds by name, in the order of documents and menus."""
    return {
        each.name: each for each in sorted(_kinds.values(), key=lambda kind: (GROUPS.index(kind.group), kind.place))
    }


REQUEST_PREFIX = "bulk-"  # of the request id that all changes of a bulk job have


class Step(NamedTuple):
    begin: Callable[[Writing], Coroutine[Any, Any, None]]  # locks the job; raises if the change must not be made
    # stores the result: the numbers of the changes, or the id of the approval for which they wait
    record: Callable[[Writing, Sequence[int], str | None], None]
    is_approved: bool  # a second person approved the whole job, so its changes are not held again


def find_job_id(request_id: str) -> str | None:
    """Return the id of the bulk job that a change belongs to, by the change's request id. None: it is of no job."""
    return lookup.parse_guid(request_id.removeprefix(REQUEST_PREFIX)) if request_id.startswith(REQUEST_PREFIX) else None
