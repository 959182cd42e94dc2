"""The page of active tokens, newest first, with their accounts, their last use and a button to revoke each.

`?token=` shows one token by its public id.
"""

from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.console import lists, pages, pasted_secrets, sessions
from gamekeeper.console.queries import BeforeMark
from gamekeeper.console.server_texts import describe_refusal
from gamekeeper.game import lookup
from gamekeeper.game.refusals import NoSuchUser
from gamekeeper.http import queries
from gamekeeper.http.mail_cursor import MailCursor
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import security, tokens
from gamekeeper.store.engine import Reading
from gamekeeper.store.security import SignIn
from gamekeeper.store.tokens import IssuedToken

TOKENS_PER_PAGE = 50
# tokens per query, and queries per page at most: limits the time of a page if most tokens have expired
SCAN_SIZE, MAX_SCANS = 200, 5


class TokenPage(NamedTuple):
    tokens: list[IssuedToken]
    next: MailCursor | None  # where the next page of tokens starts; None: this is the last page


async def show(request: Request) -> Response:
    if token_id := request.query.get("token", ""):
        return await _show_one(request, token_id)
    sought, refused = request.query.get("account", "").strip(), None
    page = TokenPage([], None)
    try:
        whose = await lookup.find_user(request.services.keeper.store, sought) if sought else None
        mark = queries.decode(BeforeMark, request.query).before
        page = await request.services.keeper.store.read(
            lambda tx: find_active(tx, whose.id if whose else None, mark, TOKENS_PER_PAGE)
        )
    except NoSuchUser as refusal:
        refused = refusal
    shown = pages.render(
        request,
        "tokens.html",
        tokens=page.tokens,
        only=False,
        sought=sought,
        problem=describe_refusal(refused) if refused else "",
        newest=lists.build_url(request, before="") if "before" in request.query else "",
        older=lists.build_url(request, before=str(page.next)) if page.next else "",
        own=request.caller.token_id,
    )
    return pages.with_refusal(shown, refused)


async def filter_(request: Request, raw: bytes) -> Response:
    """Answer the filter's form. A pasted token or key is looked up here; another text gets an address."""
    sought = sessions.verify_form(request, raw).get("account", "").strip()
    if secret := await pasted_secrets.find(request, sought):
        return pasted_secrets.show(request, secret)
    return pages.redirect(f"/console/tokens?{urlencode({'account': sought})}" if sought else "/console/tokens")


async def _show_one(request: Request, token_id: str) -> Response:
    wanted = lookup.parse_guid(token_id)
    token = await tokens.find_by_id(request.services.keeper.store, wanted) if wanted else None
    return pages.render(
        request,
        "tokens.html",
        tokens=[token] if token and token.live else [],
        only=True,
        sought="",
        problem="",
        newest="",
        older="",
        own=request.caller.token_id,
    )


async def find_sign_ins(tx: Reading, user_id: str, page: TokenPage) -> dict[str, SignIn]:
    """Find from which address and with which browser the account got the tokens of a page."""
    return await security.find_sign_ins(tx, user_id, {each.id: each.issued_at for each in page.tokens})


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
