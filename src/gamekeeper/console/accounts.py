"""The page that lists accounts: all, banned, muted or with permissions, filtered by a search text."""

from collections.abc import Sequence

from gamekeeper.console import lists, pages, saved_views
from gamekeeper.console.texts import gettext
from gamekeeper.game.search import ACCOUNTS, MOST_MATCHES, STATES
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import moderation
from gamekeeper.store.moderation import ImposedPenalty
from gamekeeper.store.users import User

STATE_LABELS = {"banned": gettext("banned"), "muted": gettext("muted"), "powers": gettext("with permissions")}
PENALTY_READERS = {"banned": moderation.find_bans, "muted": moderation.find_mutes}


async def show(request: Request) -> Response:
    if to := lists.find_jump(request):
        return pages.redirect(to)
    choice = lists.read_filter(request, "state", STATE_LABELS)
    users, beside = await lists.search_list(request, STATES.get(choice.chosen, ACCOUNTS))
    return pages.render(
        request,
        "accounts.html",
        accounts=[(user, list_permissions(user)) for user in users],
        choice=choice,
        imposed=await _find_penalties(request, choice.chosen, users),
        newest=lists.build_url(request, sortby="", sortdirection="", page="") if beside["kept"] else "",
        most=MOST_MATCHES,
        views=await saved_views.load(request, "accounts"),
        **beside,
    )


def list_permissions(user: User) -> list[str]:
    """Return the names of an account's roles and of its directly granted permissions."""
    flags = [name.replace("_", " ") for name, has in user.powers._asdict().items() if has]
    return [*user.grants.roles, *flags, *sorted(user.grants.direct)]


async def _find_penalties(request: Request, state: str, users: Sequence[User]) -> dict[str, ImposedPenalty]:
    """Return the listed accounts' bans or mutes by account id. A ban or mute that has just ended is missing."""
    if state not in PENALTY_READERS:
        return {}
    found = await PENALTY_READERS[state](request.services.keeper.store, [each.id for each in users])
    return {each.user_id: each for each in found}
