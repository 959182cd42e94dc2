"""The switch of the console's language, in the menu of the own name and on the sign-in page."""

from gamekeeper.console.frame import pages, sessions, texts
from gamekeeper.console.frame.texts import LANGUAGES, gettext
from gamekeeper.game.core.refusals import BadField
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response

YEAR_SECONDS = 365 * 24 * 3600


async def switch(request: Request, raw: bytes) -> Response:
    """Store the chosen language in a cookie, and return to the page. It needs no session: the sign-in page has it."""
    fields = sessions.verify_form(request, raw)
    language = fields.get("language", "")
    if language not in LANGUAGES:
        raise BadField(field="language", problem=gettext("must be one of %(names)s", names=", ".join(LANGUAGES)))
    secure = "; Secure" if request.over_tls else ""
    name = texts.LANGUAGE_COOKIE.decode()
    cookie = f"{name}{language}; Path={sessions.PATH}; Max-Age={YEAR_SECONDS}; HttpOnly; SameSite=Lax{secure}"
    return pages.redirect(pages.keep_console_path(fields.get("back", "")), (b"set-cookie", cookie.encode()))
