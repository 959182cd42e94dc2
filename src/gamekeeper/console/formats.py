"""Numbers and times as the language of the page writes them: 1,234.5 in English, 1.234,5 in German."""

from gamekeeper.console.texts import GERMAN, LANGUAGE

TO_GERMAN = str.maketrans(",.", ".,")
DATE_LENGTH = len("2026-01-31")


def capitalize(text: str) -> str:
    """Begin a text with a capital letter. `str.capitalize` would also make the other letters small."""
    return text[:1].upper() + text[1:]


def lower_noun(text: str) -> str:
    """Write a noun as within a sentence. In German it keeps its capital letter."""
    return text if LANGUAGE.get() == GERMAN else text.lower()


def format_number(number: float) -> str:
    """Format a number with separators of thousands."""
    return _localize(f"{number:,}")


def format_signed(number: int) -> str:
    """Format a number with its sign, also a plus."""
    return _localize(f"{number:+,}")


def format_decimal(number: float) -> str:
    """Format a number with one digit after the point."""
    return _localize(f"{number:,.1f}")


def format_rounded(number: float) -> str:
    """Format a number with one digit after the point, unless that is a zero."""
    return _localize(f"{number:,.1f}".removesuffix(".0"))


def _localize(text: str) -> str:
    return text.translate(TO_GERMAN) if LANGUAGE.get() == GERMAN else text


def format_date(text: str) -> str:
    """Format the day of a text such as 2026-01-31T12:00:00Z, or of the day alone."""
    day = text[:DATE_LENGTH]
    return f"{day[8:]}.{day[5:7]}.{day[:4]}" if LANGUAGE.get() == GERMAN and len(day) == DATE_LENGTH else day


def format_time(text: str) -> str:
    """Format a text of `format_instant`, which is in UTC, for display. A script adds the viewer's local time."""
    if not text:
        return ""
    if LANGUAGE.get() == GERMAN:
        return f"{format_date(text)}, {text[11:19]} UTC"
    return f"{text[:10]} {text[11:19]} UTC"
