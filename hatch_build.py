"""Build hook of the package: its page on an index gets README.md with links that work there."""

import re
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(?<=\]\()(?!https?://|#)[^)\s]+")


class CustomMetadataHook(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        text = absolute((Path(self.root) / "README.md").read_text("utf-8"), metadata["urls"]["Documentation"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


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
