"""Extract the console's texts into the catalogue, and update the translations with them: `make texts`.

The texts are those of the console's Python files, templates and scripts, and those of the rest of the server that it
shows. Each language has a file console.po, which people edit. The files that the server reads are made from it:
console.mo, scripts.json and server.json.
"""

import io
import json
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, cast

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from gamekeeper.game.audit.history import KINDS
from server_texts import ServerText, find_server_texts, list_settings

CONSOLE = Path(__file__).parent.parent / "src" / "gamekeeper" / "console"
LOCALE = CONSOLE / "frame" / "locale"
CATALOGUE = LOCALE / "console.pot"
METHODS = [("**/*.py", "python"), ("**/*.html", "jinja2"), ("frame/static/*.js", "javascript")]
KEYWORDS = {**DEFAULT_KEYWORDS, "in_menu": None, "with_help": None, "PageHelp": None}  # their first argument is a text
# arguments that are texts: Babel takes only one text of a call
LATER_TEXTS: list[dict[str, Any]] = [
    dict.fromkeys(("Dialog", "UndoTitle", "PaletteCommand"), (each,)) for each in (2, 3)
]
OPTIONS: dict[str, dict[str, Any]] = {
    "**/*.html": {"trimmed": "true", "trim_blocks": "true", "lstrip_blocks": "true", "silent": "false"}
}
SCRIPTS = "frame/static/"  # start of the names of files whose texts the browser translates
NO_DATE = datetime(2000, 1, 1, tzinfo=UTC)  # in console.mo, so that the same texts make the same file
HEADER = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: {plurals}\\n"

"""


def extract(folder: Path = CONSOLE) -> Catalog:
    catalogue = Catalog(project="Gamekeeper console", fuzzy=False)
    for keywords, methods in ((KEYWORDS, METHODS), *((each, METHODS[:1]) for each in LATER_TEXTS)):
        for file, line, message, comments, context in extract_from_dir(
            folder, methods, OPTIONS, keywords, comment_tags=("Translators:",), strip_comment_tags=True
        ):
            catalogue.add(message, None, [(file, line)], auto_comments=comments, context=context)
    return catalogue


def extract_all() -> Catalog:
    """Extract the texts of the console, and those of the rest of the server that it shows."""
    catalogue = extract()
    for file, text in list_server_texts():
        catalogue.add(text, None, [(file.removeprefix("console/"), 1)])
    for kind in KINDS.values():
        catalogue.add(kind.title, None, [("game/audit/history.py", 1)])
    return catalogue


@cache
def list_server_texts() -> list[ServerText]:
    return find_server_texts() + list_settings()


def format_catalogue(catalogue: Catalog) -> bytes:
    """Format the text catalogue without dates and line numbers, which would change with every edit."""
    file = io.BytesIO()
    write_po(
        file, catalogue, width=120, sort_by_file=True, omit_header=True, include_lineno=False, ignore_obsolete=True
    )
    return file.getvalue()


def list_languages() -> list[str]:
    return sorted(path.parent.parent.name for path in LOCALE.glob("*/LC_MESSAGES/console.po"))


def read_translations(language: str) -> Catalog:
    with (LOCALE / language / "LC_MESSAGES" / "console.po").open("rb") as file:
        return read_po(file, locale=language)


def update(translations: Catalog, fresh: Catalog) -> Catalog:
    """Add new texts without a translation, and remove those that are not used any more. Nothing is guessed."""
    translations.update(fresh, no_fuzzy_matching=True)
    return translations


def find_missing(translations: Catalog) -> list[Message]:
    """Find the texts that have no translation, or one of which a translator is not sure."""
    return [each for each in translations if each.id and (each.fuzzy or not all(_list_forms(each)))]


def make_files(language: str, translations: Catalog) -> dict[Path, bytes]:
    """Make the files of a language: the one that people edit, and those that the server reads."""
    folder = LOCALE / language
    translations.creation_date = translations.revision_date = NO_DATE
    compiled = io.BytesIO()
    write_mo(compiled, translations)
    header = HEADER.format(language=language, plurals=translations.plural_forms)
    of_scripts = [each for each in translations if any(file.startswith(SCRIPTS) for file, _ in each.locations)]
    texts = {each.text for each in list_server_texts()}
    of_server = [each for each in translations if each.id in texts]
    return {
        folder / "LC_MESSAGES" / "console.po": header.encode() + format_catalogue(translations),
        folder / "LC_MESSAGES" / "console.mo": compiled.getvalue(),
        folder / "scripts.json": _encode(of_scripts),
        folder / "server.json": _encode(of_server),
    }


def _encode(messages: list[Message]) -> bytes:
    """Encode translations by their English text; plurals are lists of forms. Those that are missing are left out."""
    found = {
        _list_ids(each)[0]: _list_forms(each) if each.pluralizable else each.string
        for each in messages
        if each.id and all(_list_forms(each))
    }
    return (json.dumps(dict(sorted(found.items())), ensure_ascii=False, indent=1) + "\n").encode()


def _list_ids(message: Message) -> list[str]:
    return list(message.id) if isinstance(message.id, (tuple, list)) else [message.id]


def _list_forms(message: Message) -> list[str]:
    """List the plural forms of a translation; a text without plural has one."""
    string = message.string
    return list(string) if isinstance(string, (tuple, list)) else [cast("str", string) or ""]


def main() -> None:
    fresh = extract_all()
    CATALOGUE.write_bytes(format_catalogue(fresh))
    for language in list_languages():
        translations = update(read_translations(language), fresh)
        for file, content in make_files(language, translations).items():
            file.write_bytes(content)
        for each in find_missing(translations):
            sys.stderr.write(f"{language}: no translation of: {_list_ids(each)[0]}\n")


if __name__ == "__main__":
    main()
