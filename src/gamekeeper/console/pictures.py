"""Pictures of items, at addresses with a hash of their pixels. A browser keeps such a picture without asking again."""

from gamekeeper.console.refusals import NoSuchPage
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response
from gamekeeper.store import pictures

ROOT = "/console/pictures/"
SUFFIX = ".png"
HASH_DIGITS = 64
# one year, in seconds; private: only for accounts that may see the catalogue
FOREVER = b"private, max-age=31536000, immutable"


def build_address(picture_hash: str | None) -> str:
    """Return the address of a picture; empty: there is none."""
    return f"{ROOT}{picture_hash}{SUFFIX}" if picture_hash else ""


async def serve(request: Request) -> Response:
    name = request.params[0]
    sought = name.removesuffix(SUFFIX)
    if sought == name or len(sought) != HASH_DIGITS or not (sought.isascii() and sought.isalnum()):
        raise NoSuchPage
    content = await pictures.find_content(request.services.keeper.store, sought)
    if content is None:
        raise NoSuchPage
    return Response(content, content_type=b"image/png", cache_control=FOREVER)
