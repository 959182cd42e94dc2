"""Find the token or API key that somebody pasted into the search box or a filter, such as one that has leaked.

The text comes in the body of a POST. It is hashed at once, and no address, page or log has it.
"""

from typing import NamedTuple

from gamekeeper.console import pages
from gamekeeper.console.formats import format_time
from gamekeeper.console.menu import KEYS, MANAGE
from gamekeeper.console.texts import gettext
from gamekeeper.game import api_keys, lookup, permissions
from gamekeeper.game.key_refusals import NoSuchKey
from gamekeeper.game.tokens import ACCESS_PREFIX, hash_token
from gamekeeper.http.instants import format_instant
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import tokens
from gamekeeper.store.tokens import IssuedToken

EXPLANATION = "/console/search?pasted=address"  # the page about a secret that was in an address
PREFIXES = (ACCESS_PREFIX, api_keys.PREFIX)


class PastedSecret(NamedTuple):
    name: str
    detail: str
    href: str = ""  # empty: there is nothing to open
    token: str = ""  # ids of its account and of the token, to revoke it; empty: it is no token that works
    key: str = ""  # id of the API key, to revoke it; empty: it is no key that works


def is_secret(text: str) -> bool:
    """Tell whether a text looks like a secret. A refresh token looks like an id: only the database knows."""
    return text.strip().startswith(PREFIXES)


async def find(request: Request, text: str) -> PastedSecret | None:
    """Find the token or key with this text. None: it is no secret, or the id of something else."""
    if text.startswith(api_keys.PREFIX):
        return await _find_key(request, text)
    if text.startswith(ACCESS_PREFIX) or lookup.parse_guid(text):
        return await _find_token(request, text)
    return None


def show(request: Request, secret: PastedSecret | None) -> Response:
    """Show a found secret, with a button to revoke it. None: one that was in an address, and was not looked up."""
    return pages.render(request, "pasted_secret.html", secret=secret)


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
