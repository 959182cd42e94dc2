"""Accounts and their players, and invitations of staff. The console has the page that accepts an invitation."""

import re
from collections.abc import Iterable, Sequence
from functools import partial

from gamekeeper.game.access import permissions
from gamekeeper.game.access import refusals as role_no
from gamekeeper.game.access.refusals import LastManager
from gamekeeper.game.accounts import accounts, erasures
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import NoSuchPlayer
from gamekeeper.game.core.values import require_email, require_name
from gamekeeper.game.lists.list_index import USERS
from gamekeeper.game.lists.search import ACCOUNTS
from gamekeeper.ground import log
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.access import role_shapes
from gamekeeper.http.accounts import account_shapes
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import (
    MANAGE,
    OF_ONE_OWNER,
    QUERY,
    READ,
    REVALIDATED,
    STAFF,
    UNLESS_RESET_CODES_SHOWN,
    Group,
    needs,
)
from gamekeeper.http.contract.path_parameters import declare_id
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.players import documents, player_shapes, players
from gamekeeper.http.server import paging
from gamekeeper.http.server.paging import encode_rows
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.accounts import invitations as stored_invitations
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.players import players as stored_players
from gamekeeper.store.players.players import StoredPlayer

_INDEX = re.compile(r"[0-9]{1,9}", re.ASCII)

GROUP = Group("Users", "Accounts and their players.", place=80, permissions=QUERY)


@GROUP.operation(
    "GET /api/v1/users",
    number=20,
    cache=UNLESS_RESET_CODES_SHOWN,
    answer=shapes.Paged[account_shapes.UserRecord[account_shapes.Power]],
    refusals=(no.SearchNotReady, no.TooManyLongReads),
)
async def list_users(request: Request, query: account_shapes.UsersQuery) -> bytes:
    """List accounts, sorted by name or email, in pages; with `search`, only matching ones."""
    return await paging.encode_page(request, query, ACCOUNTS, partial(_encode_records, request))


@GROUP.operation(
    "POST /api/v1/users",
    number=31,
    access=READ,
    answer=shapes.Legacy[account_shapes.UserRecord[account_shapes.Power]],
    successor="/api/v1/users",
)
async def list_users_legacy(request: Request, body: shapes.LegacyPage) -> bytes:
    """List accounts by name, in the legacy format."""
    page = paging.read_legacy(request, body)
    total, found = await request.services.keeper.lists.load_page(USERS, page.offset, page.limit)
    return shapes.encode_legacy(total, page.number, _encode_records(request, found))


@GROUP.operation(
    "GET /api/v1/users/[lookupKey]",
    number=21,
    cache=UNLESS_RESET_CODES_SHOWN,
    answer=account_shapes.UserRecord[account_shapes.Power],
)
async def get_user(request: Request) -> bytes:
    """Get an account by name or id."""
    user = await lookup.find_user_record(request.services.keeper.store, request.params[0])
    return _encode_records(request, [user])[0]


@GROUP.operation(
    "POST /api/v1/users/register",
    number=22,
    answer=account_shapes.Registered,
    refusals=(no.ReservedName, no.UsernameTaken, no.EmailTaken, no.TooManyRegistrations),
)
async def register_user(request: Request, body: account_shapes.Register) -> Response:
    """Register an account, without any permissions."""
    name = require_name(body.username, "username", request.services.keeper.settings)
    email = require_email(body.email, "email")
    password = await request.services.keeper.passwords.hash_password(body.password)
    caller, settings = request.caller.account_id, request.services.keeper.settings
    decide = partial(
        accounts.register_counted, caller=caller, settings=settings, name=name, email=email, password=password
    )
    return await request.change(decide, lambda user: account_shapes.Registered(user.name, user.email))


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/name",
    permissions=MANAGE,
    answer=account_shapes.UserRecord[account_shapes.ChangedPower],
    refusals=(no.ReservedName, no.UsernameTaken),
)
async def rename_user(request: Request, body: player_shapes.Rename) -> Response:
    """Rename an account."""
    name = require_name(body.name, "name", request.services.keeper.settings)
    return await request.change(
        partial(accounts.rename, key=request.params[0], name=name), encode_changed_user_record, clear_callers=True
    )  # the cached callers still have the account's old name


@GROUP.operation(
    "DELETE /api/v1/users/[lookupKey]",
    permissions=needs("users.query", "people.erase"),
    answer=account_shapes.UserRecord[account_shapes.ChangedPower],
    refusals=(no.PlayerOnline, no.Outranked, no.OwnAccount, LastManager),
)
async def delete_user(request: Request) -> Response:
    """Delete an account and its players, and remove the person's data from the audit log."""
    decide = partial(
        erasures.erase,
        key=request.params[0],
        codec=request.services.keeper.changes.codec,
        actor=request.caller.actor,
    )
    return await request.change(decide, lambda erased: encode_changed_user_record(erased.user), clear_callers=True)


@GROUP.operation(
    "GET /api/v1/users/[lookupKey]/players",
    number=27,
    cache=REVALIDATED,
    answer=list[player_shapes.PlayerRecord],
    rows=OF_ONE_OWNER,
)
async def list_user_players(request: Request) -> bytes:
    """List all players of an account, oldest first."""
    return await encode_rows(
        request,
        await _load_players(request),
        lambda some: shapes.encode_array(players.encode_records(some)),
    )


