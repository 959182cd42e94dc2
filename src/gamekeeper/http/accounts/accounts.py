import re
from collections.abc import Iterable, Sequence
from functools import partial

from gamekeeper.game.access.refusals import LastManager
from gamekeeper.game.accounts import accounts, erasures, registration
from gamekeeper.game.audit import deciders
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import NoSuchPlayer
from gamekeeper.game.lists.list_index import USERS
from gamekeeper.game.lists.search import ACCOUNTS
from gamekeeper.ground.settings import MOST_PAGE_ROWS
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.audit import codec
from gamekeeper.http.contract import samples, shapes
from gamekeeper.http.contract.operation import (
    MANAGE,
    OF_ONE_OWNER,
    QUERY,
    READ,
    REVALIDATED,
    UNLESS_RESET_CODES_SHOWN,
    WRITE,
    Group,
    needs,
)
from gamekeeper.http.players import player_shapes, players
from gamekeeper.http.server import paging
from gamekeeper.http.server.paging import encode_rows
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players as stored_players
from gamekeeper.store.players.players import StoredPlayer

_INDEX = re.compile(r"[0-9]{1,9}", re.ASCII)

GROUP = Group("Users", "Accounts and their players.")


@GROUP.operation(
    "GET /api/v1/users",
    name="list_users",
    number=20,
    permissions=QUERY,
    access=READ,
    cache=UNLESS_RESET_CODES_SHOWN,
    query=account_shapes.UsersQuery,
    answer=shapes.Paged[account_shapes.UserRecord[account_shapes.Power]],
    rows=MOST_PAGE_ROWS,
    refusals=(no.SearchNotReady, no.TooManyLongReads),
    example_answer=shapes.Paged(25, 0, 5, 1, [samples.USER_RECORD]),
)
async def list_users(request: Request, query: account_shapes.UsersQuery) -> bytes:
    """List accounts, sorted by name or email, in pages; with `search`, only matching ones."""
    return await paging.encode_page(request, query, ACCOUNTS, partial(_encode_records, request))


@GROUP.operation(
    "POST /api/v1/users",
    name="list_users_legacy",
    number=31,
    permissions=QUERY,
    access=READ,
    body=shapes.LegacyPage,
    answer=shapes.Legacy[account_shapes.UserRecord[account_shapes.Power]],
    rows=MOST_PAGE_ROWS,
    refusals=(),
    example_body=shapes.LegacyPage(),
    example_answer=shapes.Legacy(25, 0, 1, [samples.USER_RECORD]),
    successor="/api/v1/users",
)
async def list_users_legacy(request: Request, body: shapes.LegacyPage) -> bytes:
    """List accounts by name, in the legacy format."""
    page = paging.read_legacy(request, body)
    total, found = await request.services.keeper.lists.load_page(USERS, page.offset, page.limit)
    return shapes.encode_legacy(total, page.number, _encode_records(request, found))


@GROUP.operation(
    "GET /api/v1/users/[lookupKey]",
    name="get_user",
    number=21,
    permissions=QUERY,
    access=READ,
    cache=UNLESS_RESET_CODES_SHOWN,
    answer=account_shapes.UserRecord[account_shapes.Power],
    refusals=(),
    example_answer=samples.USER_RECORD,
)
async def get_user(request: Request) -> bytes:
    """Get an account by name or id."""
    user = await lookup.find_user_record(request.services.keeper.store, request.params[0])
    return _encode_records(request, [user])[0]


@GROUP.operation(
    "POST /api/v1/users/register",
    name="register_user",
    number=22,
    permissions=QUERY,
    access=WRITE,
    body=account_shapes.Register,
    answer=account_shapes.Registered,
    refusals=(no.ReservedName, no.UsernameTaken, no.EmailTaken, no.TooManyRegistrations),
    example_body=account_shapes.Register("Newcomer", samples.HASH, "newcomer@example.org"),
    example_answer=account_shapes.Registered("Newcomer", "newcomer@example.org"),
)
async def register(request: Request, body: account_shapes.Register) -> Response:
    """Register an account, without any permissions."""
    name = accounts.require_name(body.username, "username", request.services.keeper.settings)
    email = accounts.require_email(body.email, "email")
    password = await request.services.keeper.passwords.hash_password(body.password)
    caller, settings = request.caller.account_id, request.services.keeper.settings
    decide = partial(registration.register, caller=caller, settings=settings, name=name, email=email, password=password)
    return await request.change(decide, lambda user: shapes.encode(account_shapes.Registered(user.name, user.email)))


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/name",
    name="rename_user",
    permissions=MANAGE,
    access=WRITE,
    body=player_shapes.Rename,
    answer=account_shapes.UserRecord[account_shapes.ChangedPower],
    refusals=(no.ReservedName, no.UsernameTaken),
    example_body=player_shapes.Rename("Aldwynne"),
    example_answer=samples.CHANGED_USER_RECORD,
)
async def rename(request: Request, body: player_shapes.Rename) -> Response:
    """Rename an account."""
    name = accounts.require_name(body.name, "name", request.services.keeper.settings)
    answer = await request.change(
        partial(accounts.rename, key=request.params[0], name=name), codec.encode_changed_user_record
    )
    request.services.callers.clear_cache()  # the cached callers still have the account's old name
    return answer


