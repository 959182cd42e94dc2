"""The page of the security log: a filtered list of events, newest first."""

from collections.abc import Mapping

import msgspec

from gamekeeper.console.frame import formats, list_page, pages
from gamekeeper.console.frame.menu import ADMINISTRATION, SECURITY
from gamekeeper.console.frame.routes import page_route
from gamekeeper.console.frame.texts import PerLanguage, gettext
from gamekeeper.game.access import security_log
from gamekeeper.game.access.security_log import EventPage
from gamekeeper.game.core import lookup
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.http.access.credential_shapes import SecurityQuery
from gamekeeper.http.server import queries
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access.security_log import SecurityFilter, SecurityRow

EVENTS_PER_PAGE = 50
FIELDS = ("user", "kind", "from", "to")
KIND_NAMES = PerLanguage(
    lambda: {
        "sign_in": gettext("Sign-in"),
        "guess_failed": gettext("Failed guess"),
        "guess_refused": gettext("Refused guess"),
        "token_issued": gettext("Token issued"),
        "token_reused": gettext("Refresh token reused"),
        "token_revoked": gettext("Token revoked"),
        "tokens_revoked": gettext("Tokens revoked"),
        "key_created": gettext("API key created"),
        "key_rotated": gettext("API key rotated"),
        "key_changed": gettext("API key changed"),
        "key_revoked": gettext("API key revoked"),
        "new_address": gettext("New address"),
        "many_addresses": gettext("Many addresses"),
        "password_changed": gettext("Password changed"),
        "second_factors_changed": gettext("Second factor changed"),
        "second_factors_reset": gettext("Second factor reset"),
        "identities_changed": gettext("Linked sign-in changed"),
        "oidc_refused": gettext("OpenID Connect sign-in refused"),
        "roles_kept": gettext("Roles kept"),
        "recovery_code_used": gettext("Recovery code used"),
        "roles_changed": gettext("Roles changed"),
        "approval_requested": gettext("Approval requested"),
        "approval_granted": gettext("Approval granted"),
        "approval_denied": gettext("Approval denied"),
        "person_exported": gettext("Data of a person exported"),
        "role_edited": gettext("Role edited"),
    }
)

# details that are true or false, in lower case; only those that are true are shown
FACTS = PerLanguage[Mapping[str, str]](
    lambda: {
        "session": gettext("In the console"),
        "sessions": gettext("Only sessions of the console"),
        "readonly": gettext("Read only"),
        "secondfactor": gettext("With a second factor"),
        "deleted": gettext("Deleted"),
    }
)
# values of details that are words of ours
WORDS = PerLanguage[Mapping[str, str]](lambda: {security_log.COMMAND_LINE: gettext("command line")})
DETAIL_NAMES = PerLanguage[Mapping[str, str]](
    lambda: {  # field of the details in lower case → its label
        "count": gettext("Times"),
        "by": gettext("By"),
        "given": gettext("Given"),
        "taken": gettext("Taken"),
        "before": gettext("Before"),
        "after": gettext("After"),
        "role": gettext("Role"),
        "added": gettext("Added"),
        "removed": gettext("Removed"),
        "changed": gettext("Changed"),
        "approvalid": gettext("Approval"),
        "rule": gettext("Rule"),
        "kept": gettext("Kept"),
    }
)


async def show(request: Request) -> Response:
    """Show the list of events. An error in the filter is shown beside the filter, so that it can be corrected."""
    sought = {name: request.query.get(name, "").strip() for name in FIELDS}
    page, refused = EventPage([], None), None
    try:
        query = queries.decode(SecurityQuery, sought | {"user": "", "before": request.query.get("before", "")})
        user = await lookup.find_user(request.services.keeper.store, sought["user"]) if sought["user"] else None
        wanted = SecurityFilter(user.id if user else None, query.kind or None, query.since, query.to)
        page = await request.services.keeper.store.read(
            lambda tx: security_log.load_page(tx, wanted, query.before, EVENTS_PER_PAGE)
        )
    except Refusal as refusal:
        refused = refusal
    return pages.render(
        request,
        "access/security_log.html",
        refused,
        sought=sought,
        kinds=KIND_NAMES(),
        entries=page.events,
        **list_page.link_by_time(request, page.next),
    )


def name_kind(kind: str) -> str:
    """Return the name of a kind of event; that of a newer version is shown as it is stored."""
    return KIND_NAMES().get(kind, kind.replace("_", " "))


def _describe(event: SecurityRow) -> str:
    """Describe the details of an event in one line, such as `Given: moderator`. Empty values are left out."""
    found: dict[str, object] = msgspec.json.decode(event.details) if event.details else {}
    return "; ".join(_describe_detail(name, value) for name, value in found.items() if value not in (False, None, []))


def _describe_detail(name: str, value: object) -> str:
    label = DETAIL_NAMES().get(name.lower(), name)
    if value is True:
        return FACTS().get(name.lower(), label)
    if isinstance(value, list):
        return f"{label}: {', '.join(map(str, value))}"  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - any JSON
    text = str(value)
    return f"{label}: {WORDS().get(text, text)}"


formats.FILTERS.update(event_kind=name_kind, event_details=_describe)
PAGES = (
    page_route("/security", show, SECURITY)
    .in_menu("Security log", ADMINISTRATION, 50, "security")
    .with_help("Sign-ins, failed guesses, and changes of tokens, keys, roles and second factors.", "security-log"),
)
