from functools import partial

from msgspec import structs

from gamekeeper.game.access import permissions, tokens
from gamekeeper.game.access.passwords import require_wire_hash
from gamekeeper.game.access.refusals import KeyFileUnusable
from gamekeeper.game.access.tokens import TokenPair
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.background_jobs import Job
from gamekeeper.game.core.refusals import InvalidRequest, RoleMissing, UnsupportedGrantType
from gamekeeper.ground.instants import format_http_date
from gamekeeper.http.access import credential_shapes
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import ANY_TOKEN, NO_TOKEN, Group
from gamekeeper.http.server.request import Request, Services
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import tokens as token_rows
from gamekeeper.store.accounts import users

GROUP = Group("Tokens", "Log in, renew tokens, log out.", place=230, permissions=ANY_TOKEN)
GROUPS = (GROUP,)


@GROUP.operation(
    "POST /api/oauth/token",
    permissions=NO_TOKEN,
    refusals=(*no.LogInRefusal.__subclasses__(), no.BadPassword, no.TooManyGuesses, KeyFileUnusable),
    example_body={"grant_type": "password", "username": examples.KEEPER, "password": examples.HASH},
)
async def issue_token(request: Request, body: credential_shapes.LogIn) -> credential_shapes.Token:
    """Log in, or renew a token with its refresh token. `otp`: code of the second factor."""
    if body.grant_type == "refresh_token":
        if not body.refresh_token:
            raise InvalidRequest(problem="The field 'refresh_token' is missing.")
        return _make_token(
            await tokens.refresh(
                request.services.keeper, body.refresh_token, request.services.callers.clear_cache, request.find_origin()
            )
        )
    if body.grant_type != "password":
        raise UnsupportedGrantType if body.grant_type else InvalidRequest(problem="The field 'grant_type' is missing.")
    for name, given in (("username", body.username), ("password", body.password)):
        if not given:
            raise InvalidRequest(problem=f"The field '{name}' is missing.")
    if body.scope not in {"", "read"}:
        raise InvalidRequest(problem="The field 'scope' must be read, or left out.")
    sent = require_wire_hash(body.password)
    read_only = body.scope == "read"
    pair = await tokens.log_in(
        request.services.keeper, body.username, sent, request.find_origin(), otp=body.otp, read_only=read_only
    )
    return _make_token(pair)


@GROUP.operation(
    "DELETE /api/oauth/token/[username]",
    answer=credential_shapes.Revoked,
    refusals=(no.RoleMissing,),
)
async def revoke_tokens(request: Request) -> Response:
    """Revoke all tokens of an account: the caller's own, or any account's with `users.manage`."""
    key = await _find_account_key(request)
    return await request.change(
        partial(tokens.revoke_all, name=key), lambda user: credential_shapes.Revoked(user.name), clear_callers=True
    )


@GROUP.operation(
    "DELETE /api/oauth/tokens/[username]",
    answer=credential_shapes.RevokedAccount | credential_shapes.RevokedToken,
    refusals=(no.RoleMissing,),
)
async def revoke_tokens_alias(request: Request) -> Response:
    """Revoke one token by its id, or all tokens of an account."""
    wanted = lookup.parse_guid(request.params[0])
    store = request.services.keeper.store
    owner = await store.value(token_rows.SQL.owner, wanted, tokens.hash_token(wanted)) if wanted else None
    if wanted is None or owner is None:
        return await revoke_tokens(request)
    if "users.manage" not in request.caller.permissions:
        _require_own(request, owner)
    decide = partial(tokens.revoke_one, name=owner, token=wanted)
    kept = await request.change(decide, lambda _: credential_shapes.encode_revoked_token(""), clear_callers=True)
    # as in `revoke_one`: the id may be a refresh token, which must not be stored
    return structs.replace(kept, content=credential_shapes.encode_revoked_token(wanted))


@GROUP.operation(
    "DELETE /api/oauth/token/[username]/[tokenId]",
    name="revoke_token",
    answer=credential_shapes.Revoked,
    refusals=(no.RoleMissing,),
)
@GROUP.operation(
    "DELETE /api/oauth/tokens/[username]/[tokenId]",
    name="revoke_token_alias",
    answer=credential_shapes.Revoked,
    refusals=(no.RoleMissing,),
)
async def revoke_one(request: Request) -> Response:
    """Revoke one token of an account, by its id or its refresh token."""
    key, token = await _find_account_key(request), request.params[1]
    decide = partial(tokens.revoke_one, name=key, token=token)
    kept = await request.change(decide, lambda user: credential_shapes.Revoked(user.name), clear_callers=True)
    # add `token` only after the answer is stored for retries: it may be a refresh token, which must not be stored
    return structs.replace(kept, content=credential_shapes.add_token_id(kept.content, token))


async def _find_account_key(request: Request) -> str:
    """Return the path's account name or id. Without users.manage any account but the caller's own is refused alike."""
    name, caller = request.params[0], request.caller
    if "users.manage" in caller.permissions:
        return name
    by, key = lookup.parse_key(name)
    if by == "name" and lookup.fold(key) == lookup.fold(caller.name):
        found = await users.find_by_fold(request.services.keeper.store, lookup.fold(key), key)
        # compare the ids below: imported accounts may share a name, so the name may find another account
        key = found.id if found else ""
    _require_own(request, key)
    return key


def _require_own(request: Request, account_id: str) -> None:
    """Refuse another account than the caller's, and API keys: one that leaked must not end the owner's sessions."""
    if account_id != request.caller.account_id or request.caller.key is not None:
        raise RoleMissing(role=permissions.find_role("users.manage"))


def _make_token(pair: TokenPair) -> credential_shapes.Token:
    seconds = (pair.expires_at - pair.issued_at) // 1000
    dates = (format_http_date(pair.issued_at), format_http_date(pair.expires_at))
    return credential_shapes.Token(pair.access, "bearer", seconds, pair.refresh, *dates)


NOTE_USE_SECONDS = 30.0
JOBS = (Job[Services]("uses of tokens", NOTE_USE_SECONDS, lambda services: services.callers.note_use, at_stop=True),)
