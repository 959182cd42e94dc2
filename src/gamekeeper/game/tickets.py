"""State that a browser keeps between two steps of a sign-in or of setting up a second factor.

It is encrypted with the key file, so the second step can reach another instance. It expires by the database's clock.
"""

import secrets

import msgspec

from gamekeeper.game import lookup
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.own_factor_refusals import TicketExpired
from gamekeeper.store import clock

LIFE_MINUTES = 10
CHALLENGE_BYTES = 32
SIGN_IN, TOTP_SET_UP, PASSKEY_SET_UP, PASSKEY_CHECK = "sign-in", "totp set-up", "passkey set-up", "passkey check"
OIDC_SIGN_IN, OIDC_LINK = "oidc sign-in", "oidc link"


class Ticket(msgspec.Struct, frozen=True):
    user_id: str
    id: str  # id of the second factor that a set-up adds
    made_at: int  # milliseconds since 1970
    value: str  # sign-in: digest of the password's hash; TOTP: the secret; OpenID Connect: the page to show next
    challenge: str  # WebAuthn: the random text that the passkey signs; OpenID Connect: the PKCE code verifier
    by: str = ""  # sign-in: issuer that proved the first step; empty: the password did


async def make(keeper: Keeper, purpose: str, user_id: str, value: str = "", by: str = "") -> tuple[Ticket, str]:
    """Make a ticket, and its encrypted text for a form."""
    now, challenge = await clock.now(keeper.store), secrets.token_urlsafe(CHALLENGE_BYTES)
    ticket = Ticket(user_id, lookup.new_guid(), now, value, challenge, by)
    return ticket, keeper.key_file.seal(msgspec.json.encode(ticket), purpose)


async def read(keeper: Keeper, purpose: str, sealed: str) -> Ticket:
    """Decrypt a ticket. It is refused if it was changed, was made for another purpose, or has expired."""
    content = keeper.key_file.unseal(sealed, purpose)
    ticket = msgspec.json.decode(content, type=Ticket) if content else None
    if ticket is None or await clock.now(keeper.store) - ticket.made_at > LIFE_MINUTES * 60_000:
        raise TicketExpired(minutes=LIFE_MINUTES)
    return ticket
