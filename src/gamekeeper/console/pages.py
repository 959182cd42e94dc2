"""All routes of the console: those of the rooms, and those that belong to no room."""

from gamekeeper.console.frame import documents, list_page, pages, sessions, static_files, texts
from gamekeeper.console.frame.menu import PageRoute, list_pages
from gamekeeper.console.frame.routes import ROOT, form_route, open_route, page_route
from gamekeeper.console.frame.texts import LANGUAGES, gettext
from gamekeeper.game.core.refusals import BadField
from gamekeeper.http.contract.operation import NO_TOKEN, READ, REVALIDATED
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response

YEAR_SECONDS = 365 * 24 * 3600


async def redirect_to_console(_: Request) -> Response:
    """Redirect from `/` to the console."""
    return pages.redirect(ROOT)


async def switch_language(request: Request, raw: bytes) -> Response:
    """Store the chosen language in a cookie, and return to the page. It needs no session: the sign-in page has it."""
    fields = sessions.verify_form(request, raw)
    language = fields.get("language", "")
    if language not in LANGUAGES:
        raise BadField(field="language", problem=gettext("must be one of %(names)s", names=", ".join(LANGUAGES)))
    secure = "; Secure" if request.over_tls else ""
    name = texts.LANGUAGE_COOKIE.decode()
    cookie = f"{name}{language}; Path={sessions.PATH}; Max-Age={YEAR_SECONDS}; HttpOnly; SameSite=Lax{secure}"
    return pages.redirect(pages.keep_console_path(fields.get("back", "")), (b"set-cookie", cookie.encode()))


PAGES = (
    PageRoute(method="GET", path="/", permissions=NO_TOKEN, access=READ, handler=redirect_to_console),
    open_route("POST", "/language", READ, switch_language, body=bytes),
    open_route("GET", "/static/[file]", READ, static_files.serve, cache=REVALIDATED),
    open_route("GET", "/static/[version]/[file]", READ, static_files.serve_version, cache=REVALIDATED),
    page_route("/documents", documents.show_list),
    page_route("/documents/[document]", documents.show),
    form_route("/views", list_page.save_view),
    form_route("/views/[view]/[viewAct]", list_page.change_view),
    *list_pages(),
)
