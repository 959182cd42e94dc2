"""Patterns for SQL's LIKE … ESCAPE '!'."""


def build_prefix_pattern(text: str) -> str:
    return f"{_escape(text)}%"


def build_substring_pattern(text: str) -> str:
    return f"%{_escape(text)}%"


def lower_ascii(text: str) -> str:
    """Lower-case A to Z only, like `lower(… {bytewise})` on both engines."""
    return text.encode().lower().decode()


def _escape(text: str) -> str:
    return lower_ascii(text).replace("!", "!!").replace("%", "!%").replace("_", "!_")
