"""The text catalogue and its translations are complete and up to date."""

import re
from collections.abc import Iterator

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

import extract_texts
from extract_texts import CATALOGUE
from gamekeeper.console.frame.texts import ENGLISH, LANGUAGES

PART = re.compile(r"%\(\w+\)s|\{\w+\}|</?\w+")  # of a text that its translation has too


def find_wrong(translations: Catalog) -> Iterator[object]:
    """Find translations that Babel reports, and those with other placeholders or elements than their text."""
    for message, errors in translations.check():
        yield from ((message.id, each) for each in errors)
    for each in translations:
        texts, forms = list_forms(each.id), list_forms(each.string)
        needed = set[str](PART.findall(texts[0])) if len(texts) == 1 else set[str]()
        allowed = {part for text in texts for part in PART.findall(text)}
        if each.id and not all(needed <= {*PART.findall(form)} <= allowed for form in forms):
            yield each.id


def list_forms(texts: str | tuple[str, ...] | list[str] | None) -> list[str]:
    return [texts or ""] if isinstance(texts, str | None) else list(texts)


def list_ids(catalogue: Catalog) -> set[object]:
    return {(each.context, *list_forms(each.id)) for each in catalogue if each.id}


def test_catalogue_and_translations_are_complete_and_up_to_date() -> None:
    fresh = extract_texts.extract_all()
    with CATALOGUE.open("rb") as file:
        assert list_ids(read_po(file)) == list_ids(fresh), "run make texts"
    assert CATALOGUE.read_bytes() == extract_texts.format_catalogue(fresh), "run make texts"
    assert extract_texts.list_languages() == sorted({*LANGUAGES} - {ENGLISH})
    for language in extract_texts.list_languages():
        stored = extract_texts.read_translations(language)
        assert list_ids(stored) == list_ids(fresh), "run make texts"
        assert [each.id for each in extract_texts.find_missing(stored)] == []
        assert list(find_wrong(stored)) == []
        files = extract_texts.make_files(language, extract_texts.update(stored, fresh))
        assert [file.name for file, made in files.items() if file.read_bytes() != made] == [], "run make texts"
