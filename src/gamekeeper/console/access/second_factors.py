"""The page of the caller's own second factors: set up an app or a passkey, remove factors, renew recovery codes.

Passkeys need the site that they belong to, and options for the browser's scripts.
"""

import ipaddress
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

from gamekeeper.console.frame import pages, sessions
from gamekeeper.console.frame.menu import OWN
from gamekeeper.console.frame.routes import ROOT, SET_UP, Dialog, form_route, page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.access import credentials, second_factors
from gamekeeper.game.access.console_refusals import FactorRequired, WrongSecondFactor
from gamekeeper.game.access.credentials import Ticket
from gamekeeper.game.access.second_factors import Site, UseFactor
from gamekeeper.game.core.refusals import BadField, Refusal, TooManyGuesses
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import second_factors as rows
from gamekeeper.store.access.second_factors import SecondFactor

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
    held = second_factors.list_passkeys(await rows.read_of_user(request.services.keeper.store, ticket.user_id))
    return second_factors.make_check_options(site, ticket, held) if site and held else ""


def read_factor(request: Request, ticket: Ticket, code: str, answer: str) -> UseFactor:
    """Return the check of what a form sent: a passkey's answer, or a code."""
    site = find_site(request)
    if answer and site:
        return partial(second_factors.use_passkey, site=site, ticket=ticket, answer=answer)
    keeper, origin = request.services.keeper, request.find_origin()
    return partial(second_factors.use_code, keeper=keeper, user_id=ticket.user_id, sent=code, origin=origin)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


PATH = SET_UP.removeprefix(ROOT)
HOME = SET_UP
STALE = PerLanguage(lambda: gettext("You signed in too long ago. Sign in again, then change your second factor."))
QR_SCALE = 5  # pixels of a QR code's module


async def show_totp(request: Request) -> Response:
    """Show a new secret as QR code and text, and ask for a code of it."""
    keeper, me = request.services.keeper, request.caller
    if not await sessions.is_fresh(request):
        return await show(request, STALE())
    ticket, sealed = await credentials.make_ticket(
        keeper, credentials.TOTP_SET_UP, me.account_id, second_factors.make_secret()
    )
    return _render_totp(request, ticket, sealed)


async def add_totp(request: Request, raw: bytes) -> Response:
    fields, keeper = sessions.verify_form(request, raw), request.services.keeper
    sealed = fields.get("ticket", "")
    ticket = await credentials.read_ticket(keeper, credentials.TOTP_SET_UP, sealed)
    _require_own(request, ticket)
    try:
        name = fields.get("name", "").strip() or gettext("Authenticator app")
        factor = second_factors.make_totp(keeper, ticket, name, fields.get("code", ""))
        return await _add(request, factor)
    except (WrongSecondFactor, BadField) as refusal:
        return _render_totp(request, ticket, sealed, refusal)


async def add_passkey(request: Request, raw: bytes) -> Response:
    fields, site = sessions.verify_form(request, raw), find_site(request)
    ticket = await credentials.read_ticket(
        request.services.keeper, credentials.PASSKEY_SET_UP, fields.get("ticket", "")
    )
    _require_own(request, ticket)
    if site is None:
        raise WrongSecondFactor
    try:
        name = fields.get("name", "").strip() or gettext("Passkey")
        return await _add(request, second_factors.make_passkey(site, ticket, name, fields.get("passkey", "")))
    except (WrongSecondFactor, BadField) as refusal:
        is_wrong = isinstance(refusal, WrongSecondFactor)
        problem = gettext("The passkey could not be added. Try again.") if is_wrong else ""
        return await show(request, problem, refusal)


async def remove(request: Request, raw: bytes) -> Response:
    """Remove a factor; this needs a right code or a passkey."""
    fields, keeper, me = sessions.verify_form(request, raw), request.services.keeper, request.caller.account_id
    ticket = await credentials.read_ticket(keeper, credentials.PASSKEY_CHECK, fields.get("ticket", ""))
    _require_own(request, ticket)
    use = read_factor(request, ticket, fields.get("code", ""), fields.get("passkey", ""))
    decide = partial(second_factors.remove, settings=keeper.settings, user_id=me, factor_id=request.params[0])
    try:
        await second_factors.require_factor(keeper, me, request.find_origin(), use)
        await request.change(decide, lambda _: b"")
    except (WrongSecondFactor, TooManyGuesses, FactorRequired) as refusal:
        return await show(request, refused=refusal)
    request.services.callers.clear_cache()
    return pages.redirect(HOME)


