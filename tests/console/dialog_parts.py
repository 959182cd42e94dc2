"""Titles, buttons and texts of dialogs."""

from markup import Page

import people
from gamekeeper.console import differences
from world import Answer

PLAYER, ACCOUNT = f"/api/v1/players/{people.ANN.id}", f"/api/v1/users/{people.USER_IDS['Ann']}"
SIGN = differences.TIMES_SIGN


def read_title(shown: Answer) -> str:
    assert shown.status == 200, shown.raw
    html = shown.raw.decode()
    title = html.partition("<h1>")[2].partition("</h1>")[0]
    assert html.partition("<title>")[2].startswith(title)
    return title


def read_button(shown: Answer) -> str:
    [text] = Page(shown.raw.decode()).confirmation().buttons
    return text


def read_text(shown: Answer) -> str:
    return Page(shown.raw.decode()).text
