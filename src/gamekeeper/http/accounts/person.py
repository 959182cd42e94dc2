"""All data stored about one person, as one JSON document: the content of `users export` and of its operation."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from gamekeeper.game.access import security_log as game_security_log
from gamekeeper.game.access.security_log import SecurityEvent
from gamekeeper.game.accounts.refusals import ExportTooLarge
from gamekeeper.game.audit.history import Pause
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.insight.board_seasons import describe_value
from gamekeeper.game.insight.calendar import format_day
from gamekeeper.game.players import player_edits
from gamekeeper.game.players.players import Player
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit import codec
from gamekeeper.http.contract import samples
from gamekeeper.http.contract.operation import MANY, NO_STORE, READ, Group, needs
from gamekeeper.http.server import instants
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import security_log
from gamekeeper.store.accounts import notes, person
from gamekeeper.store.accounts.users import User
from gamekeeper.store.audit import approvals, bulk_jobs
from gamekeeper.store.core import ledger
from gamekeeper.store.core.ledger import LedgerRow
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.insight import activity, signals, standings
from gamekeeper.store.lists import saved_views
from gamekeeper.store.players import player_texts, players, presence
from gamekeeper.store.world import imports, logs

PAGE = 500  # rows of a person's data that are in memory at a time
PIECE = 50  # elements of a list that are written between two pauses: about 3 ms of work
Write = Callable[[bytes], object]
# MiB of the answer, which is made in memory: 40,000 changes and more; the command line has no limit
MAX_MIB = 64
_encode = msgspec.json.Encoder().encode
GROUP = Group("People", "All data that is stored about a person.")


@dataclass(frozen=True, slots=True)
class PersonExport:
    user: User
    characters: int
    changes: int


@GROUP.operation(
    "GET /api/keeper/v1/users/[lookupKey]/export",
    name="export_person",
    permissions=needs("people.export"),
    access=READ,
    cache=NO_STORE,
    answer=account_shapes.Person,
    rows=MANY,
    gated=True,
    refusals=(ExportTooLarge, no.TooManyLongReads),
    example_answer=account_shapes.Person(samples.USER_RECORD),
)
async def export(request: Request) -> bytes | Response:
    """Export all data of a person: account, players, tokens, logs and changes."""
    # before the wait for other long reads: an unknown account is answered at once
    user = await lookup.find_user_record(request.services.keeper.store, request.params[0])

    async def read(tx: Reading, rest: Pause) -> bytes:
        out = bytearray()

        def write(piece: bytes) -> None:
            out.extend(piece)
            if len(out) > MAX_MIB << 20:
                raise ExportTooLarge(most=MAX_MIB)

        await write_person(tx, user.id, write, rest)
        return bytes(out)

    content = await request.run_until_disconnect(request.read_in_pieces(read, long=True))
    if content is None:
        return b""  # nobody reads this answer: the client has disconnected
    event = SecurityEvent("person_exported", user.id, request.caller.account_id, request.find_origin())

    async def record(tx: Writing) -> None:
        game_security_log.record(tx, event)

    await request.services.keeper.store.write(record)
    attached = (b"content-disposition", f'attachment; filename="person-{user.id}.json"'.encode())
    return Response(content, headers=(attached,))


async def write_person(tx: Reading, key: str, write: Write, rest: Pause) -> PersonExport:
    """Write all data of a person from one snapshot, piece by piece, with a pause between two pages of rows."""
    user = await lookup.find_user_record(tx, key)
    held = await players.read_records_of_user(tx, user.id)
    characters = [codec.decode_player(each.document, each.last_online) for each in held]
    write(b'{"account":' + codec.encode_user_record(user, codes=False))
    write(b',\n"characters":')
    await _write_list(write, rest, _read_players(tx, characters))
    write(b',\n"texts":')
    await _write_list(write, rest, _read_texts(tx, characters))
    for name, rows in (
        ("guilds", await person.read_guilds(tx, user.id)),
        ("penalties", await person.read_penalties(tx, user.id)),
        ("roles", await person.read_roles(tx, user.id)),
        ("api_keys", await person.read_api_keys(tx, user.id)),
        ("second_factors", await person.read_second_factors(tx, user.id)),
        ("recovery_codes", await person.read_recovery_codes(tx, user.id)),
        ("identities", await person.read_identities(tx, user.id)),
        ("mails", await person.read_mails(tx, user.id)),
        ("callers", await person.read_callers(tx, user.id)),
        ("approvals", await approvals.read_of_person(tx, user.id)),
        ("bulk_jobs", await bulk_jobs.read_of_person(tx, user.id)),
        ("bulk_targets", await bulk_jobs.read_targets_of_person(tx, user.id)),
        ("notes", await notes.read_of_person(tx, user.id)),
        ("tags", await notes.read_tags_of_person(tx, user.id)),
        ("saved_views", await saved_views.read_of_person(tx, user.id)),
        ("signals", await signals.read_of_person(tx, user.id)),
        ("addresses", await security_log.read_addresses_of_person(tx, user.id)),
        ("log_addresses", await logs.read_addresses_of_person(tx, user.id)),
    ):
        write(b',\n"%b":%b' % (name.encode(), _encode([_to_object(each) for each in rows])))
    ranked = await standings.read_of_person(tx, user.id)
    shown = [_to_object(each) | describe_value(each.ranks, gain=each.gain, value=each.value) for each in ranked]
    write(b',\n"standings":%b' % _encode(shown))
    kept = await imports.read_leftovers_of_person(tx, user.id)
    write(b',\n"leftovers":%b' % _encode([_to_object(each) | {"data": _to_raw(each.data)} for each in kept]))
    write(b',\n"tokens":')
    await _write_list(write, rest, _read_tokens(tx, user.id))
    write(b',\n"security":')
    await _write_list(write, rest, _read_events(tx, user.id))
    write(b',\n"activity":')
    await _write_list(write, rest, _read_activity(tx, user.id))
    write(b',\n"trades":')
    await _write_list(write, rest, _read_trades(tx, user.id))
    known = {*(each.id for each in characters), *await ledger.find_deleted_of_user(tx, user.id)}
    write(b',\n"play_sessions":')
    await _write_list(write, rest, _read_sessions(tx, known))
    write(b',\n"play_time":')
    await _write_list(write, rest, _read_play_time(tx, known))
    write(b',\n"changes":')
    changes = await _write_list(write, rest, _read_changes(tx, user.id, known))
    write(b"}\n")
    return PersonExport(user, len(characters), changes)


async def _write_list(write: Write, rest: Pause, elements: AsyncIterable[bytes]) -> int:
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


async def _read_players(tx: Reading, characters: Iterable[Player]) -> AsyncIterator[bytes]:
    """Yield each player of the account with all its data, in the JSON format of the audit log."""
    for player in characters:
        world = await player_edits.load_state(tx, player.id)
        yield codec.encode_side(world.make_side(player)).encode()


async def _read_texts(tx: Reading, characters: Iterable[Player]) -> AsyncIterator[bytes]:
    """Yield the variables of the account's players that hold text or decimals."""
    for player in characters:
        for each in await player_texts.read_of_player(tx, player.id):
            yield _encode({"player_id": player.id} | _to_object(each) | {"value": _to_raw(each.value)})


