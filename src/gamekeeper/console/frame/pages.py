"""Render the console's pages from templates, and make its other responses. Pages load nothing from other hosts."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlencode, urlsplit

from msgspec import structs

from gamekeeper.console.frame import menu, sessions, texts
from gamekeeper.console.frame.refusals import BY_QUERY, UNSURE, NoSuchPage
from gamekeeper.console.frame.texts import LANGUAGE, LANGUAGES, describe_refusal, gettext
from gamekeeper.game.core import values
from gamekeeper.game.core.refusals import BadField, Refusal
from gamekeeper.http.contract import shapes
from gamekeeper.http.server import dispatcher, errors
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Header, Response

if TYPE_CHECKING:
    from gamekeeper.console.frame.templates import ConsoleEnvironment

T = TypeVar("T")


CONTENT_SECURITY_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
MACROS = {"ui": "frame/macros.html", "list": "frame/list_page.html", "deeds": "frame/moderation.html"}
SEE_OTHER, NO_CONTENT = 303, 204
SIGN_IN = "/console/sign-in"
# Paths of the console: visible ASCII without the backslash, which browsers treat as a slash.
CONSOLE_PATH = re.compile(rf"{sessions.PATH}([/?][\x21-\x5b\x5d-\x7e]*)?")
JSON, HTML = b"application/json", b"text/html; charset=utf-8"
UNDO_FIRST = re.compile(r"undo\schange\s(\d+)\sfirst", re.ASCII)  # in the message of a refused undo
# request header of a page that updates itself: like an event stream, it is no use of the session
UPDATE = b"x-update"
FRAGMENT = b"x-fragment"  # request header of the console's scripts: return the page's content without the layout


class FormToken(str):
    """The CSRF token of a page's forms. It also knows the viewer, so that forms which would be refused are left out."""

    __slots__ = ("request",)
    request: Request

    @classmethod
    def from_request(cls, request: Request) -> "FormToken":
        token = cls(sessions.make_csrf_token(request))
        token.request = request
        return token

    def allows(self, method: str, path: str) -> bool:
        """Tell whether the viewer may call an operation. A path that a field of the form completes is allowed."""
        try:
            route, _ = self.request.services.router.find(method, path.encode())
        except (errors.NoSuchRoute, errors.MethodNotAllowed):
            return True
        return dispatcher.may_call(self.request.caller, route)


def get_environment() -> "ConsoleEnvironment":
    """Return the environment of the templates in the language of the page."""
    from gamekeeper.console.frame.templates import ENVIRONMENTS  # noqa: PLC0415 - servers start faster without Jinja

    return ENVIRONMENTS[LANGUAGE.get()]


def render(request: Request, template: str, refused: Refusal | None = None, /, **context: object) -> Response:
    """Render a page. Every page has the macros of the frame, as `ui`, `list` and `deeds`.

    `refused`: a refusal that the page shows, unless `problem` has other words for it; it decides the status.
    """
    base = "frame/fragment.html" if FRAGMENT in request.headers else "frame/layout.html"
    language = LANGUAGE.get()
    environment = get_environment()
    macros = {name: environment.get_template(file).module for name, file in MACROS.items()}
    problem = context.get("problem") or (describe_refusal(refused) if refused else "")
    shown = {"base": base, **context, "problem": problem}
    text = environment.get_template(template).render(_make_shared_context(request) | macros | shown)
    headers = ((b"content-language", language.encode()),)
    page = Response(text.encode(), headers=headers, content_type=HTML, policy=CONTENT_SECURITY_POLICY)
    return with_refusal(page, refused)


def get_shared(request: Request, kind: type[T]) -> T:
    """Return the object of this class that all viewers share in this process. `app.py` makes these objects.

    Without OpenID Connect there is no `Provider`, and no page that needs it.
    """
    shared = cast("Mapping[type, Any]", request.services.live)
    if kind not in shared:
        raise NoSuchPage
    return shared[kind]


def render_sign_in(request: Request, template: str, to: str, refused: Refusal | None, /, **context: object) -> Response:
    """Render a step of the sign-in that answers a form or a provider. `to`: the page that the sign-in leads to.

    A switch of the language cannot repeat such a request. It leads to the start of the sign-in, with the same target.
    """
    place = f"{SIGN_IN}?{urlencode({'next': to})}"
    return render(request, template, refused, to=to, place=place, **context)


def answer_json(value: Mapping[str, object]) -> Response:
    """Make a JSON response, for the console's scripts."""
    return Response(shapes.encode(value), content_type=JSON)


def redirect(to: str, *headers: Header) -> Response:
    """Redirect with status 303 after a form, so that a reload does not send the form again."""
    return Response(status=SEE_OTHER, headers=(*headers, (b"location", to.encode())))


