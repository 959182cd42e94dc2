"""Texts of the console, translated: the English text is the key. `make texts` collects them in locale/console.pot."""

import json
from gettext import translation
from importlib import resources
from pathlib import Path
from typing import Any, cast

LANGUAGE = "en"
LOCALE = Path(str(resources.files("gamekeeper.console") / "locale"))
# fallback: without a translation file, gettext returns the English text
CATALOGUE = translation("console", LOCALE, [LANGUAGE], fallback=True)


def gettext(message: str, **values: object) -> str:
    """Translate a message and fill in its %(name)s placeholders. Works like gettext in the templates."""
    return CATALOGUE.gettext(message) % values


def ngettext(singular: str, plural: str, count: int, **values: object) -> str:
    """Translate a message in the singular or plural form for `count`. The placeholder %(num)s is the count."""
    return CATALOGUE.ngettext(singular, plural, count) % {"num": count, **values}


def load_script_texts(language: str) -> dict[str, Any]:
    """Load the translations of the static scripts: message → text, or message → list of plural forms."""
    file = LOCALE / language / "scripts.json"
    return cast("dict[str, Any]", json.loads(file.read_bytes())) if file.is_file() else {}


SCRIPT_TEXTS = load_script_texts(LANGUAGE)