@GROUP.operation(
    "GET /api/v1/users/[lookupKey1]/players/[lookupKey2]",
    number=28,
    cache=REVALIDATED,
    answer=player_shapes.PlayerRecord,
)
async def get_user_player(request: Request) -> bytes:
    """Get a player of an account by name, id or position in the account's list."""
    return players.encode_record(_pick_player(await _load_players(request), request.params[1]))


def _encode_records(request: Request, found: Iterable[User]) -> list[bytes]:
    codes, rules = request.caller.sees_reset_codes, request.services.keeper.changes.gate.rules
    return [
        encode_user_record(user, codes=codes and not (rules and _is_other_decider(request, user))) for user in found
    ]


def _is_other_decider(request: Request, user: User) -> bool:
    """Tell whether an account decides on approvals and is not the caller, who could sign in there with its code."""
    is_own = request.caller.account_id == user.id and request.caller.key is None  # others know the text of a key
    return not is_own and permissions.is_decider(user)


async def _load_players(request: Request) -> list[StoredPlayer]:
    async def look(tx: Reading) -> list[StoredPlayer]:
        return await stored_players.read_records_of_user(tx, (await lookup.find_user(tx, request.params[0])).id)

    return await request.services.keeper.store.read(look)


def _pick_player(records: Sequence[StoredPlayer], text: str) -> StoredPlayer:
    """Find one of an account's players by id, exact name, name in any letter case, or position in `records`."""
    by, key = lookup.parse_key(text)
    players = [documents.decode_player(record.document, record.last_online) for record in records]
    names = [player.id if by == "id" else player.name for player in players]
    if key in names:
        return records[names.index(key)]
    folds = [lookup.fold(name) for name in names]
    if by == "name" and lookup.fold(key) in folds:
        return records[folds.index(lookup.fold(key))]
    if _INDEX.fullmatch(text) and int(text) < len(records):
        return records[int(text)]
    raise NoSuchPlayer(by=by, key=key)


def encode_user_record(user: User, *, codes: bool) -> bytes:
    powers = permissions.find_powers(user)
    flags = (powers.editor, powers.ban, powers.kick, powers.mute, powers.api)
    return _encode_user(user, account_shapes.Power(*flags, powers.users_query), codes=codes)


def encode_changed_user_record(user: User) -> bytes:
    """Encode an account after a change, never with its reset code: the answer may be stored for retries."""
    powers = permissions.find_powers(user)
    flags = (powers.editor, powers.ban, powers.kick, powers.mute, powers.api)
    return _encode_user(user, account_shapes.ChangedPower(*flags, powers.users_query, powers.users_manage), codes=False)


def _encode_user(user: User, power: account_shapes.Power | account_shapes.ChangedPower, *, codes: bool) -> bytes:
    code = user.reset_code if codes else None
    muted = user.mute_reason is not None
    ours = (user.ban_reason is not None, format_instant(user.created_at), user.play_time_seconds)
    return shapes.encode(
        account_shapes.UserRecord(user.id, user.name, user.email, power, code, muted, user.mute_reason, *ours)
    )


NO_MAIL = (
    "Mail is not set up: the invitation is sent once GAMEKEEPER_SMTP_URL is set. Without mail, use: "
    "gamekeeper users add NAME --email ADDRESS --staff ROLE --generate-password"
)
INVITATIONS_GROUP = Group("Invitations", "Invitations of staff by mail.", place=190, permissions=QUERY | STAFF)
GROUPS = (GROUP, INVITATIONS_GROUP)


declare_id("invitationId", "The invitation's id.", examples.MAIL_ID, "invitation_id")


@INVITATIONS_GROUP.operation(
    "POST /api/keeper/v1/invitations",
    answer=role_shapes.Invited,
    refusals=(
        *(no.BadField, no.EmailTaken, role_no.UnknownRole, role_no.RoleOutOfReach, role_no.OwnRole),
        *(role_no.RoleBeyondQuota, role_no.NoPublicUrl, role_no.TooManyInvitations),
    ),
    example_body=role_shapes.Invite("torhild@example.org", ["moderator"]),
)
async def invite(request: Request, body: role_shapes.Invite) -> Response:
    """Invite a person to the staff by mail, with roles that the caller could give."""
    settings = request.services.keeper.settings
    warning = None if settings.smtp_url else NO_MAIL
    decide = partial(accounts.invite, email=body.email, names=body.roles, actor=request.caller.actor, settings=settings)
    answer = await request.change(decide, partial(make_record, role_shapes.Invited, Warning=warning))
    if warning and not request.dry_run:
        log.problem(request.id, warning)
    return answer


@INVITATIONS_GROUP.operation("GET /api/keeper/v1/invitations", rows=accounts.MOST_OPEN)
async def list_invitations(request: Request) -> role_shapes.InvitationList:
    """List the invitations that were not accepted yet, newest first."""
    found = await stored_invitations.read_open(request.services.keeper.store, accounts.MOST_OPEN)
    return role_shapes.InvitationList(
        [make_record(role_shapes.OpenInvitation, each, InvitedBy=each.inviter) for each in found]
    )


@INVITATIONS_GROUP.operation(
    "DELETE /api/keeper/v1/invitations/[invitationId]",
    answer=role_shapes.Withdrawn,
    refusals=(role_no.NoSuchInvitation,),
)
async def withdraw_invitation(request: Request, invitation_id: str) -> Response:
    """Withdraw an invitation: its link does not work any more."""
    decide = partial(accounts.withdraw_invitation, invitation_id=invitation_id)
    return await request.change(decide, partial(make_record, role_shapes.Withdrawn))
