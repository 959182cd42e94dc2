"""Static files of the console: style sheets, scripts and the icon, at addresses that contain a hash of their content.

A browser keeps a file at such an address without asking again. A new version of the server has new addresses.
"""

from pathlib import Path

from gamekeeper.console.frame.refusals import NoSuchPage
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response, make_encoded_response
from gamekeeper.http.server.static_files import FOREVER, SUFFIX, encode_file, hash_files, make_served

ROOT = "/console/static/"
CONTENT_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}


# All files are read at start: a requested name is only looked up here, never in the file system.
FOLDER = Path(__file__).parent / "static"
FILES = {
    each.name: make_served(each.read_bytes())
    for each in FOLDER.iterdir()
    if not each.name.endswith(SUFFIX) and each.is_file()
}
ENCODED = {name: encode_file(FOLDER, name, content) for name, content in FILES.items()}
VERSION = hash_files(FILES)


async def serve(request: Request) -> Response:
    """Serve a static file by its plain address, which is revalidated at each use."""
    return _make_response(request, request.params[0])


async def serve_version(request: Request) -> Response:
    """Serve a static file by an address with a version.

    While servers are updated one after the other, a page may ask another version for its files. It gets the file of
    that name, which works or nearly works, but the browser revalidates it.
    """
    version, name = request.params
    made = _make_response(request, name)
    if version == VERSION:
        made.cache_control = FOREVER
    return made


def _make_response(request: Request, name: str) -> Response:
    if name not in ENCODED:
        raise NoSuchPage
    kind = f"{CONTENT_TYPES[name.rpartition('.')[2]]}; charset=utf-8"
    return make_encoded_response(ENCODED[name], request.headers, kind.encode())
