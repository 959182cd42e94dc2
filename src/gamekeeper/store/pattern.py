"""Texts within texts, as LIKE … ESCAPE '!' looks for them."""


def beginning(text: str) -> str:
    return f"{_escaped(text)}%"


def part(text: str) -> str:
    return f"%{_escaped(text)}%"


def lowered(text: str) -> str:
    """A to Z and nothing else, as `lower(… {bytewise})` has it on both engines."""
    return text.encode().lower().decode()


def _escaped(text: str) -> str:
    return lowered(text).replace("!", "!!").replace("%", "!%").replace("_", "!_")
