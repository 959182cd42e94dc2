"""Passkeys on the console's pages: the site that they belong to, and the options for the browser's scripts."""

import ipaddress
from functools import partial
from urllib.parse import urlsplit

from gamekeeper.console.texts import gettext
from gamekeeper.game import passkeys, second_factors
from gamekeeper.game.passkeys import Site
from gamekeeper.game.second_factors import UseFactor
from gamekeeper.game.tickets import Ticket
from gamekeeper.http.request import Request
from gamekeeper.store import second_factors as rows

LOCALHOST = "localhost"  # browsers allow passkeys here without TLS, but not at 127.0.0.1


def find_site(request: Request) -> Site | None:
    """Return the site that passkeys belong to: `public_url`, or localhost. None: passkeys cannot be used."""
    settings = request.services.keeper.settings
    host = request.headers.get(b"host", b"").decode("latin-1")
    scheme = "https" if request.over_tls else "http"
    address = urlsplit(settings.public_url or f"{scheme}://{host}")
    name = address.hostname or ""
    if not settings.public_url and name != LOCALHOST:
        return None
    return (
        None
        if not name or _is_address(name)
        else Site(f"{address.scheme}://{address.netloc}", name, settings.game_name)
    )


def explain_missing_site(request: Request) -> str:
    """Tell why passkeys cannot be used, and what an operator has to do."""
    given = request.services.keeper.settings.public_url
    if given:
        return gettext(
            "Passkeys cannot be added: browsers accept them for a name, not for an IP address, "
            "and GAMEKEEPER_PUBLIC_URL is %(url)s. An operator sets it to a name, such as https://keeper.example.",
            url=given,
        )
    return gettext(
        "Passkeys can be added when the server knows its address: an operator sets GAMEKEEPER_PUBLIC_URL to it, "
        "such as https://keeper.example."
    )


async def make_check_options(request: Request, ticket: Ticket) -> str:
    """Return the options for a check with one of the account's passkeys; empty if it has none, or here is no site."""
    site = find_site(request)
    held = passkeys.list_passkeys(await rows.read_of_user(request.services.keeper.store, ticket.user_id))
    return passkeys.make_check_options(site, ticket, held) if site and held else ""


def read_factor(request: Request, ticket: Ticket, code: str, answer: str) -> UseFactor:
    """Return the check of what a form sent: a passkey's answer, or a code."""
    site = find_site(request)
    if answer and site:
        return partial(passkeys.use_passkey, site=site, ticket=ticket, answer=answer)
    keeper, origin = request.services.keeper, request.find_origin()
    return partial(second_factors.use_code, keeper=keeper, user_id=ticket.user_id, sent=code, origin=origin)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
