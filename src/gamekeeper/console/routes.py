"""The table of the console's routes: one row per page and form, with the permissions that it needs."""

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from gamekeeper.console import (
    account,
    accounts,
    actions,
    activity_page,
    api_keys,
    approvals,
    boards,
    bulk,
    catalogue,
    changes,
    deliveries,
    documents,
    economy,
    events,
    explorer,
    gifts,
    guilds,
    health,
    invitation,
    languages,
    linked_sign_ins,
    live,
    mail,
    notes,
    oidc,
    oidc_callback,
    online,
    overview,
    pages,
    password,
    pasted_secrets,
    pictures,
    player,
    players,
    ranked_variables,
    ranking,
    roles,
    saved_views,
    search,
    second_factor,
    second_step,
    security,
    server_variables,
    sessions,
    sign_in,
    signals,
    staff,
    static_files,
    suggestions,
    tokens,
)
from gamekeeper.console.language_choice import use_language
from gamekeeper.console.menu import (
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
from gamekeeper.console.refusals import SignInFirst
from gamekeeper.http.bulk import LARGE_BODY
from gamekeeper.http.operation import NO_STORE, NO_TOKEN, READ, REVALIDATED, WRITE, Access, Cache, Route
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.oidc import configuration

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
            return second_factor.redirect_to_set_up(request)
        request.caller.require(needs)
        if request.method == "GET" and any(map(pasted_secrets.is_secret, request.query.values())):
            return pages.redirect(pasted_secrets.EXPLANATION)  # takes it out of the address
        return await handler(request, *body)

    return handle_with_session


# what a session can do before its account has set up the second factor that a role requires
BEFORE_SET_UP = frozenset(
    ROOT + each
    for each in (
        second_factor.PATH,
        f"{second_factor.PATH}/totp",
        f"{second_factor.PATH}/passkey",
        "/sign-out",
        "/me/password",
    )
)


async def redirect_to_console(_: Request) -> Response:
    """Redirect from `/` to the console."""
    return pages.redirect(ROOT)


# an open event stream does not count as use of the session: it does not delay the idle timeout; nor do open lists
FOLLOW_EVENTS = _require_session(events.follow, NO_PERMISSIONS, used=False)

# fmt: off - keep each route on one line
PAGES: tuple[Route, ...] = (
    _route("GET", "/", READ, redirect_to_console),
    _route("GET", f"{ROOT}/sign-in", READ, sign_in.show),
    _route("POST", f"{ROOT}/sign-in", WRITE, sign_in.sign_in, body=bytes),
    _route("POST", f"{ROOT}/sign-in/second", WRITE, second_step.sign_in, body=bytes),
    _route("GET", f"{ROOT}/sign-in/oidc", READ, oidc.start),
    _route("POST", f"{ROOT}/language", READ, languages.switch, body=bytes),
    _route("GET", configuration.CALLBACK, WRITE, oidc_callback.finish),
    _route("GET", f"{ROOT}/static/[file]", READ, static_files.serve, cache=REVALIDATED),
    _route("GET", f"{ROOT}/static/[version]/[file]", READ, static_files.serve_version, cache=REVALIDATED),
    _route("GET", f"{ROOT}/events", READ, FOLLOW_EVENTS),
    _route("GET", f"{ROOT}/pictures/[picture]", READ, _require_session(pictures.serve, PLAYERS, used=False)),
    _route("GET", f"{ROOT}/live/characters", READ, _require_session(players.show, PLAYERS, used=False)),
    _route("GET", f"{ROOT}/live/accounts", READ, _require_session(accounts.show, QUERY, used=False)),
    page_route("", overview.show),
    page_route("/health", health.show),
    form_route("/health/examine", health.start_doctor, MANAGE),
    page_route("/sign-out", sign_in.confirm_sign_out),
    form_route("/sign-out", sign_in.sign_out),
    form_route("/act", actions.act),
    page_route("/done/[requestId]", actions.show_done),
    page_route("/players/[lookupKey]", player.show, PLAYERS),
    page_route("/players/[lookupKey]/version", live.show, PLAYERS),
    page_route("/suggest/[kind]", suggestions.show, PLAYERS),
    page_route("/changes", changes.show, CHANGES),
    page_route("/changes/file", changes.export, CHANGES),
    page_route("/changes/[seq]", changes.show_change, CHANGES),
    page_route("/approvals", approvals.show, APPROVALS),
    page_route("/signals", signals.show, CHANGES),
    page_route("/signals/[signal]", signals.show_signal, CHANGES),
    page_route("/deliveries", deliveries.show, SECURITY),
    page_route("/security", security.show, SECURITY),
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
    page_route("/activity", activity_page.show, PLAYERS),
    page_route("/economy", economy.show, PLAYERS),
    page_route("/economy/gifts", gifts.show, PLAYERS | {gifts.NEEDED}),
    page_route("/economy/variables/[variableId]", ranked_variables.show, PLAYERS),
    page_route("/items/[itemId]", economy.show_item, PLAYERS),
    page_route("/variables", server_variables.show, PLAYERS),
    form_route("/views", saved_views.save),
    form_route("/views/[view]/[viewAct]", saved_views.change),
    page_route("/bulk", bulk.show, BULK),
    form_route("/bulk", bulk.create, BULK, body_limit=LARGE_BODY),
    page_route("/bulk/[job]", bulk.show_job, PLAYERS),
    page_route("/bulk/[job]/file", bulk.export, BULK),
    form_route("/bulk/[job]/[bulkAct]", bulk.act, BULK),
    page_route("/me", account.show_own),
    page_route("/me/password", password.show),
    form_route("/me/password", password.change),
    page_route(second_factor.PATH, second_factor.show),
    page_route(f"{second_factor.PATH}/totp", second_factor.show_totp),
    form_route(f"{second_factor.PATH}/totp", second_factor.add_totp),
    form_route(f"{second_factor.PATH}/passkey", second_factor.add_passkey),
    form_route(f"{second_factor.PATH}/codes", second_factor.renew_codes),
    form_route(f"{second_factor.PATH}/[factorId]/remove", second_factor.remove),
    page_route(linked_sign_ins.PATH, linked_sign_ins.show),
    page_route(f"{linked_sign_ins.PATH}/link", linked_sign_ins.start),
    form_route(f"{linked_sign_ins.PATH}/[identityId]/remove", linked_sign_ins.remove),
    page_route("/accounts/[lookupKey]", account.show, QUERY),
    page_route("/accounts/[lookupKey]/file", account.export, frozenset({"people.export"})),
    _route("GET", f"{ROOT}/invitation", READ, invitation.show),
    _route("POST", f"{ROOT}/invitation", WRITE, invitation.accept, body=bytes),
    page_route("/staff", staff.show, STAFF),
    page_route("/roles", roles.show, STAFF),
    page_route("/roles/[role]", roles.show_role, STAFF),
    page_route("/tokens", tokens.show, MANAGE),
    _route("POST", f"{ROOT}/tokens", READ, _require_session(tokens.filter_, MANAGE), body=bytes),
    page_route("/keys", api_keys.show, KEYS),
    page_route("/mail", mail.show, MANAGE),
    page_route("/notes", notes.show, frozenset({notes.NEEDED})),
    page_route("/documents", documents.show_list),
    page_route("/documents/[document]", documents.show),
    page_route("/explorer", explorer.show),
    form_route("/explorer/run", explorer.run),
)
# fmt: on
