"""The page of active tokens, newest first, with their accounts, their last use and a button to revoke each.

`?token=` shows one token by its public id. A token or API key that somebody pasted into the search box or a filter,
such as one that has leaked, is found too: its text comes in the body of a POST. It is hashed at once, and no address,
page or log has it.
"""

from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.console.frame import list_page, pages, sessions
from gamekeeper.console.frame.formats import format_time
from gamekeeper.console.frame.list_page import BeforeMark
from gamekeeper.console.frame.menu import ADMINISTRATION, KEYS, MANAGE
from gamekeeper.console.frame.routes import Dialog, form_route, page_route
from gamekeeper.console.frame.texts import gettext
from gamekeeper.game.access import api_keys, permissions
from gamekeeper.game.access.refusals import NoSuchKey
from gamekeeper.game.access.tokens import ACCESS_PREFIX, hash_token
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import NoSuchUser
from gamekeeper.ground.instants import format_instant
from gamekeeper.http.contract.operation import READ
from gamekeeper.http.server import queries
from gamekeeper.http.server.query_values import MailCursor
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import security_log, tokens
from gamekeeper.store.access.security_log import SignIn
from gamekeeper.store.access.tokens import IssuedToken
from gamekeeper.store.engine.interface import Reading


class PastedSecret(NamedTuple):
    name: str
    detail: str
    href: str = ""  # empty: there is nothing to open
    token: str = ""  # ids of its account and of the token, to revoke it; empty: it is no token that works
    key: str = ""  # id of the API key, to revoke it; empty: it is no key that works


async def find_pasted(request: Request, text: str) -> PastedSecret | None:
    """Find the token or key with this text. None: it is no secret, or the id of something else."""
    if text.startswith(api_keys.PREFIX):
        return await _find_key(request, text)
    if text.startswith(ACCESS_PREFIX) or lookup.parse_guid(text):
        return await _find_token(request, text)
    return None


def show_pasted(request: Request, secret: PastedSecret | None) -> Response:
    """Show a found secret, with a button to revoke it. None: one that was in an address, and was not looked up."""
    return pages.render(request, "access/pasted_secret.html", secret=secret)


async def _find_key(request: Request, text: str) -> PastedSecret:
    if not request.caller.permissions >= KEYS:
        return PastedSecret(gettext("An API key"), gettext("You do not have permission to look it up."))
    try:
        key, is_active = await request.services.keeper.store.read(lambda tx: api_keys.find_by_text(tx, text))
    except NoSuchKey:
        return PastedSecret(gettext("An API key"), gettext("Unknown to this server."))
    return PastedSecret(
        gettext("API key %(name)s of %(owner)s", name=key.name, owner=key.user),
        gettext("works") if is_active else gettext("does not work any more"),
        f"/console/keys#key-{key.id}",
        key=key.id if is_active else "",
    )


async def _find_token(request: Request, text: str) -> PastedSecret | None:
    is_known_kind = text.startswith(ACCESS_PREFIX)
    if not request.caller.permissions >= MANAGE:
        refused = PastedSecret(gettext("A token"), gettext("You do not have permission to look it up."))
        return refused if is_known_kind else None
    hashed = hash_token(text if is_known_kind else lookup.parse_guid(text) or text)
    token = await tokens.find_by_hash(request.services.keeper.store, hashed)
    if token is None:
        return PastedSecret(gettext("A token"), gettext("Unknown to this server.")) if is_known_kind else None
    return PastedSecret(
        gettext("Token of %(owner)s", owner=token.user),
        await _describe_state(request, token),
        f"/console/tokens?token={token.id}",
        token=f"{token.user_id}/{token.id}" if token.live else "",
    )


async def _describe_state(request: Request, token: IssuedToken) -> str:
    if not token.live:
        return gettext("does not work any more")
    user = await lookup.find_user(request.services.keeper.store, token.user_id)
    if user.suspended:
        return gettext("does not work while the account is suspended")
    if not permissions.can_log_in(user):
        return gettext("does not work while the account has no role")
    return gettext("works until %(time)s", time=format_time(format_instant(token.ends_at)))


TOKENS_PER_PAGE = 50
# tokens per query, and queries per page at most: limits the time of a page if most tokens have expired
SCAN_SIZE, MAX_SCANS = 200, 5


class TokenPage(NamedTuple):
    tokens: list[IssuedToken]
    next: MailCursor | None  # where the next page of tokens starts; None: this is the last page


async def show(request: Request) -> Response:
    """Show active tokens: all, those of an account, or the one with the public id in the address."""
    token_id, store, refused = request.query.get("token", ""), request.services.keeper.store, None
    page, sought = TokenPage([], None), "" if token_id else request.query.get("account", "").strip()
    try:
        if token_id:
            wanted = lookup.parse_guid(token_id)
            token = await tokens.find_by_id(store, wanted) if wanted else None
            page = TokenPage([token] if token and token.live else [], None)
        else:
            whose = (await lookup.find_user(store, sought)).id if sought else None
            mark = queries.decode(BeforeMark, request.query).before
            page = await store.read(lambda tx: find_active(tx, whose, mark, TOKENS_PER_PAGE))
    except NoSuchUser as refusal:
        refused = refusal
    return pages.render(
        request,
        "access/tokens.html",
        refused,
        tokens=page.tokens,
        only=bool(token_id),
        sought=sought,
        **list_page.link_by_time(request, page.next),
        own=request.caller.token_id,
    )


async def filter_(request: Request, raw: bytes) -> Response:
    """Answer the filter's form. A pasted token or key is looked up here; another text gets an address."""
    sought = sessions.verify_form(request, raw).get("account", "").strip()
    if secret := await find_pasted(request, sought):
        return show_pasted(request, secret)
    return pages.redirect(f"/console/tokens?{urlencode({'account': sought})}" if sought else "/console/tokens")


async def find_sign_ins(tx: Reading, user_id: str, page: TokenPage) -> dict[str, SignIn]:
    """Find from which address and with which browser the account got the tokens of a page."""
    return await security_log.find_sign_ins(tx, user_id, {each.id: each.issued_at for each in page.tokens})


async def find_active(tx: Reading, user_id: str | None, before: MailCursor, limit: int) -> TokenPage:
    """Find up to `limit` active tokens, newest first. Many expired tokens can make a page shorter."""
    found: list[IssuedToken] = []
    for _ in range(MAX_SCANS):
        seen = await tokens.read_newest(tx, user_id, before, SCAN_SIZE)
        found += [each for each in seen if each.live]
        if len(found) > limit:
            last = found[limit - 1]
            return TokenPage(found[:limit], MailCursor(last.issued_at, last.id))
        if len(seen) < SCAN_SIZE:
            return TokenPage(found, None)
        before = MailCursor(seen[-1].issued_at, seen[-1].id)
    return TokenPage(found, before)


DIALOGS = (
    Dialog("revoke_token", "Revoke token of %(name)s", secured=True),
    Dialog("revoke_tokens", "Revoke all tokens of %(name)s", secured=True),
    Dialog("end_sessions", "End all console sessions of %(name)s", secured=True),
)
PAGES = (
    page_route("/tokens", show, MANAGE)
    .in_menu("Tokens", ADMINISTRATION, 40, "token")
    .with_help("Log-ins that are open now. Revoke one that has leaked.", "security-log"),
    form_route("/tokens", filter_, MANAGE, access=READ),
)
