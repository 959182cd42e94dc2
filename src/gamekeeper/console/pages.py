"""HTML out of templates: everything is escaped, and nothing comes from elsewhere."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined

from gamekeeper.console import sessions
from gamekeeper.console.menu import MENU
from gamekeeper.console.refusals import BY_QUERY, UNSURE
from gamekeeper.console.texts import CATALOGUE, LANGUAGE, SCRIPT_TEXTS
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import errors, wire
from gamekeeper.http.instants import format_instant
from gamekeeper.http.request import Request
from gamekeeper.http.response import Header, Response

CONTENT_SECURITY_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    b"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
SEE_OTHER, NO_CONTENT = 303, 204
CONSOLE_PATH = re.compile(rf"{sessions.PATH}([/?][\x21-\x5b\x5d-\x7e]*)?")  # visible ASCII, and no backslash
JSON, HTML = b"application/json", b"text/html; charset=utf-8"
FRAGMENT = b"x-fragment"  # a script wants the middle of the page alone
CONTENT_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


def _read_static_files() -> dict[str, bytes]:
    """Read once, at start; a name in a path is looked up here and never reaches the file system."""
    folder = resources.files("gamekeeper.console") / "static"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


STATIC_FILES = _read_static_files()
TEMPLATES = Environment(
    loader=PackageLoader("gamekeeper.console"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    extensions=["jinja2.ext.i18n"],
)
TEMPLATES.policies["ext.i18n.trimmed"] = True
TEMPLATES.install_gettext_translations(CATALOGUE, newstyle=True)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] - i18n adds it


def render(request: Request, template: str, **context: object) -> Response:
    base = "fragment.html" if FRAGMENT in request.headers else "layout.html"
    text = TEMPLATES.get_template(template).render(**_shared_context(request), base=base, **context)
    return Response(text.encode(), content_type=HTML, policy=CONTENT_SECURITY_POLICY)


def answer_json(value: Mapping[str, object]) -> Response:
    """For our own scripts."""
    return Response(wire.encode(value), content_type=JSON)


def redirect(to: str, *headers: Header) -> Response:
    """After a form: what the browser reloads then is a page, not the form again."""
    return Response(status=SEE_OTHER, headers=(*headers, (b"location", to.encode())))


def with_refusal(page: Response, refusal: Refusal | None) -> Response:
    """Give a page the status and the headers of the refusal that it shows, if it shows one."""
    if refusal is None:
        return page
    return replace(page, status=errors.find_status(type(refusal)), headers=errors.make_headers(refusal))


def keep_console_path(path: str) -> str:
    """A place to go back to, if it is one of the console's own."""
    return path if CONSOLE_PATH.fullmatch(path) else sessions.PATH


def requested_path(request: Request) -> str:
    """The path and the query, as they came."""
    query = b"?" + request.raw_query if request.raw_query else b""
    return (request.raw_path.partition(b"?")[0] + query).decode("latin-1")


def wants_stream(request: Request) -> bool:
    return request.headers.get(b"accept", b"").startswith(b"text/event-stream")


def wants_json(request: Request) -> bool:
    return request.headers.get(b"accept", b"").startswith(JSON)


def render_refusal(request: Request, refusal: Refusal, back: str = "") -> Response:
    """`back`: where to, if the way back is not the usual one."""
    if wants_json(request):
        said = Response(errors.encode_body(refusal, request.id, log_in=False), content_type=JSON)
        return with_refusal(said, refusal)
    unsure, back = isinstance(refusal, UNSURE), back or _choose_back_path(request, refusal)
    return with_refusal(render(request, "refused.html", refusal=refusal, unsure=unsure, back=back), refusal)


def _shared_context(request: Request) -> dict[str, object]:
    rights = request.caller.permissions
    return {
        "me": request.caller.name,
        "my_id": request.caller.account_id,
        "rights": rights,
        "menu": [each for each in MENU if each.needs <= rights],
        "csrf": sessions.make_csrf_token(request),
        "game": request.services.keeper.settings.game_name,
        "path": request.route.path,
        "request_id": request.id,
        "place": current_path(request),
        "done_by": request.query.get("done", ""),
        "language": LANGUAGE,
        "script_texts": SCRIPT_TEXTS,
    }


def current_path(request: Request) -> str:
    """Where the browser is, to come back to."""
    if FRAGMENT in request.headers:
        return keep_console_path(request.headers.get(b"x-place", b"").decode("latin-1"))
    return keep_console_path(
        requested_path(request) if request.method == "GET" else sessions.parse_form(request.raw_body).get("back", "")
    )


def _choose_back_path(request: Request, refusal: Refusal) -> str:
    """From a page that is itself refused: to the same without its query, if it is that which was wrong."""
    here = current_path(request)
    if here != requested_path(request):
        return here
    path, query, _ = here.partition("?")
    return path if query and isinstance(refusal, BY_QUERY) else sessions.PATH


def _format_instant(milliseconds: int | None) -> str:
    return "" if milliseconds is None else format_instant(milliseconds)


def format_time(text: str) -> str:
    """A moment as people read it, in UTC; a script adds the reader's own time."""
    return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if text else ""


def _format_json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _format_number(number: int) -> str:
    return f"{number:,}"


TEMPLATES.filters.update(when=_format_instant, clock=format_time, pretty=_format_json, grouped=_format_number)
