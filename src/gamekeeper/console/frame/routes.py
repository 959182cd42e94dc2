"""The table of the console's routes: one row per page and form, with the permissions that it needs."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from gamekeeper.console.access import api_keys, oidc, passwords, roles, second_factors, security_log, sign_in, tokens
from gamekeeper.console.accounts import accounts, mails, notes, registrations
from gamekeeper.console.audit import actions, approvals, bulk_jobs, explorer, history
from gamekeeper.console.frame import documents, language_switch, pages, saved_views, sessions, static_files
from gamekeeper.console.frame.menu import (
    APPROVALS,
    BULK,
    CHANGES,
    KEYS,
    MANAGE,
    NO_PERMISSIONS,
    PLAYERS,
    QUERY,
    SECURITY,
    STAFF,
)
from gamekeeper.console.frame.refusals import SignInFirst
from gamekeeper.console.frame.texts import use_language
from gamekeeper.console.insight import activity, boards, economy, health, home, signals
from gamekeeper.console.lists import ranking, search
from gamekeeper.console.players import items, live, online, player, players
from gamekeeper.console.world import catalogue, deliveries, guilds
from gamekeeper.http.access import oidc_settings
from gamekeeper.http.audit.bulk_jobs import LARGE_BODY
from gamekeeper.http.contract.operation import NO_STORE, NO_TOKEN, READ, REVALIDATED, WRITE, Access, Cache, Route
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response

Handler = Callable[..., Coroutine[Any, Any, Response]]
ROOT = sessions.PATH


def _route(
    method: str,
    path: str,
    access: Access,
    handler: Handler,
    *,
    body: type[bytes] | None = None,
    body_limit: int = 0,
    cache: Cache = NO_STORE,
) -> Route:
    """Make a route without the API's token check: the console checks its session cookie itself."""
    return Route(
        method=method,
        path=path,
        permissions=NO_TOKEN,
        access=access,
        handler=handler if cache is REVALIDATED else _in_language(handler),
        body=body,
        body_limit=body_limit,
        cache=cache,
    )


def _in_language(handler: Handler) -> Handler:
    """Wrap a handler so that its texts are in the language of the request."""

    @wraps(handler)
    async def handle_in_language(request: Request, *body: bytes) -> Response:
        use_language(request)
        return await handler(request, *body)

    return handle_in_language


def page_route(path: str, show: Handler, needs: frozenset[str] = NO_PERMISSIONS) -> Route:
    return _route("GET", ROOT + path, READ, _require_session(show, needs))


def form_route(path: str, act: Handler, needs: frozenset[str] = NO_PERMISSIONS, *, body_limit: int = 0) -> Route:
    return _route("POST", ROOT + path, WRITE, _require_session(act, needs), body=bytes, body_limit=body_limit)


def _require_session(handler: Handler, needs: frozenset[str], *, used: bool = True) -> Handler:
    """Wrap a handler so that it requires a session and these permissions.

    `used`: whether the request counts as use of the session, which delays its idle timeout.
    """

    @wraps(handler)
    async def handle_with_session(request: Request, *body: bytes) -> Response:
        try:
            await sessions.authenticate(request, used=used and pages.UPDATE not in request.headers)
        except SignInFirst:
            if pages.wants_json(request):
                raise
            if pages.wants_stream(request):  # status 204 ends an event stream; the browser does not reconnect
                return Response(status=pages.NO_CONTENT)
            return sign_in.redirect_to_sign_in(request)
        if request.caller.unmet_role and request.route.path not in BEFORE_SET_UP:
            return second_factors.redirect_to_set_up(request)
        request.caller.require(needs)
        if request.method == "GET" and any(map(tokens.is_secret, request.query.values())):
            return pages.redirect(tokens.EXPLANATION)  # takes it out of the address
        return await handler(request, *body)

    return handle_with_session


# what a session can do before its account has set up the second factor that a role requires
BEFORE_SET_UP = frozenset(
    ROOT + each
    for each in (
        second_factors.PATH,
        f"{second_factors.PATH}/totp",
        f"{second_factors.PATH}/passkey",
        "/sign-out",
        "/me/password",
    )
)


async def redirect_to_console(_: Request) -> Response:
    """Redirect from `/` to the console."""
    return pages.redirect(ROOT)


# an open event stream does not count as use of the session: it does not delay the idle timeout; nor do open lists
FOLLOW_EVENTS = _require_session(home.follow, NO_PERMISSIONS, used=False)