@GROUP.operation(
    "DELETE /api/v1/users/[lookupKey]",
    name="delete_user",
    permissions=needs("users.query", "people.erase"),
    access=WRITE,
    answer=account_shapes.UserRecord[account_shapes.ChangedPower],
    refusals=(no.PlayerOnline, no.Outranked, no.OwnAccount, LastManager),
    example_answer=samples.CHANGED_USER_RECORD,
)
async def delete(request: Request) -> Response:
    """Delete an account and its players, and remove the person's data from the audit log."""
    decide = partial(
        erasures.erase,
        key=request.params[0],
        codec=request.services.keeper.changes.codec,
        actor=request.caller.actor,
    )
    answer = await request.change(decide, lambda erased: codec.encode_changed_user_record(erased.user))
    request.services.callers.clear_cache()
    return answer


@GROUP.operation(
    "GET /api/v1/users/[lookupKey]/players",
    name="list_user_players",
    number=27,
    permissions=QUERY,
    access=READ,
    cache=REVALIDATED,
    answer=list[player_shapes.PlayerRecord],
    rows=OF_ONE_OWNER,
    refusals=(no.TooManyLongReads,),
    example_answer=[samples.RECORD],
)
async def list_players(request: Request) -> bytes:
    """List all players of an account, oldest first."""
    return await encode_rows(
        request,
        await _load_players(request),
        lambda some: shapes.encode_array(players.encode_records(some)),
    )


@GROUP.operation(
    "GET /api/v1/users/[lookupKey1]/players/[lookupKey2]",
    name="get_user_player",
    number=28,
    permissions=QUERY,
    access=READ,
    cache=REVALIDATED,
    answer=player_shapes.PlayerRecord,
    refusals=(),
    example_answer=samples.RECORD,
)
async def get_player(request: Request) -> bytes:
    """Get a player of an account by name, id or position in the account's list."""
    return players.encode_record(_pick_player(await _load_players(request), request.params[1]))


def can_see_reset_codes(request: Request) -> bool:
    """Reset codes are shown to callers who can set passwords anyway: with users.manage and a token that can write."""
    return "users.manage" in request.caller.permissions and not request.caller.read_only


def _encode_records(request: Request, found: Iterable[User]) -> list[bytes]:
    codes, rules = can_see_reset_codes(request), request.services.keeper.changes.rules
    return [
        codec.encode_user_record(user, codes=codes and not (rules and _is_other_decider(request, user)))
        for user in found
    ]


def _is_other_decider(request: Request, user: User) -> bool:
    """Tell whether an account decides on approvals and is not the caller, who could sign in there with its code."""
    is_own = request.caller.account_id == user.id and request.caller.key is None  # others know the text of a key
    return not is_own and deciders.is_decider(user)


async def _load_players(request: Request) -> list[StoredPlayer]:
    async def look(tx: Reading) -> list[StoredPlayer]:
        return await stored_players.read_records_of_user(tx, (await lookup.find_user(tx, request.params[0])).id)

    return await request.services.keeper.store.read(look)


def _pick_player(records: Sequence[StoredPlayer], text: str) -> StoredPlayer:
    """Find one of an account's players by id, exact name, name in any letter case, or position in `records`."""
    by, key = lookup.parse_key(text)
    players = [codec.decode_player(record.document, record.last_online) for record in records]
    names = [player.id if by == "id" else player.name for player in players]
    if key in names:
        return records[names.index(key)]
    folds = [lookup.fold(name) for name in names]
    if by == "name" and lookup.fold(key) in folds:
        return records[folds.index(lookup.fold(key))]
    if _INDEX.fullmatch(text) and int(text) < len(records):
        return records[int(text)]
    raise NoSuchPlayer(by=by, key=key)
