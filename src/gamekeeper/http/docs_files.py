"""The files of the API explorer, from the package, and the two OpenAPI documents."""

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
    """Files of the API explorer, read once at start. A name from a request never reaches the file system."""

    def __init__(self, document: bytes, tolerant_document: bytes) -> None:
        folder = resources.files("gamekeeper.http") / "docs"
        self.document = document
        self.tolerant_document = tolerant_document
        self.page = (folder / PAGE).read_bytes()
        self.named = {name: (folder / name).read_bytes() for name in MEDIA_TYPES}