async def renew_codes(request: Request, raw: bytes) -> Response:
    sessions.verify_form(request, raw)
    if not await sessions.is_fresh(request):
        return await show(request, STALE())
    shown: list[str] = []
    await request.change(partial(second_factors.renew_recovery_codes, user_id=request.caller.account_id), _keep(shown))
    return pages.render(request, "access/recovery_codes.html", codes=shown)


async def _add(request: Request, factor: SecondFactor) -> Response:
    """Add a factor, and show the recovery codes if it is the first one."""
    shown: list[str] = []
    decide = partial(second_factors.add, factor=factor, session_id=request.caller.token_id)
    await request.change(decide, _keep(shown))
    request.services.callers.clear_cache()  # the cached callers still count as without a second factor
    return pages.render(request, "access/recovery_codes.html", codes=shown) if shown else pages.redirect(HOME)


def _keep(shown: list[str]) -> Callable[[list[str]], bytes]:
    def keep(codes: list[str]) -> bytes:
        shown[:] = codes
        return b""

    return keep


def _require_own(request: Request, ticket: credentials.Ticket) -> None:
    if ticket.user_id != request.caller.account_id:
        raise WrongSecondFactor


def _render_totp(request: Request, ticket: credentials.Ticket, sealed: str, refused: Refusal | None = None) -> Response:
    secret = ticket.value
    address = second_factors.describe_secret(request.services.keeper.settings, request.caller.name, secret)
    import segno  # noqa: PLC0415 - imported with the first QR code, so that the server starts fast

    drawn = segno.make(address, micro=False).svg_data_uri(scale=QR_SCALE, dark="#000", light="#fff")
    spaced = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    is_wrong = isinstance(refused, WrongSecondFactor)
    problem = gettext("The code is wrong. Type the code that the app shows now.") if is_wrong else ""
    return pages.render(
        request, "access/totp.html", refused, ticket=sealed, drawn=drawn, secret=spaced, problem=problem
    )


async def show(request: Request, problem: str = "", refused: Refusal | None = None) -> Response:
    me, keeper, site = request.caller.account_id, request.services.keeper, find_site(request)
    factors = await rows.read_of_user(keeper.store, me)
    fresh, check, sealed_check, sealed_set_up, set_up_options = await sessions.is_fresh(request), "", "", "", ""
    if factors:
        ticket, sealed_check = await credentials.make_ticket(keeper, credentials.PASSKEY_CHECK, me)
        check = await make_check_options(request, ticket)
    if site and fresh:
        ticket, sealed_set_up = await credentials.make_ticket(keeper, credentials.PASSKEY_SET_UP, me)
        set_up_options = second_factors.make_set_up_options(site, ticket, request.caller.name, factors)
    return pages.render(
        request,
        "access/second_factors.html",
        refused,
        factors=factors,
        codes_left=await rows.count_recovery_codes(keeper.store, me),
        fresh=fresh,
        site_problem="" if site else explain_missing_site(request),
        check_options=check,
        check_ticket=sealed_check,
        set_up_options=set_up_options,
        set_up_ticket=sealed_set_up,
        unmet_role=request.caller.unmet_role,
        problem=problem,
    )


DIALOGS = (Dialog("reset_second_factors", "Reset the second factor of %(name)s"),)
PAGES = (
    page_route(PATH, show, before_set_up=True)
    .in_menu("Second factor", OWN, 30)
    .with_help("Authenticator apps, passkeys and recovery codes that protect your account.", "second-factors"),
    page_route(f"{PATH}/totp", show_totp, before_set_up=True),
    form_route(f"{PATH}/totp", add_totp, before_set_up=True),
    form_route(f"{PATH}/passkey", add_passkey, before_set_up=True),
    form_route(f"{PATH}/codes", renew_codes),
    form_route(f"{PATH}/[factorId]/remove", remove),
)
