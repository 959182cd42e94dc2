"""Staff: list the accounts with permissions, suspend and resume accounts, end their sessions."""

from collections.abc import Iterable
from functools import partial

from gamekeeper.game import key_losses, permissions, suspensions
from gamekeeper.game import refusals as no
from gamekeeper.game import staff as rules
from gamekeeper.game.key_losses import KeyLoss
from gamekeeper.game.role_refusals import LastManager, RoleBeyondQuota
from gamekeeper.game.staff import StaffMember
from gamekeeper.http import samples, weakened_keys, wire
from gamekeeper.http.instants import format_instant
from gamekeeper.http.operation import NO_STORE, QUERY, READ, STAFF, WRITE, Group
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store.users import User

GROUP = Group("Staff", "Accounts of staff.")


@GROUP.operation(
    "GET /api/keeper/v1/staff",
    name="list_staff",
    permissions=QUERY | STAFF,
    access=READ,
    cache=NO_STORE,
    query=wire.staff.StaffQuery,
    answer=wire.staff.StaffList,
    rows=200,
    refusals=(),
    example_answer=wire.staff.StaffList([samples.STAFF_MEMBER], None),
)
async def list_staff(request: Request, query: wire.staff.StaffQuery) -> bytes:
    """List accounts with roles or directly granted permissions, by name; the first 4,000."""
    page = await request.services.keeper.store.read(lambda tx: rules.load_page(tx, query.offset, query.limit))
    return wire.encode(wire.staff.StaffList([_make_member(each) for each in page.members], page.next))


@GROUP.operation(
    "DELETE /api/keeper/v1/users/[lookupKey]/sessions",
    name="end_sessions",
    permissions=QUERY | STAFF,
    access=WRITE,
    answer=wire.staff.EndedSessions,
    refusals=(no.Outranked,),
    example_answer=wire.staff.EndedSessions(samples.USER_ID, samples.USER),
)
async def end_sessions(request: Request) -> Response:
    """End all sessions of an account in the console. Tokens of programs stay valid."""
    decide = partial(suspensions.end_sessions, key=request.params[0], actor=request.caller.actor)
    answer = await request.change(decide, lambda user: wire.encode(wire.staff.EndedSessions(user.id, user.name)))
    request.services.callers.clear_cache()
    return answer


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/suspend",
    name="suspend_user",
    permissions=QUERY | STAFF,
    access=WRITE,
    answer=wire.staff.Suspension,
    refusals=(no.Outranked, no.OwnAccount, LastManager),
    example_answer=wire.staff.Suspension(samples.USER_ID, samples.USER, Suspended=True),
)
async def suspend_user(request: Request) -> Response:
    """Suspend an account: its tokens are revoked, and it cannot log in. The game is not affected."""
    rule = partial(suspensions.suspend, key=request.params[0], actor=request.caller.actor)
    answer = await request.change(partial(key_losses.decide, rule=rule), lambda done: _encode_suspension(*done))
    request.services.callers.clear_cache()
    return answer


@GROUP.operation(
    "POST /api/keeper/v1/users/[lookupKey]/resume",
    name="resume_user",
    permissions=QUERY | STAFF,
    access=WRITE,
    answer=wire.staff.Suspension,
    refusals=(no.Outranked, no.OwnAccount, RoleBeyondQuota),
    example_answer=wire.staff.Suspension(samples.USER_ID, samples.USER, Suspended=False),
)
async def resume_user(request: Request) -> Response:
    """End the suspension of an account; also 200 if it is not suspended."""
    decide = partial(suspensions.resume, key=request.params[0], actor=request.caller.actor)
    return await request.change(decide, _encode_suspension)


def _encode_suspension(user: User, losses: Iterable[KeyLoss] = ()) -> bytes:
    weakened = weakened_keys.make_list(losses)
    return wire.encode(wire.staff.Suspension(user.id, user.name, Suspended=user.suspended, WeakenedKeys=weakened))


def list_values(user: User) -> tuple[str, str, str, list[str], list[str], bool]:
    """List the values of the fields that every account with roles has."""
    roles, granted = permissions.list_roles(user), permissions.list_granted(user.powers, user.grants)
    return user.id, user.name, user.email, list(roles), sorted(granted), user.suspended


def _make_member(member: StaffMember) -> wire.staff.StaffMember:
    user, (last, sessions, has_second_factor) = member
    return wire.staff.StaffMember(
        *list_values(user),
        LastSignIn=None if last is None else format_instant(last),
        Sessions=sessions,
        SecondFactor=has_second_factor,
    )
