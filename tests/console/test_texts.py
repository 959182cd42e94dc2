"""The console's text catalogue."""

import extract_texts


def test_catalogue_holds_exactly_the_texts_in_use() -> None:
    """`make texts` renews the file."""
    assert extract_texts.CATALOGUE.read_bytes() == extract_texts.format_catalogue(extract_texts.extract())