# fmt: off - keep each route on one line
PAGES: tuple[Route, ...] = (
    _route("GET", "/", READ, redirect_to_console),
    _route("GET", f"{ROOT}/sign-in", READ, sign_in.show),
    _route("POST", f"{ROOT}/sign-in", WRITE, sign_in.sign_in, body=bytes),
    _route("POST", f"{ROOT}/sign-in/second", WRITE, sign_in.sign_in_with_factor, body=bytes),
    _route("GET", f"{ROOT}/sign-in/oidc", READ, oidc.start),
    _route("POST", f"{ROOT}/language", READ, language_switch.switch, body=bytes),
    _route("GET", oidc_settings.CALLBACK, WRITE, oidc.finish),
    _route("GET", f"{ROOT}/static/[file]", READ, static_files.serve, cache=REVALIDATED),
    _route("GET", f"{ROOT}/static/[version]/[file]", READ, static_files.serve_version, cache=REVALIDATED),
    _route("GET", f"{ROOT}/events", READ, FOLLOW_EVENTS),
    _route("GET", f"{ROOT}/pictures/[picture]", READ, _require_session(items.serve_picture, PLAYERS, used=False)),
    _route("GET", f"{ROOT}/live/characters", READ, _require_session(players.show, PLAYERS, used=False)),
    _route("GET", f"{ROOT}/live/accounts", READ, _require_session(accounts.show, QUERY, used=False)),
    page_route("", home.show),
    page_route("/health", health.show),
    form_route("/health/examine", health.start_doctor, MANAGE),
    page_route("/sign-out", sign_in.confirm_sign_out),
    form_route("/sign-out", sign_in.sign_out),
    form_route("/act", actions.act),
    page_route("/done/[requestId]", actions.show_done),
    page_route("/players/[lookupKey]", player.show, PLAYERS),
    page_route("/players/[lookupKey]/version", live.show, PLAYERS),
    page_route("/suggest/[kind]", search.suggest_entries, PLAYERS),
    page_route("/changes", history.show, CHANGES),
    page_route("/changes/file", history.export, CHANGES),
    page_route("/changes/[seq]", history.show_change, CHANGES),
    page_route("/approvals", approvals.show, APPROVALS),
    page_route("/signals", signals.show, CHANGES),
    page_route("/signals/[signal]", signals.show_signal, CHANGES),
    page_route("/deliveries", deliveries.show, SECURITY),
    page_route("/security", security_log.show, SECURITY),
    page_route("/search", search.show, PLAYERS),
    _route("POST", f"{ROOT}/search", READ, _require_session(search.submit, PLAYERS), body=bytes),
    _route("POST", f"{ROOT}/suggest", READ, _require_session(search.suggest, PLAYERS), body=bytes),
    page_route("/characters", players.show, PLAYERS),
    page_route("/ranking", ranking.show, PLAYERS),
    page_route("/online", online.show, PLAYERS),
    page_route("/boards", boards.show, PLAYERS),
    page_route("/boards/[board]", boards.show_board, PLAYERS),
    page_route("/guilds", guilds.show_list, PLAYERS),
    page_route("/guilds/[guild]", guilds.show_guild, PLAYERS),
    page_route("/accounts", accounts.show, QUERY),
    page_route("/catalogue", catalogue.show, PLAYERS),
    page_route("/activity", activity.show, PLAYERS),
    page_route("/economy", economy.show, PLAYERS),
    page_route("/economy/gifts", economy.show_gifts, PLAYERS | {economy.GIFTS_NEEDED}),
    page_route("/economy/variables/[variableId]", ranking.show_variable, PLAYERS),
    page_route("/items/[itemId]", economy.show_item, PLAYERS),
    page_route("/variables", catalogue.show_server_variables, PLAYERS),
    form_route("/views", saved_views.save),
    form_route("/views/[view]/[viewAct]", saved_views.change),
    page_route("/bulk", bulk_jobs.show, BULK),
    form_route("/bulk", bulk_jobs.create, BULK, body_limit=LARGE_BODY),
    page_route("/bulk/[job]", bulk_jobs.show_job, PLAYERS),
    page_route("/bulk/[job]/file", bulk_jobs.export, BULK),
    form_route("/bulk/[job]/[bulkAct]", bulk_jobs.act, BULK),
    page_route("/me", accounts.show_own),
    page_route("/me/password", passwords.show),
    form_route("/me/password", passwords.change),
    page_route(second_factors.PATH, second_factors.show),
    page_route(f"{second_factors.PATH}/totp", second_factors.show_totp),
    form_route(f"{second_factors.PATH}/totp", second_factors.add_totp),
    form_route(f"{second_factors.PATH}/passkey", second_factors.add_passkey),
    form_route(f"{second_factors.PATH}/codes", second_factors.renew_codes),
    form_route(f"{second_factors.PATH}/[factorId]/remove", second_factors.remove),
    page_route(oidc.PATH, oidc.show),
    page_route(f"{oidc.PATH}/link", oidc.start_linking),
    form_route(f"{oidc.PATH}/[identityId]/remove", oidc.remove_identity),
    page_route("/accounts/[lookupKey]", accounts.show_account, QUERY),
    page_route("/accounts/[lookupKey]/file", accounts.export_account, frozenset({"people.export"})),
    _route("GET", f"{ROOT}/invitation", READ, registrations.show_invitation),
    _route("POST", f"{ROOT}/invitation", WRITE, registrations.accept_invitation, body=bytes),
    page_route("/staff", roles.show_staff, STAFF),
    page_route("/roles", roles.show, STAFF),
    page_route("/roles/[role]", roles.show_role, STAFF),
    page_route("/tokens", tokens.show, MANAGE),
    _route("POST", f"{ROOT}/tokens", READ, _require_session(tokens.filter_, MANAGE), body=bytes),
    page_route("/keys", api_keys.show, KEYS),
    page_route("/mail", mails.show, MANAGE),
    page_route("/notes", notes.show, frozenset({notes.NEEDED})),
    page_route("/documents", documents.show_list),
    page_route("/documents/[document]", documents.show),
    page_route("/explorer", explorer.show),
    form_route("/explorer/run", explorer.run),
)
# fmt: on
