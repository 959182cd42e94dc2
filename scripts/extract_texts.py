"""Extract the console's texts from its Python files, templates and scripts into the catalogue: `make texts`."""

import io
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

CONSOLE = Path(__file__).parent.parent / "src" / "gamekeeper" / "console"
CATALOGUE = CONSOLE / "locale" / "console.pot"
METHODS = [("*.py", "python"), ("templates/*.html", "jinja2"), ("static/*.js", "javascript")]
OPTIONS: dict[str, dict[str, Any]] = {
    "templates/*.html": {"trimmed": "true", "trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}
}


def extract(folder: Path = CONSOLE) -> Catalog:
    catalogue = Catalog(project="Gamekeeper console", fuzzy=False)
    for file, line, message, comments, context in extract_from_dir(
        folder, METHODS, OPTIONS, comment_tags=("Translators:",), strip_comment_tags=True
    ):
        catalogue.add(message, None, [(file, line)], auto_comments=comments, context=context)
    return catalogue


def format_catalogue(catalogue: Catalog) -> bytes:
    """Format the text catalogue without dates and line numbers, which would change with every edit."""
    file = io.BytesIO()
    write_po(file, catalogue, width=120, sort_by_file=True, omit_header=True, include_lineno=False)
    return file.getvalue()


if __name__ == "__main__":
    CATALOGUE.parent.mkdir(exist_ok=True)
    CATALOGUE.write_bytes(format_catalogue(extract()))
