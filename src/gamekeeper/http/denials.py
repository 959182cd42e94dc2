"""Why a token is denied: the error_description of RFC 6750, for the header WWW-Authenticate of a 401.

Only callers that know the text of a token or API key get this. It is looked up after the usual check has found no
caller, so that the check of an active token stays one statement.
"""

from gamekeeper.game.refusals import Denied
from gamekeeper.store import api_keys, tokens
from gamekeeper.store.engine import Store

MALFORMED = "Malformed: send 'Authorization: Bearer' and the access token or API key as you got it"
UNKNOWN = "Unknown: the token was changed on its way, or expired long ago"
EXPIRED = "Expired: log in again, or refresh the token"
REVOKED = "Revoked: log in again, unless the account was banned"
BARRED = "The account is suspended or has no role, so its tokens and API keys do not work"
KEY_EXPIRED = "Expired: create another API key"
KEY_ROTATED = "Expired: the API key was rotated and has a new text"
KEY_REVOKED = "Revoked: create another API key"
KEY_SUSPENDED = "Suspended: an administrator can let the API key work again"
OWNER_BARRED = "The owner of the API key is banned or suspended, or has no role"


async def explain_token(store: Store, access_hash: str) -> Denied:
    end = await tokens.find_end(store, access_hash)
    if end is None:
        return Denied(UNKNOWN)
    if end.is_revoked:
        return Denied(REVOKED)
    return Denied(EXPIRED if end.is_expired else BARRED)


async def explain_key(store: Store, text_hash: str) -> Denied:
    end = await api_keys.find_end(store, text_hash)
    if end is None:
        return Denied(UNKNOWN)
    if end.is_revoked:
        return Denied(KEY_REVOKED)
    if end.is_expired:
        return Denied(KEY_EXPIRED)
    if end.is_rotated:
        return Denied(KEY_ROTATED)
    return Denied(KEY_SUSPENDED if end.is_suspended else OWNER_BARRED)
