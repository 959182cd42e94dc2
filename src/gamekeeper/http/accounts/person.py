"""All data stored about one person, as one JSON document: the content of `users export` and of its operation."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Sequence
from itertools import groupby

import msgspec
from msgspec import Struct

from gamekeeper.game.access import security_log
from gamekeeper.game.audit.history import Pause
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.change import Codec
from gamekeeper.game.core.player import Player
from gamekeeper.game.core.request import SecurityEvent
from gamekeeper.game.players import player_edits
from gamekeeper.ground import instants, rooms
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.accounts.accounts import encode_user_record
from gamekeeper.http.contract.operation import MANY, Group, needs
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts.users import User
from gamekeeper.store.core import ledger
from gamekeeper.store.core.person import PersonRows
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.players import players

PIECE = 50  # elements of a list that are written between two pauses: about 3 ms of work
Write = Callable[[bytes], object]
# MiB of the answer, which is made in memory: 40,000 changes and more; the command line has no limit
MAX_MIB = 64
_encode = msgspec.json.Encoder().encode
GROUP = Group("People", "All data that is stored about a person.", place=100)
GROUPS = (GROUP,)


class ExportTooLarge(no.Conflict):
    """The data of this person is larger than {most} MiB. Export it on the server: gamekeeper users export."""


class PersonExport(Struct, frozen=True):
    user: User
    characters: int
    changes: int


@GROUP.operation(
    "GET /api/keeper/v1/users/[lookupKey]/export",
    permissions=needs("people.export"),
    answer=account_shapes.Person,
    rows=MANY,
    gated=True,
    refusals=(ExportTooLarge,),
)
async def export_person(request: Request) -> bytes | Response:
    """Export all data of a person: account, players, tokens, logs and changes."""
    # before the wait for other long reads: an unknown account is answered at once
    user = await lookup.find_user_record(request.services.keeper.store, request.params[0])

    async def read(tx: Reading, rest: Pause) -> bytes:
        out = bytearray()

        def write(piece: bytes) -> None:
            out.extend(piece)
            if len(out) > MAX_MIB << 20:
                raise ExportTooLarge(most=MAX_MIB)

        await write_person(tx, user.id, write, rest, request.services.keeper.changes.codec)
        return bytes(out)

    content = await request.run_until_disconnect(request.read_in_pieces(read, long=True))
    if content is None:
        return b""  # nobody reads this answer: the client has disconnected
    event = SecurityEvent("person_exported", user.id, request.caller.account_id, request.find_origin())

    async def record(tx: Writing) -> None:
        security_log.record(tx, event)

    await request.services.keeper.store.write(record)
    attached = (b"content-disposition", f'attachment; filename="person-{user.id}.json"'.encode())
    return Response(content, headers=(attached,))


async def write_person(tx: Reading, key: str, write: Write, rest: Pause, codec: Codec) -> PersonExport:
    """Write all data of a person from one snapshot, piece by piece, with a pause between two pages of rows."""
    user = await lookup.find_user_record(tx, key)
    held = await players.read_records_of_user(tx, user.id)
    characters = [codec.decode_player(each.document, each.last_online) for each in held]
    write(b'{"account":' + encode_user_record(user, codes=False))
    write(b',\n"characters":')
    await _write_lines(write, rest, _read_players(tx, characters, codec))
    known = sorted({*(each.id for each in characters), *await ledger.find_deleted_of_user(tx, user.id)})
    changes = 0
    for name, group in groupby(list_registered(), lambda each: each.list):
        lists = list(group)
        write(b',\n"%b":' % name.encode())
        rows = _read_rows(tx, lists, user.id, known)
        if any(each.has_lines for each in lists):
            changes = await _write_lines(write, rest, rows)
        else:
            write(b"[%b]" % b",".join([row async for row in rows]))
    write(b"}\n")
    return PersonExport(user, len(characters), changes)


def list_registered() -> list[PersonRows]:
    """Return what the rooms export of a person, in the order of the export; the changes of the audit log are last."""
    registered: list[PersonRows] = [*rooms.collect("store", "PERSON"), *rooms.collect("game", "PERSON")]
    return sorted(registered, key=lambda each: each.place)


async def _write_lines(write: Write, rest: Pause, elements: AsyncIterable[bytes]) -> int:
    """Write a JSON list one element at a time, because it may not fit into memory; return the number of elements."""
    count = 0
    write(b"[")
    async for element in elements:
        write(b",\n" if count else b"\n")
        write(element)
        count += 1
        if count % PIECE == 0:
            await rest()
    write(b"]")
    return count


async def _read_players(tx: Reading, characters: Iterable[Player], codec: Codec) -> AsyncIterator[bytes]:
    """Yield each player of the account with all its data, in the JSON format of the audit log."""
    for player in characters:
        world = await player_edits.load_state(tx, player.id)
        yield codec.encode_side(world.make_side(player)).encode()


async def _read_rows(
    tx: Reading, lists: Iterable[PersonRows], user_id: str, player_ids: Sequence[str]
) -> AsyncIterator[bytes]:
    """Yield the rows of a list as JSON: those of the account, or of its players, deleted players included."""
    for each in lists:
        for owner_id in player_ids if each.of_players else [user_id]:
            async for fields in each.read(tx, owner_id):
                yield _encode({name: _to_json(each, name, value) for name, value in fields.items()})


def _to_json(rows: PersonRows, name: str, value: object) -> object:
    """Convert a value of a database row to JSON, a time to ISO 8601 text."""
    if name in rows.json:
        return msgspec.Raw(value if isinstance(value, (bytes, str)) else b"null")
    if isinstance(value, int) and (name == "at" or name.endswith(("_at", "_expires", "_used"))):
        return instants.format_instant(value)
    return value
