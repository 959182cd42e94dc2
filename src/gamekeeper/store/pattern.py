"""Texts within texts, as LIKE … ESCAPE '!' looks for them."""


def beginning(text: str) -> str:
    return f"{_escaped(text)}%"


def part(text: str) -> str:
    return f"%{_escaped(text)}%"


def _escaped(text: str) -> str:
    lowered = text.encode().lower().decode()  # A to Z and nothing else, as `lower(… {bytewise})` has it on both engines
    return lowered.replace("!", "!!").replace("%", "!%").replace("_", "!_")
