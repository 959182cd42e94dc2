"""The page that lists accounts: all, or those that match a filter by state, role, last sign-in and text."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from gamekeeper.console import lists, pages, saved_views
from gamekeeper.console.account import PERMISSION_LABELS
from gamekeeper.console.formats import format_date
from gamekeeper.console.lists import Chip, ListFilter
from gamekeeper.console.menu import SECURITY
from gamekeeper.console.texts import PerLanguage, gettext
from gamekeeper.game import account_filters, lookup
from gamekeeper.game.accounts import FLAGS
from gamekeeper.game.search import MAX_MATCHES
from gamekeeper.http import account_filters as operations
from gamekeeper.http import queries
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.http.wire.account_filters import AccountConditions
from gamekeeper.store import moderation, roles
from gamekeeper.store.moderation import ImposedPenalty
from gamekeeper.store.search import PART_LETTERS
from gamekeeper.store.users import User

STATE_LABELS = PerLanguage(
    lambda: {"banned": gettext("banned"), "muted": gettext("muted"), "powers": gettext("with permissions")}
)
PENALTY_READERS = {"banned": moderation.find_bans, "muted": moderation.find_mutes}
FROM, TO = "signedinfrom", "signedinto"
FURTHER = ("role", FROM, TO)  # query parameters of the further conditions


class AccountFilterForm(NamedTuple):
    given: Mapping[str, str]
    choice: ListFilter  # the state
    roles: Sequence[str]
    has_times: bool  # whether the viewer may know when somebody signed in
    chips: Sequence[Chip]
    everything: str  # address of the list without conditions

    @property
    def has_further(self) -> bool:
        return any(name in self.given for name in FURTHER)


async def show(request: Request) -> Response:
    if to := lists.find_jump(request):
        return pages.redirect(to)
    request = _normalize(request)
    choice = lists.read_filter(request, "state", STATE_LABELS())
    conditions = msgspec.structs.replace(
        queries.decode(AccountConditions, {name: request.query.get(name, "") for name in FURTHER}),
        state=choice.chosen,
    )
    sorts = account_filters.make_sorts(operations.read_filter(request, conditions))
    users, beside = await lists.search_list(request, sorts)
    return pages.render(
        request,
        "accounts.html",
        accounts=[(user, list_permissions(user)) for user in users],
        filters=await _make_form(request, choice),
        choice=choice,
        imposed=await _find_penalties(request, choice.chosen, users),
        signed_in=await operations.load_last_sign_ins(request, [each.id for each in users]),
        newest=lists.build_url(request, sortby="", sortdirection="", page="") if beside["kept"] else "",
        has_newest=account_filters.NEWEST in sorts,
        most=MAX_MATCHES,
        views=await saved_views.load(request, "accounts"),
        **beside,
    )


def list_permissions(user: User) -> list[str]:
    """Return the names of an account's roles and of its directly granted permissions."""
    flags = [title for name, (title, _) in PERMISSION_LABELS().items() if getattr(user.powers, FLAGS[name])]
    return [*user.grants.roles, *flags, *sorted(user.grants.direct)]


def _normalize(request: Request) -> Request:
    """Return the request without empty conditions, and with times instead of days."""
    query = {name: text for name, text in request.query.items() if text.strip() or name not in FURTHER}
    return msgspec.structs.replace(request, query=lists.expand_days(query, FROM, TO))


async def _make_form(request: Request, choice: ListFilter) -> AccountFilterForm:
    given = request.query
    none = dict.fromkeys(("search", "state", *FURTHER), "")
    return AccountFilterForm(
        given,
        choice,
        list(await roles.read_all(request.services.keeper.store)),
        request.caller.permissions >= SECURITY,
        [
            Chip(label, lists.build_url(request, page="", **{name: ""}))
            for name, label in _describe(given, choice).items()
        ],
        lists.build_url(request, page="", **none),
    )


def _describe(given: Mapping[str, str], choice: ListFilter) -> dict[str, str]:
    """Describe the conditions in force: query parameter → label."""
    found: dict[str, str] = {}
    text = given.get("search", "")
    if len(lookup.fold(text)) >= PART_LETTERS:  # a shorter text is not searched
        found["search"] = gettext("Name or email contains %(text)s", text=text)
    if choice.chosen:
        found["state"] = gettext("State: %(state)s", state=STATE_LABELS()[choice.chosen])
    if role := given.get("role", ""):
        found["role"] = gettext("Role: %(name)s", name=role)
    if since := given.get(FROM, ""):
        found[FROM] = gettext("Signed in since %(time)s", time=format_date(since))
    if until := given.get(TO, ""):
        found[TO] = gettext("Last sign-in until %(time)s", time=format_date(until))
    return found


async def _find_penalties(request: Request, state: str, users: Sequence[User]) -> dict[str, ImposedPenalty]:
    """Return the listed accounts' bans or mutes by account id. A ban or mute that has just ended is missing."""
    if state not in PENALTY_READERS:
        return {}
    found = await PENALTY_READERS[state](request.services.keeper.store, [each.id for each in users])
    return {each.user_id: each for each in found}
