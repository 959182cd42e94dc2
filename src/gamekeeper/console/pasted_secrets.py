"""Find the token or API key that somebody pasted into the search box, such as one that has leaked.

The text comes in the body of a POST. It is hashed at once, and no address, page or log has it.
"""

from typing import NamedTuple
from urllib.parse import urlencode

from gamekeeper.console.menu import KEYS, MANAGE
from gamekeeper.console.texts import gettext
from gamekeeper.game import api_keys, lookup
from gamekeeper.game.key_refusals import NoSuchKey
from gamekeeper.game.tokens import ACCESS_PREFIX, hash_token
from gamekeeper.http.request import Request
from gamekeeper.store import tokens


class PastedSecret(NamedTuple):
    name: str
    detail: str
    href: str  # empty: there is nothing to open


def is_secret(text: str) -> bool:
    """Tell whether a text looks like a secret. A refresh token looks like an id: only the database knows."""
    return text.startswith((ACCESS_PREFIX, api_keys.PREFIX))


async def find(request: Request, text: str) -> PastedSecret | None:
    """Find the token or key with this text. None: it is no secret, or the id of something else."""
    if text.startswith(api_keys.PREFIX):
        return await _find_key(request, text)
    if text.startswith(ACCESS_PREFIX) or lookup.parse_guid(text):
        return await _find_token(request, text)
    return None


async def _find_key(request: Request, text: str) -> PastedSecret:
    if not request.caller.permissions >= KEYS:
        return PastedSecret(gettext("An API key"), gettext("You do not have permission to look it up."), "")
    try:
        key, is_active = await request.services.keeper.store.read(lambda tx: api_keys.find_by_text(tx, text))
    except NoSuchKey:
        return PastedSecret(gettext("An API key"), gettext("Unknown to this server."), "")
    state = gettext("works") if is_active else gettext("does not work any more")
    return PastedSecret(
        gettext("API key %(name)s of %(owner)s", name=key.name, owner=key.user), state, f"/console/keys#key-{key.id}"
    )


async def _find_token(request: Request, text: str) -> PastedSecret | None:
    is_known_kind = text.startswith(ACCESS_PREFIX)
    if not request.caller.permissions >= MANAGE:
        refused = PastedSecret(gettext("A token"), gettext("You do not have permission to look it up."), "")
        return refused if is_known_kind else None
    hashed = hash_token(text if is_known_kind else lookup.parse_guid(text) or text)
    token = await tokens.find_by_hash(request.services.keeper.store, hashed)
    if token is None:
        return PastedSecret(gettext("A token"), gettext("Unknown to this server."), "") if is_known_kind else None
    state = gettext("works") if token.live else gettext("does not work any more")
    href = f"/console/tokens?{urlencode({'account': token.user})}"
    return PastedSecret(gettext("Token of %(owner)s", owner=token.user), state, href)