async def _read_tokens(tx: Reading, user_id: str) -> AsyncIterator[bytes]:
    last = 0, lookup.ZERO_GUID
    while page := await person.read_tokens(tx, user_id, *last, PAGE):
        for token in page:
            yield _encode(_to_object(token))
        last = page[-1].issued_at, page[-1].id


async def _read_events(tx: Reading, user_id: str) -> AsyncIterator[bytes]:
    """Yield the events of the security log about an account, oldest first."""
    last = 0, lookup.ZERO_GUID
    while page := await security_log.read_of_person(tx, user_id, last, PAGE):
        for event in page:
            yield _encode(_to_object(event) | {"details": _to_raw(event.details)})
        last = page[-1].at, page[-1].id


async def _read_activity(tx: Reading, user_id: str) -> AsyncIterator[bytes]:
    """Yield the activity of an account in the game, oldest first; then entries that only have its name."""
    last = 0, lookup.ZERO_GUID
    while page := await logs.read_activity_of_person(tx, user_id, last, PAGE):
        for entry in page:
            yield _encode(_to_object(entry))
        last = page[-1].at, page[-1].id
    after = lookup.ZERO_GUID
    while page := await logs.read_activity_naming_person(tx, user_id, after, PAGE):
        for entry in page:
            yield _encode(_to_object(entry))
        after = page[-1].id


async def _read_trades(tx: Reading, user_id: str) -> AsyncIterator[bytes]:
    """Yield the trades of an account's players, oldest first."""
    last = 0, lookup.ZERO_GUID
    while page := await logs.read_trades_of_person(tx, user_id, last, PAGE):
        for trade in page:
            sides = {"items": _to_raw(trade.items), "target_items": _to_raw(trade.target_items)}
            yield _encode(_to_object(trade) | sides)
        last = page[-1].at, page[-1].id


async def _read_sessions(tx: Reading, player_ids: Iterable[str]) -> AsyncIterator[bytes]:
    """Yield when each of an account's players was online, oldest first, deleted players included."""
    for player_id in sorted(player_ids):
        after = 0
        while page := await presence.read_sessions_of_person(tx, player_id, after, PAGE):
            for session in page:
                yield _encode(_to_object(session))
            after = page[-1].started_at


async def _read_play_time(tx: Reading, player_ids: Iterable[str]) -> AsyncIterator[bytes]:
    """Yield the first and the last day and the play time of an account's players, deleted players included."""
    found = await activity.read_players(tx, player_ids)
    for each in sorted(found.values()):
        days = {"first_day": format_day(each.first_day), "last_day": format_day(each.last_day)}
        yield _encode(_to_object(each) | days)


async def _read_changes(tx: Reading, user_id: str, player_ids: Iterable[str]) -> AsyncIterator[bytes]:
    """Yield the audit log entries of an account, then those of each of its players, deleted players included."""
    for of, each in (
        (ledger.read_of_user, user_id),
        *((ledger.read_of_player, player_id) for player_id in sorted(player_ids)),
    ):
        seq = 0
        while page := await of(tx, each, seq, PAGE):
            for row in page:
                yield _encode(_to_change(row))
            seq = page[-1].seq


def _to_change(row: LedgerRow) -> dict[str, object]:
    return _to_object(row) | {"before": _to_raw(row.before), "after": _to_raw(row.after)}


def _to_object(row: NamedTuple) -> dict[str, object]:
    """Convert a database row to a JSON object, with times as ISO 8601 text."""
    return {
        name: instants.format_instant(value) if _is_time(name, value) else value
        for name, value in row._asdict().items()
    }


def _is_time(name: str, value: object) -> bool:
    return isinstance(value, int) and (name == "at" or name.endswith(("_at", "_expires", "_used")))


def _to_raw(stored: bytes | str | None) -> msgspec.Raw:
    return msgspec.Raw(b"null" if stored is None else stored)
