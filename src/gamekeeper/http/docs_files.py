"""The files of the page people look at, out of the package, and the documents that describe the API."""

from importlib import resources

PAGE = "docs.html"
MEDIA_TYPES = {
    "docs.css": "text/css",
    "explorer.css": "text/css",
    "docs.js": "text/javascript",
    "explorer.js": "text/javascript",
    "run.js": "text/javascript",
    "request.js": "text/javascript",
    "schema.js": "text/javascript",
    "elements.js": "text/javascript",
    "sha256.js": "text/javascript",
}


class DocsFiles:
    """Everything is read once, at start; a name in a path is looked up here and never reaches the file system."""

    def __init__(self, document: bytes, tolerant_document: bytes) -> None:
        folder = resources.files("gamekeeper.http") / "docs"
        self.document = document
        self.tolerant_document = tolerant_document
        self.page = (folder / PAGE).read_bytes()
        self.named = {name: (folder / name).read_bytes() for name in MEDIA_TYPES}
