"""Values of the game and of callers are shown as text on every page, whatever characters they have."""

import enum
from importlib import resources
from urllib.parse import quote

import pytest
from jinja2 import Environment, StrictUndefined
from jinja2.compiler import CodeGenerator
from markupsafe import Markup
from msgspec.structs import replace

import people
from game_server import heartbeat, join, put_catalogue
from gamekeeper.console.frame.templates import TEMPLATES
from gamekeeper.console.players.player import TABS
from gamekeeper.game.access.changes import UserRegistered
from gamekeeper.game.core.player import INVENTORY, Stack
from gamekeeper.game.players.changes import PlayerCreated, PlayerState
from gamekeeper.store.access import roles
from gamekeeper.store.accounts import users
from keepers import Keeper
from loops import over
from markup import Page
from world import World

PLAYER_ID, ACCOUNT_ID = people.guid(0x5AFE), people.guid(0x5AFF)
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</textarea></option></title><script>alert(1)</script>",
    "&lt;script&gt; &amp; &#39;",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:alert(1)",
]
# All of them in one value, because hundreds of pages take seconds; an address must begin with its scheme.
ON_PAGES = ["".join(HOSTILE[:-1]), HOSTILE[-1]]


class Level(enum.IntEnum):
    HIGH = 7


class Text(str):
    __slots__ = ()


class Html:
    def __html__(self) -> str:
        return "<b>bold</b>"


@over(
    "value",
    *HOSTILE,
    0,
    -7,
    True,
    None,
    1.5,
    Level.HIGH,
    Text("<b>"),
    Markup("<b>"),
    Html(),
    b"<b>",
    ["<b>"],
    {"<b>": "'"},
)
def test_output_equals_that_of_jinja(value: object) -> None:
    jinja = Environment(autoescape=True, undefined=StrictUndefined)
    for template in (
        "{{ value }}",
        '<a title="{{ value }}">{{ value }}{{ value|string }}</a>',
        "{{ '<i>' ~ value }}{{ [value, value]|join(', ') }}",
        "{% macro bold(it) %}<b>{{ it }}</b>{% endmacro %}{{ bold(value) }}{{ bold(bold(value)) }}",
        "{% set it %}<i>{{ value }}</i>{% endset %}{{ it }}",
        "{% for it in [value, 1] %}{{ it }}{{ loop.index }}{% endfor %}",
        "{% filter upper %}{{ value }}{% endfilter %}",
        "{{ value|safe }}{{ value|e }}{{ value|tojson if value is string }}",
    ):
        assert TEMPLATES.from_string(template).render(value=value) == jinja.from_string(template).render(value=value)


def test_every_template_is_compiled_as_by_jinja_except_for_the_escape() -> None:
    """So nothing that Jinja escapes is left out, in any template and in any branch of it."""
    stock = TEMPLATES.overlay()
    stock.code_generator_class = CodeGenerator
    escapes = 0
    for name in TEMPLATES.list_templates(["html"]):
        source = (resources.files("gamekeeper.console") / name).read_text(encoding="utf-8")
        fast, slow = (each.compile(source, name, name, raw=True) for each in (TEMPLATES, stock))
        assert fast.replace("environment.escape_value(", "escape(") == slow, name
        escapes += fast.count("environment.escape_value(")
    assert escapes > 500, "most templates have many values"


@pytest.mark.parametrize("hostile", ON_PAGES, ids=["markup", "address"])
def test_hostile_values_are_text_on_every_page(world: World, root: Keeper, hostile: str) -> None:
    seq = fill_with(world, hostile)
    query = quote(hostile, safe="")
    paths = (
        "/console",
        f"/console/players/{PLAYER_ID}",
        f"/console/players/{PLAYER_ID}?slot=inventory-0",
        *(f"/console/players/{PLAYER_ID}?tab={tab}" for tab in TABS()),
        f"/console/players/{PLAYER_ID}?at={seq}",
        f"/console/accounts/{ACCOUNT_ID}",
        "/console/characters",
        "/console/ranking",
        "/console/online",
        "/console/accounts",
        "/console/changes",
        f"/console/changes/{seq}",
        f"/console/done/{world.ledger()[-1].request_id}",
        *(f"/console/catalogue?kind={kind}" for kind in people.CATALOGUE),
        f"/console/search?q={query}",
        f"/console/changes?reason={query}",
        f"/console/changes?player={query}&kind={query}&from={query}&request={query}",
        f"/console/changes/{query}",
        f"/console/players/{query}",
        f"/console/accounts?search={query}",
        f"/console/catalogue?search={query}",
    )
    silent = [path for path in paths if not find_in_harmless_page(path, root.get(path).raw.decode(), hostile)]
    assert silent == [], "these pages do not show the value, so the test proves nothing about them"


def fill_with(world: World, hostile: str) -> int:
    """Give every name and text that the console shows the hostile value; return the number of a gift with it."""
    for kind, entries in people.CATALOGUE.items():
        named = [{"Id": each.id, "Name": hostile} for each in entries[:1]]
        if kind == "items":
            named = [{**each, "Stackable": True, "Icon": hostile} for each in named]
        if kind == "variables":
            named = [{**each, "Type": "Integer"} for each in named]
        assert put_catalogue(world, kind, named).status == 200
    user = users.User(ACCOUNT_ID, hostile, hostile, "", roles.Powers(), 0, None, None)
    player = replace(people.ANN, id=PLAYER_ID, user_id=ACCOUNT_ID, name=hostile, sprite=hostile, face=hostile)
    held = PlayerState(slots={(INVENTORY, 0): Stack(people.COIN.id, 1)}, spells={0: people.FIREBALL.id})
    world.make(UserRegistered(user), PlayerCreated(player, held))
    ban = {"reason": hostile, "moderator": hostile}
    assert world.post(f"/api/v1/users/{ACCOUNT_ID}/admin/ban", ban).status == 200
    assert heartbeat(world).status == join(world, PLAYER_ID).status == 200
    sent = {"itemid": people.COIN.id, "quantity": 1}
    world.post(f"/api/v1/players/{PLAYER_ID}/items/give", sent, headers={"X-Reason": hostile}).accepted()
    return world.ledger()[-1].seq


def find_in_harmless_page(path: str, html: str, hostile: str) -> bool:
    """Require that the value added no element and no attribute to a page; return whether the page shows it."""
    page = Page(html)
    for tag, attributes in page.tags:
        assert tag != "script" or attributes.get("src", "").startswith("/console/static/"), (path, attributes)
        assert attributes.get("src") != "x", (path, tag)
        assert not [name for name in attributes if name.startswith("on")], (path, tag, attributes)
        for name in ("src", "href", "action", "formaction"):
            assert not attributes.get(name, "").startswith("javascript:"), (path, tag)
    shown = " ".join(hostile.split())
    return shown in page.text or any(hostile in each for _, found in page.tags for each in found.values())
