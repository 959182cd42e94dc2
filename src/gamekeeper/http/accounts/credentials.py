"""Operations on passwords and emails: check, change, reset."""

from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from gamekeeper.game.access import credentials
from gamekeeper.game.accounts import accounts
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import WrongCode, WrongPassword
from gamekeeper.game.core.values import require_email
from gamekeeper.http.accounts import account_shapes, mails
from gamekeeper.http.accounts import accounts as http_accounts
from gamekeeper.http.contract.operation import MANAGE, QUERY, READ, WRITE, Group
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response, make_change_response

UPDATED, CORRECT, SENT = "Password Updated", "Password Correct", "Password reset email sent."

GROUP = Group("Credentials", "Check, change and reset passwords; change emails.", place=220, permissions=QUERY)
GROUPS = (GROUP,)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/password/validate",
    number=23,
    access=READ,
    refusals=(no.WrongPassword, no.TooManyGuesses),
    example_answer=account_shapes.Message(CORRECT),
)
async def validate_password(request: Request, body: account_shapes.ValidatePassword) -> account_shapes.Message:
    """Check an account's password."""
    await _check_password(request, body.password)
    return account_shapes.Message(CORRECT)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/email/change",
    number=24,
    answer=account_shapes.UserRecord[account_shapes.ChangedPower],
    refusals=(no.WrongPassword, no.TooManyGuesses, no.EmailTaken),
)
async def change_email(request: Request, body: account_shapes.ChangeEmail) -> Response:
    """Change an account's email; needs the account's password."""
    email = require_email(body.new, "new")

    async def change() -> Response:
        proven = await _check_password(request, body.authorization)
        decide = partial(accounts.change_email, key=request.params[0], email=email, proven=proven)
        return await request.change(decide, http_accounts.encode_changed_user_record)

    return await _change_or_replay(request, change)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/password/change",
    number=25,
    answer=account_shapes.Message,
    refusals=(no.WrongPassword, no.TooManyGuesses),
    example_answer=account_shapes.Message(UPDATED),
)
async def change_password(request: Request, body: account_shapes.ChangePassword) -> Response:
    """Change an account's password; needs the current one. The account's tokens are revoked."""

    async def change() -> Response:
        proven = await _check_password(request, body.authorization)
        return await _set_password(request, body.new, proven, UPDATED)

    return await _change_or_replay(request, change)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/manage/email/change",
    number=29,
    permissions=MANAGE,
    answer=account_shapes.UserRecord[account_shapes.ChangedPower],
    refusals=(no.EmailTaken,),
)
async def manage_email(request: Request, body: account_shapes.ManageEmail) -> Response:
    """Change an account's email, without its password."""
    email = require_email(body.new, "new")
    decide = partial(accounts.change_email, key=request.params[0], email=email, proven=None)
    return await request.change(decide, http_accounts.encode_changed_user_record)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/manage/password/change",
    number=30,
    permissions=MANAGE,
    answer=account_shapes.Message,
    example_answer=account_shapes.Message(CORRECT),
)
async def manage_password(request: Request, body: account_shapes.ManagePassword) -> Response:
    """Change an account's password, without the current one. The account's tokens are revoked."""
    return await _set_password(request, body.new, None, CORRECT)


@GROUP.operation(
    "GET /api/v1/users/[lookupKey]/password/reset",
    number=26,
    access=WRITE,
    answer=account_shapes.Message,
    refusals=(no.TooManyMails,),
    example_answer=account_shapes.Message(SENT),
)
async def request_password_reset(request: Request) -> Response:
    """Send the account a mail with a code to reset its password."""
    caller, settings = request.caller.account_id, request.services.keeper.settings
    decide = partial(credentials.request_reset, key=request.params[0], caller=caller, settings=settings)
    return await mails.change_and_warn(request, decide, SENT)


@GROUP.operation(
    "POST /api/v1/users/[lookupKey]/password/reset",
    answer=account_shapes.Message,
    refusals=(no.WrongCode,),
    example_answer=account_shapes.Message(UPDATED),
)
async def redeem_reset_code(request: Request, body: account_shapes.RedeemCode) -> Response:
    """Set a new password with a code from a reset mail."""

    async def change() -> Response:
        code = await credentials.check_reset_code(
            request.services.keeper, request.params[0], body.code, request.caller.account_id, request.address
        )
        password = await request.services.keeper.passwords.hash_password(body.new)
        decide = partial(credentials.redeem_code, key=request.params[0], code=code, password=password)
        return await request.change(decide, lambda _: account_shapes.Message(UPDATED), clear_callers=True)

    return await _change_or_replay(request, change)


async def _change_or_replay(request: Request, change: Callable[[], Coroutine[Any, Any, Response]]) -> Response:
    """Change a password or email, or replay the first success: a retry's old password or code would be rejected."""
    done = await request.services.keeper.changes.replay(request.make_intent())
    if done is not None:
        return make_change_response(done)
    try:
        return await change()
    except (WrongPassword, WrongCode):
        done = await request.services.keeper.changes.replay(request.make_intent())
        if done is None:
            raise
        return make_change_response(done)


async def _check_password(request: Request, sent: str) -> str:
    user = await lookup.find_user(request.services.keeper.store, request.params[0])
    return await credentials.check_password(
        request.services.keeper, user, sent, request.caller.account_id, request.address
    )


async def _set_password(request: Request, new: str, proven: str | None, message: str) -> Response:
    password = await request.services.keeper.passwords.hash_password(new)
    decide = partial(accounts.change_password, key=request.params[0], password=password, proven=proven)
    return await request.change(decide, lambda _: account_shapes.Message(message), clear_callers=True)
