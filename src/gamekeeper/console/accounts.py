"""All accounts or those of one state, or those of them that a search finds."""

from collections.abc import Sequence

from gamekeeper.console import lists, pages
from gamekeeper.game.search import ACCOUNTS, MOST_MATCHES, STATES
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import moderation
from gamekeeper.store.moderation import ImposedPenalty
from gamekeeper.store.users import Powers, User

WORDS = {"banned": "banned", "muted": "muted", "powers": "with powers"}
IMPOSED = {"banned": moderation.find_bans, "muted": moderation.find_mutes}


async def show(request: Request) -> Response:
    choice = lists.choice(request, "state", WORDS)
    users, beside = await lists.searched(request, STATES.get(choice.chosen, ACCOUNTS))
    return pages.render(
        request,
        "accounts.html",
        accounts=[(user, powers(user.powers)) for user in users],
        choice=choice,
        imposed=await _imposed(request, choice.chosen, users),
        newest=lists.address(request, sortby="", sortdirection="", page="") if beside["kept"] else "",
        most=MOST_MATCHES,
        **beside,
    )


def powers(held: Powers) -> list[str]:
    return [name.replace("_", " ") for name, has in held._asdict().items() if has]


async def _imposed(request: Request, state: str, users: Sequence[User]) -> dict[str, ImposedPenalty]:
    """The bans or mutes that the list is about, by account; none for one whose has ended since."""
    if state not in IMPOSED:
        return {}
    found = await IMPOSED[state](request.services.keeper.store, [each.id for each in users])
    return {each.user_id: each for each in found}