def with_refusal(page: Response, refusal: Refusal | None) -> Response:
    """Give a page the status and the headers of the refusal that it shows, if it shows one."""
    if refusal is None:
        return page
    headers = (*page.headers, *errors.make_headers(refusal))
    return structs.replace(page, status=errors.find_status(type(refusal)), headers=headers)


def add_headers(page: Response, *headers: Header) -> Response:
    return structs.replace(page, headers=(*headers, *page.headers))


def keep_console_path(path: str) -> str:
    """Return the path if it belongs to the console, else the overview's path. Prevents redirects to other sites."""
    return path if CONSOLE_PATH.fullmatch(path) else sessions.PATH


def read_requested_path(request: Request) -> str:
    """Return the requested path with its query, still percent-encoded."""
    query = b"?" + request.raw_query if request.raw_query else b""
    return (request.raw_path.partition(b"?")[0] + query).decode("latin-1")


def wants_stream(request: Request) -> bool:
    return request.headers.get(b"accept", b"").startswith(b"text/event-stream")


def wants_json(request: Request) -> bool:
    return request.headers.get(b"accept", b"").startswith(JSON)


def render_refusal(
    request: Request, refusal: Refusal, back: str = "", online: Sequence[tuple[str, str]] = ()
) -> Response:
    """Render a rejection as a page, or as JSON for scripts.

    `back`: target of the link back, if not the usual one. `online`: ids and names of players who must leave first.
    """
    texts.use_language(request)  # a request that failed before its handler ran has no language yet
    if wants_json(request):
        refusal.message = describe_refusal(refusal)
        said = Response(errors.encode_body(refusal, request.id, log_in=False), content_type=JSON)
        return with_refusal(said, refusal)
    first = UNDO_FIRST.search(refusal.message)
    return render(
        request,
        "frame/refusal.html",
        refusal,
        refusal=refusal,
        unsure=isinstance(refusal, UNSURE),
        back=back or _choose_back_path(request, refusal),
        undo_first=first[1] if first else "",
        online=online,
        hint=_find_setting(request, refusal),
    )


def _describe_names(request: Request) -> str:
    """Describe which names new and renamed players and accounts may have."""
    pattern = request.services.keeper.settings.name_pattern
    if (rule := values.explain_name_pattern(pattern)) == values.UNEXPLAINED:
        return gettext("A name must match the pattern %(pattern)s.", pattern=pattern)
    return gettext("A name %(rule)s.", rule=texts.translate_message(rule))


def _find_setting(request: Request, refusal: Refusal) -> str:
    """Tell people who manage staff which setting a refusal comes from; return an empty text to others."""
    rule = values.explain_name_pattern(request.services.keeper.settings.name_pattern)
    if not isinstance(refusal, BadField) or rule not in refusal.message or not request.caller.permissions >= menu.STAFF:
        return ""
    return gettext(
        "The setting GAMEKEEPER_NAME_PATTERN of the server decides it. For example, %(pattern)s allows letters of "
        "every alphabet.",
        pattern=r"\w{2,20}",
    )


def _make_shared_context(request: Request) -> dict[str, object]:
    rights = request.caller.permissions
    return {
        "me": request.caller.name,
        "my_id": request.caller.account_id,
        "rights": rights,
        "menu": menu.list_groups(rights),
        "current": menu.find_current(request.route.path),
        "help": menu.HELP().get(request.route.path) or menu.ANY_PAGE.translate(),
        "csrf": FormToken.from_request(request),
        "provider": urlsplit(request.services.keeper.settings.oidc_issuer).netloc,  # empty: no OpenID Connect
        "game": request.services.keeper.settings.game_name,
        "name_rule": _describe_names(request),
        "path": request.route.path,
        "request_id": request.id,
        "place": find_current_path(request),
        "done_by": request.query.get("done", ""),
        "language": LANGUAGE.get(),
        "languages": LANGUAGES,
        "script_texts": texts.load_script_texts(LANGUAGE.get()),
    }


def find_current_path(request: Request) -> str:
    """Return the path of the page that the browser shows, as the target of links back to it."""
    if FRAGMENT in request.headers:
        return keep_console_path(request.headers.get(b"x-place", b"").decode("latin-1"))
    return keep_console_path(
        read_requested_path(request)
        if request.method == "GET"
        else sessions.parse_form(request.raw_body).get("back", "")
    )


def _choose_back_path(request: Request, refusal: Refusal) -> str:
    """Return the target of the link back. If the shown page itself was rejected for its query, drop the query."""
    here = find_current_path(request)
    if here != read_requested_path(request):
        return here
    path, query, _ = here.partition("?")
    return path if query and isinstance(refusal, BY_QUERY) else sessions.PATH
