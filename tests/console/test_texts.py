"""All texts of the console are in its catalogue. Each check runs on the real files and on seeded faults."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import text_checks
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from text_checks import check_python, check_script, check_template

import extract_texts
from extract_texts import CATALOGUE, CONSOLE
from gamekeeper.console.texts import ENGLISH, LANGUAGES
from server_texts import find_server_texts


def read_files(pattern: str) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in CONSOLE.glob(pattern)}


@cache
def extract_all() -> Catalog:
    """Extract all texts once: that takes seconds."""
    return extract_texts.extract_all()


def read_catalogue() -> Catalog:
    with CATALOGUE.open("rb") as file:
        return read_po(file)


# --- texts of templates --------------------------------------------------------------------------------------------


def test_texts_of_templates_are_in_the_catalogue() -> None:
    assert text_checks.check_files(read_files("templates/*.html"), check_template) == []


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>Players</p>", "Players"),
        ('<p><a href="{{ address }}">players</a></p>', "players"),
        ("{% block title %}Players{% endblock %}", "Players"),
        ("<p>{{ count }} players</p>", "players"),
        ('<nav aria-label="Pages"></nav>', "Pages"),
        ('<input placeholder="{{ kind }} or id">', "or id"),
        ('<img alt="{{ "icon" if icon }}">', "icon"),
        ('<i title="{% if late %}late{% endif %}"></i>', "late"),
        ('<p>{{ user.email or "none" }}</p>', "none"),
        ('<p>{{ "yes" if user.online else _("no") }}</p>', "yes"),
        ('{{ ui.empty("No results.") }}', "No results."),
        ('{{ ui.action(csrf, "POST", "/api", home, "Give") }}', "Give"),
        ('{% call ui.action(csrf, label="Give an item") %}{% endcall %}', "Give an item"),
        ('{{ list.head("Name", heads.name, "figure") }}', "Name"),
        ('{% macro actor(change, hidden="another account") %}{% endmacro %}', "another account"),
        ('{% set heading = "New token" %}', "New token"),
        ('{% trans name=player.name or "No name" %}Ban {{ name }}{% endtrans %}', "No name"),
        ("{% trans %}Ban{% endtrans %} the player", "the player"),
    ],
)
def test_untranslated_text_in_template_is_reported(source: str, text: str) -> None:
    assert [(each.line, each.text) for each in check_template(f"\n{source}\n")] == [(2, text)]


@pytest.mark.parametrize(
    "source",
    [
        "{% trans %}Players{% endtrans %}",
        "{% trans name=player.name %}Ban {{ name }} for{% pluralize %}Ban {{ name }}{% endtrans %}",
        '<nav aria-label="{% trans %}Pages{% endtrans %}" class="menu wide">{{ _("Pages") }}</nav>',
        '{{ ui.action(csrf, "POST", "/api/v1/players", home, _("Give"), kind="small danger") }}',
        '<p class="{{ "bad" if late }}">{{ name }} · {{ "—" if late }}</p>',
        '{# Players #}<script>const text = "Two words";</script><code>gamekeeper serve</code>',
        '{% if order == "Ascending" and role in ("Users query",) %}{% endif %}',
    ],
)
def test_translated_template_is_accepted(source: str) -> None:
    assert check_template(source) == []


# --- texts of Python files -----------------------------------------------------------------------------------------


def test_texts_of_python_files_are_in_the_catalogue() -> None:
    assert text_checks.check_files(read_files("*.py"), check_python) == []


@pytest.mark.parametrize(
    "source",
    [
        'TITLE = "Overview"',
        'TITLE = "the whole game"',
        'raise BadField(field=name, problem=f"must be {names}")',
        'LABELS = {"name": "Name"}',
        'gettext("Ban %(name)s", name="Another account")',
        'gettext(f"Ban {name}")',
        'ngettext("Ban", plural, 2)',
        'def name_account():\n    """Return a name."""\n    return "Another account"',
    ],
)
def test_untranslated_text_in_python_is_reported(source: str) -> None:
    assert len(check_python(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        'TITLE = gettext("Overview")',
        'TEXT = ngettext("%(num)s player", "%(num)s players", count)',
        '"""Pages of players."""',
        'class NoSuchRun(Refusal):\n    """There is no such run."""',
        'log.warning("The feed is late")',
        'PATH = "/console/sign in"',
        'MARKUP = "<b>Two words</b>"',
        'FIELDS = ("name", "users.query", "sortBy", "POST")',
        'value = cast("Mapping[str, object]", value)',
    ],
)
def test_translated_python_is_accepted(source: str) -> None:
    assert check_python(source) == []


def test_no_text_is_translated_at_import() -> None:
    assert text_checks.check_files(read_files("*.py"), text_checks.check_import) == []


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('TITLE = gettext("Players")', 1),
        ('TITLES = {"name": _("Name")}', 1),
        ('def name(title: str = gettext("Name")) -> str: ...', 1),
        ('class Entry:\n    title = gettext("Name")', 1),
        ('@lru_cache(maxsize=9)\ndef name(count: int) -> str:\n    return ngettext("one", "many", count)', 1),
        ('TITLES = PerLanguage(lambda: {"name": gettext("Name")})', 0),
        ('def name() -> str:\n    return gettext("Name")', 0),
    ],
)
def test_text_translated_at_import_is_reported(source: str, count: int) -> None:
    assert len(text_checks.check_import(source)) == count


# --- texts of scripts ----------------------------------------------------------------------------------------------


def test_texts_of_scripts_are_in_the_catalogue() -> None:
    assert text_checks.check_files(read_files("static/*.js"), check_script) == []


@pytest.mark.parametrize(
    "source",
    [
        'say("Try again.")',
        'list.setAttribute("aria-label", "Suggestions");',
        "said.textContent = `${count} more were found`;",
        'gettext("Ban %(name)s", { name: "another account" });',
        'gettext("Ban"); say("Try again.");',
    ],
)
def test_untranslated_text_in_script_is_reported(source: str) -> None:
    assert len(check_script(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        'say(gettext("Try again."));',
        'ngettext("%(num)s player", "%(num)s players", count);',
        "// Say it again.",
        'document.querySelector(".menu [aria-current]"); throw new Error("no JSON in it");',
        'if (event.key === "Enter") notice.className = "notice bad";',
        "fetch(`/console/done/${encodeURIComponent(id)}`);",
    ],
)
def test_translated_script_is_accepted(source: str) -> None:
    assert check_script(source) == []


# --- the text catalogue --------------------------------------------------------------------------------------------


def test_catalogue_holds_exactly_the_texts_in_use() -> None:
    fresh = extract_all()
    assert text_checks.compare_catalogues(read_catalogue(), fresh) == []
    assert CATALOGUE.read_bytes() == extract_texts.format_catalogue(fresh), "run make texts"


def test_new_and_unused_texts_are_reported(tmp_path: Path) -> None:
    (tmp_path / "menu.py").write_text('TITLE = gettext("Players")', "utf-8")
    stored = Catalog()
    stored.add("Characters")
    assert text_checks.compare_catalogues(stored, extract_texts.extract(tmp_path)) == [
        "not in the catalogue: Players. Run make texts.",
        "not used any more: Characters. Run make texts.",
    ]


def test_catalogue_is_compared_by_plural_forms_too(tmp_path: Path) -> None:
    (tmp_path / "menu.py").write_text('ngettext("one player", "many players", 2)', "utf-8")
    stored = Catalog()
    stored.add(("one player", "%(num)s players"))
    assert len(text_checks.compare_catalogues(stored, extract_texts.extract(tmp_path))) == 2


# --- translations --------------------------------------------------------------------------------------------------


def test_every_language_has_translations() -> None:
    assert extract_texts.list_languages() == sorted({*LANGUAGES} - {ENGLISH})


@pytest.mark.parametrize("language", extract_texts.list_languages())
def test_every_text_is_translated(language: str) -> None:
    stored = extract_texts.read_translations(language)
    assert text_checks.check_translations(stored) == []
    assert text_checks.compare_catalogues(stored, read_catalogue()) == []


@pytest.mark.parametrize("language", extract_texts.list_languages())
def test_files_of_a_language_are_up_to_date(language: str) -> None:
    stored = extract_texts.update(extract_texts.read_translations(language), extract_all())
    old = [file.name for file, made in extract_texts.make_files(language, stored).items() if file.read_bytes() != made]
    assert old == [], "run make texts"


@pytest.mark.parametrize(
    ("english", "translated", "flags"),
    [
        ("Players", "", ()),
        ("Players", "Spieler", ("fuzzy",)),
        ("Ban %(name)s", "Sperren", ()),
        ("Ban", "%(name)s sperren", ()),
        ("The field '{field}' is missing.", "Das Feld „{name}“ fehlt.", ()),
        ("Open <b>now</b>", "Jetzt öffnen", ()),
        (("%(num)s player", "%(num)s players"), ("%(num)s Spieler", ""), ()),
        (("one of %(name)s", "%(num)s of %(name)s"), ("einer", "%(num)s von %(name)s"), ()),
    ],
)
def test_wrong_translation_is_reported(english: Any, translated: Any, flags: tuple[str, ...]) -> None:
    stored = Catalog(locale="de")
    stored.add(english, translated, flags=flags)
    assert len(text_checks.check_translations(stored)) == 1


@pytest.mark.parametrize(
    ("english", "translated"),
    [
        ("Ban %(name)s for %(days)s days", "%(name)s für %(days)s Tage sperren"),
        (("%(num)s player", "%(num)s players"), ("ein Spieler", "%(num)s Spieler")),
        ('See <a href="%(url)s">it</a>', '<a href="%(url)s">Ansehen</a>'),
    ],
)
def test_right_translation_is_accepted(english: Any, translated: Any) -> None:
    stored = Catalog(locale="de")
    stored.add(english, translated)
    assert text_checks.check_translations(stored) == []


def test_new_refusal_without_a_translation_is_found(tmp_path: Path) -> None:
    (tmp_path / "game").mkdir()
    source = '''
class Full(Refusal):
    """The bag of '{name}' is full: {why}."""

def fill(name, most):
    raise Full(name=name, why=f"it holds {most} items" if most else TOO_SMALL)

TOO_SMALL = "it is too small"
'''
    (tmp_path / "game" / "bags.py").write_text(source, "utf-8")
    assert [each.text for each in find_server_texts(tmp_path)] == [
        "The bag of '{name}' is full: {why}.",
        "it holds {most} items",
        "it is too small",
    ]
