"""All accounts, or those that a search finds."""

from gamekeeper.console import lists, pages
from gamekeeper.game.search import ACCOUNTS
from gamekeeper.http.request import Request
from gamekeeper.store.users import Powers


async def show(request: Request) -> bytes:
    users, beside = await lists.searched(request, ACCOUNTS)
    return pages.render(request, "accounts.html", accounts=[(user, powers(user.powers)) for user in users], **beside)


def powers(held: Powers) -> list[str]:
    return [name.replace("_", " ") for name, has in held._asdict().items() if has]
