"""Static files of the console: style sheets, scripts and the icon, at addresses that contain a hash of their content.

A browser keeps a file at such an address without asking again. A new version of the server has new addresses.
"""

from importlib import resources

from jinja2.ext import Extension

from gamekeeper.console.refusals import NoSuchPage
from gamekeeper.http.docs_files import FOREVER, add_version, hash_files
from gamekeeper.http.request import Request
from gamekeeper.http.response import Response

ROOT = "/console/static/"
CONTENT_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
EXPLORER = "explorer.js"  # the script that imports files of the API explorer


def _read_files() -> dict[str, bytes]:
    """Read all static files at start. A requested name is only looked up here, never in the file system."""
    folder = resources.files("gamekeeper.console") / "static"
    files = {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}
    return files | {EXPLORER: add_version(files[EXPLORER].decode()).encode()}


FILES = _read_files()
VERSION = hash_files(FILES)


async def serve(request: Request) -> Response:
    """Serve a static file by its plain address, which is revalidated at each use."""
    return _make_response(request.params[0])


async def serve_version(request: Request) -> Response:
    """Serve a static file by an address with a version.

    While servers are updated one after the other, a page may ask another version for its files. It gets the file of
    that name, which works or nearly works, but the browser revalidates it.
    """
    version, name = request.params
    made = _make_response(name)
    made.cache_control = FOREVER if version == VERSION else b""
    return made


def _make_response(name: str) -> Response:
    if name not in FILES:
        raise NoSuchPage
    kind = f"{CONTENT_TYPES[name.rpartition('.')[2]]}; charset=utf-8"
    return Response(FILES[name], content_type=kind.encode())


class VersionedAddresses(Extension):
    """Put the version into the static files' addresses when a template is compiled, so that no template forgets it."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        _ = name, filename
        return add_version(source.replace(f'"{ROOT}', f'"{ROOT}{VERSION}/'))
