"""Build hooks of the package: its page on an index gets README.md with links that work there, and the wheel gets a
compressed form beside each static file, which is served as it is.
"""

import re
import sys
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

STATIC = ("gamekeeper/console/frame/static", "gamekeeper/http/docs")
_LINK = re.compile(r"(?<=\]\()(?!https?://|#)[^)\s]+")


class CustomMetadataHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        text = absolute((Path(self.root) / "README.md").read_text("utf-8"), metadata["urls"]["Documentation"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


class CustomBuildHook(BuildHookInterface[Any]):
    """Compresses the static files of console and explorer. An editable installation has none: it does so when asked."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        source = Path(self.root) / "src"
        sys.path.insert(0, str(source))
        from gamekeeper.http.server.static_files import SUFFIX, compress, make_served  # noqa: PLC0415 - needs the path that is set above

        self._folder = tempfile.TemporaryDirectory()
        for file in sorted(each for folder in STATIC for each in (source / folder).iterdir()):
            name = f"{file.relative_to(source)}{SUFFIX}"
            packed = Path(self._folder.name) / name
            packed.parent.mkdir(parents=True, exist_ok=True)
            packed.write_bytes(compress(make_served(file.read_bytes())))
            build_data["force_include"][str(packed)] = name

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        _ = build_data, artifact_path
        if version != "editable":
            self._folder.cleanup()


def absolute(text: str, site: str) -> str:
    """Lead relative links to the pages and files of the website that mkdocs.yml describes."""
    return _LINK.sub(lambda link: f"{site}/{_page(link[0])}", text)


def _page(link: str) -> str:
    parts = urlsplit(link)
    path = PurePosixPath(parts.path)
    if path.name == "README.md":
        path = path.with_name("index.html")
    elif path.suffix == ".md":
        path = path.with_suffix(".html")
    return f"{path}#{parts.fragment}" if parts.fragment else str(path)
